/* cli.h - what the commands of `hologram` share: their table, messages, signals, numbers for
 * people.
 *
 * A command is one const hg_cli_command in its own file. Its option table drives parsing, --help,
 * completions and the man page, so they cannot disagree. */
#ifndef HG_CLI_CLI_H
#define HG_CLI_CLI_H

#include "io/file.h"

#include <stdio.h>

/* Exit codes, part of the interface. */
enum {
    HG_CLI_OK = 0,
    HG_CLI_FAULT = 1, /* the model or the input is at fault */
    HG_CLI_USAGE = 2  /* the command line is */
};

typedef enum hg_cli_kind {
    HG_CLI_FLAG,   /* bool */
    HG_CLI_TEXT,   /* const char * */
    HG_CLI_LIST,   /* hg_cli_list; may be given several times */
    HG_CLI_COUNT,  /* uint64_t */
    HG_CLI_SIZE,   /* uint64_t bytes: 512M, 2G */
    HG_CLI_NUMBER, /* double */
    HG_CLI_CHOICE  /* int: position in `value`, "fast|exact" */
} hg_cli_kind;

typedef struct hg_cli_list {
    const char **item;
    size_t count;
} hg_cli_list;

typedef struct hg_cli_option {
    const char *name; /* without dashes */
    char letter;      /* 0: none */
    hg_cli_kind kind;
    const char *value; /* how the value is written, NULL for a flag */
    const char *brief;
    size_t offset; /* of the field in the command's argument struct */
} hg_cli_option;

typedef struct hg_cli {
    bool quiet, verbose;
    bool color_out, color_err;
    const char **operand;
    size_t n_operand;
} hg_cli;

typedef struct hg_cli_command {
    const char *name;
    const char *operands; /* "FILE[:GRAPH]" */
    uint32_t least, most; /* operands */
    const char *brief;    /* one sentence */
    const char *details;  /* paragraphs, or NULL */
    const char *example;
    const char
        *files; /* endings that completion offers for operands, "holo onnx"; "/" for folders */
    const hg_cli_option *options; /* ends with {0} */
    size_t args_size;
    const void *defaults; /* NULL: zeros */
    int (*run)(const hg_cli *cli, const void *args);
} hg_cli_command;

/* All commands, in the order of the help; ends with NULL. In main.c. */
extern const hg_cli_command *const hg_cli_commands[];
/* Options that every command has; ends with {0}. */
extern const hg_cli_option hg_cli_common[];

/* ---- messages -------------------------------------------------------------------------------- */

/* "hologram: sentence" on stderr, control characters replaced; returns HG_CLI_FAULT. */
int hg_cli_error(const hg_cli *cli, const char *format, ...) HG_PRINTF(2, 3);
/* The same for what the library said; an interrupted call says so. */
int hg_cli_fail(const hg_cli *cli, const holo_error *error);
/* The same with a hint to --help; returns HG_CLI_USAGE. */
int hg_cli_usage(const hg_cli *cli, const char *command, const char *format, ...) HG_PRINTF(3, 4);
/* A line on stderr unless -q. */
void hg_cli_note(const hg_cli *cli, const char *format, ...) HG_PRINTF(2, 3);

/* Copies text without control characters: names come from files that may be hostile. Returns out.
 */
const char *hg_cli_clean(const char *text, char *out, size_t size);

/* What the compiler logs. Warnings wait until it has succeeded, as a failure says the same in its
 * one sentence; -v and --check show everything at once. */
typedef struct hg_cli_log {
    const hg_cli *cli;
    bool is_immediate;
    char held[4096];
    size_t used;
} hg_cli_log;

/* A holo_log_fn; user is the hg_cli_log. */
void hg_cli_log_add(void *user, holo_log_level level, const char *sentence);
void hg_cli_log_flush(hg_cli_log *log);

/* ---- interruption ---------------------------------------------------------------------------- */

void hg_cli_catch_signals(void);
/* The signal that arrived, or 0. Ctrl-C sets this; whoever loops looks at it and cleans up. */
int hg_cli_interrupted(void);
/* Ctrl-C also cancels this session's run; NULL: none. */
void hg_cli_watch(holo_session *session);

/* ---- progress bar on a terminal -------------------------------------------------------------- */

typedef struct hg_cli_progress {
    bool is_on;
    int shown; /* percent */
} hg_cli_progress;

hg_cli_progress hg_cli_progress_start(const hg_cli *cli);
/* A holo_progress_fn; user is the hg_cli_progress. Returns false after Ctrl-C. */
bool hg_cli_progress_step(void *user, const char *stage, uint64_t done, uint64_t total);
void hg_cli_progress_end(hg_cli_progress *progress);

/* ---- numbers --------------------------------------------------------------------------------- */

double hg_cli_now(void); /* seconds */
/* "512", "1.5G", "64M"; false when malformed. */
bool hg_cli_parse_size(const char *text, uint64_t *out);
/* "1.3 MB", in powers of 1000. Returns out. */
const char *hg_cli_size_text(uint64_t bytes, char *out, size_t size);
/* "23.1 us", "4.2 ms", "1.03 s". Returns out. */
const char *hg_cli_time_text(double seconds, char *out, size_t size);

/* The entry of a list nearest in spelling, or NULL when none is near. */
const char *hg_cli_nearest(const char *word, const char *const *list, size_t n);

#endif

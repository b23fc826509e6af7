/* verify.h - cases of the ONNX backend test layout: found, run in a process each, judged. */
#ifndef HG_CLI_VERIFY_H
#define HG_CLI_VERIFY_H

#include "cli/cli.h"

typedef struct hg_verify_options {
    uint32_t compile_flags, open_flags, session_flags;
    uint64_t threads, max_memory, max_seconds, jobs;
    bool skip_unsupported;
} hg_verify_options;

typedef enum hg_verify_outcome {
    HG_VERIFY_PASS,
    HG_VERIFY_FAIL,
    HG_VERIFY_SKIP,
    HG_VERIFY_RANDOM /* other values, drawn from the same distribution */
} hg_verify_outcome;

typedef struct hg_verify_case {
    char *name;    /* last part of its path */
    char *model;   /* path of the model */
    char *folder;  /* of test_data_set_*; NULL: the layout of light/ */
    char *outputs; /* light: "NAME_output_" beside the model, completed by 0.pb */
} hg_verify_case;

typedef struct hg_verify_cases {
    hg_verify_case *item;
    size_t count, capacity;
} hg_verify_cases;

/* Finds the cases below a folder, in the order of their names. Returns the exit code. */
int hg_verify_find(const hg_cli *cli, const char *folder, hg_verify_cases *cases);
void hg_verify_cases_free(hg_verify_cases *cases);

/* Runs one case in this process; `note` receives the reason, or a remark for a case that passes. */
hg_verify_outcome hg_verify_run_case(const hg_verify_case *c, const hg_verify_options *options,
                                     char *note, size_t size);

/* Two draws of the same distribution? `chances` (may be NULL), where it has the form of chances,
 * says how likely each element is 1. Otherwise `why` says what departs. */
bool hg_verify_same_distribution(const holo_tensor *actual, const holo_tensor *expected,
                                 const holo_tensor *chances, char *why, size_t size);

/* Calls done for every case, in order, each having run in a process of its own. */
typedef void (*hg_verify_done_fn)(void *user, const hg_verify_case *c, hg_verify_outcome outcome,
                                  const char *note, double seconds);
int hg_verify_run_all(const hg_cli *cli, const hg_verify_cases *cases,
                      const hg_verify_options *options, hg_verify_done_fn done, void *user);

#endif

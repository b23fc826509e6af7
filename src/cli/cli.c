/* cli.c - messages, interruption, progress and numbers for the commands. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- messages -------------------------------------------------------------------------------- */

const char *hg_cli_clean(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; text != NULL && text[n] != '\0' && n + 1 < size; n++)
        out[n] = (char)((unsigned char)text[n] < 0x20 || text[n] == 0x7f ? '?' : text[n]);
    out[n] = '\0';
    return out;
}

static void cli_say(const hg_cli *cli, const char *label, const char *color, const char *format,
                    va_list args)
{
    char raw[2048], text[2048];
    vsnprintf(raw, sizeof raw, format, args);
    bool colored = cli != NULL && cli->color_err;
    fflush(stdout);
    fprintf(stderr, "%s%s%s%s\n", colored ? color : "", label, colored ? "\033[0m" : "",
            hg_cli_clean(raw, text, sizeof text));
}

int hg_cli_error(const hg_cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_say(cli, "hologram: ", "\033[31m", format, args);
    va_end(args);
    return HG_CLI_FAULT;
}

int hg_cli_fail(const hg_cli *cli, const holo_error *error)
{
    if (hg_cli_interrupted() != 0) return hg_cli_error(cli, "interrupted");
    return hg_cli_error(
        cli, "%s", error->message[0] != '\0' ? error->message : holo_status_text(error->status));
}

int hg_cli_usage(const hg_cli *cli, const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_say(cli, "hologram: ", "\033[31m", format, args);
    va_end(args);
    fprintf(stderr, "hint: hologram %s%s--help\n", command, command[0] != '\0' ? " " : "");
    return HG_CLI_USAGE;
}

void hg_cli_note(const hg_cli *cli, const char *format, ...)
{
    if (cli->quiet) return;
    va_list args;
    va_start(args, format);
    cli_say(cli, "", "", format, args);
    va_end(args);
}

void hg_cli_log_add(void *user, holo_log_level level, const char *sentence)
{
    hg_cli_log *log = user;
    if (log->is_immediate || log->cli->verbose) {
        hg_cli_note(log->cli, "%s", sentence);
        return;
    }
    if (level != HOLO_LOG_WARNING) return;
    size_t room = sizeof log->held - log->used, n = strlen(sentence) + 1;
    if (n > room) return;
    memcpy(log->held + log->used, sentence, n);
    log->used += n;
}

void hg_cli_log_flush(hg_cli_log *log)
{
    for (size_t at = 0; at < log->used; at += strlen(log->held + at) + 1)
        hg_cli_note(log->cli, "%s", log->held + at);
    log->used = 0;
}

/* ---- interruption ---------------------------------------------------------------------------- */

static volatile sig_atomic_t cli_signal;
static holo_session *volatile cli_session;

/* The first signal asks for an orderly end, a second one (SA_RESETHAND) ends at once. Cancelling is
 * a single atomic store in the library, so it may be called here. */
static void cli_on_signal(int number)
{
    cli_signal = number;
    holo_session *session = cli_session;
    if (session != NULL) holo_session_cancel(session);
}

void hg_cli_catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = cli_on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < HG_COUNT(signals); i++) {
        struct sigaction before;
        /* What nohup or a script chose to ignore stays ignored. */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

int hg_cli_interrupted(void)
{
    return cli_signal;
}

void hg_cli_watch(holo_session *session)
{
    cli_session = session;
    /* A signal between two runs must stop the next one too. */
    if (session != NULL && cli_signal != 0) holo_session_cancel(session);
}

/* ---- progress -------------------------------------------------------------------------------- */

hg_cli_progress hg_cli_progress_start(const hg_cli *cli)
{
    const char *term = getenv("TERM");
    bool able = isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
    return (hg_cli_progress){.is_on = able && !cli->quiet, .shown = -1};
}

bool hg_cli_progress_step(void *user, const char *stage, uint64_t done, uint64_t total)
{
    enum { WIDTH = 30 };
    hg_cli_progress *p = user;
    char name[40];
    int percent = total == 0 ? 0 : (int)((double)done / (double)total * 100);
    if (percent > 100) percent = 100;
    if (p->is_on && percent != p->shown) {
        char bar[WIDTH + 1];
        for (int i = 0; i < WIDTH; i++)
            bar[i] = i * 100 < percent * WIDTH ? '#' : '.';
        bar[WIDTH] = '\0';
        fprintf(stderr, "\r\033[K[%s] %3d%% %s", bar, percent,
                hg_cli_clean(stage, name, sizeof name));
        fflush(stderr);
        p->shown = percent;
    }
    return hg_cli_interrupted() == 0;
}

void hg_cli_progress_end(hg_cli_progress *p)
{
    if (p->is_on && p->shown >= 0) fputs("\r\033[K", stderr);
    p->shown = -1;
}

/* ---- numbers --------------------------------------------------------------------------------- */

double hg_cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool hg_cli_parse_size(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno != 0 || !(value >= 0)) return false;
    const char *unit = *end != '\0' ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
    if (unit != NULL) {
        for (const char *p = units; p <= unit; p++)
            value *= 1024;
        end++;
        if (*end == 'i') end++;
    }
    if (*end == 'B' || *end == 'b') end++;
    if (*end != '\0' || value >= 9.2e18) return false;
    *out = (uint64_t)value;
    return true;
}

const char *hg_cli_size_text(uint64_t bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1000 && unit + 1 < HG_COUNT(units); unit++)
        value /= 1000;
    snprintf(out, size, unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
    return out;
}

const char *hg_cli_time_text(double seconds, char *out, size_t size)
{
    if (seconds < 1e-3)
        snprintf(out, size, "%.1f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(out, size, "%.3f ms", seconds * 1e3);
    else
        snprintf(out, size, "%.2f s", seconds);
    return out;
}

/* Edit distance with adjacent swaps left out; words are short. */
static size_t cli_distance(const char *a, const char *b)
{
    enum { MOST = 31 };
    size_t row[MOST + 1], n = strlen(b);
    if (n > MOST || strlen(a) > MOST) return MOST;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t least = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < least ? change : least;
        }
    }
    return row[n];
}

const char *hg_cli_nearest(const char *word, const char *const *list, size_t n)
{
    const char *best = NULL;
    size_t near = strlen(word) / 3 + 2; /* a third of the letters may differ */
    for (size_t i = 0; i < n; i++) {
        size_t distance = cli_distance(word, list[i]);
        if (distance < near) {
            near = distance;
            best = list[i];
        }
    }
    return best;
}

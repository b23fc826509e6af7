/* verify_pool.c - runs every case in a process of its own, some at a time.
 *
 * A crash, a hang or a hunger for memory is then the failure of one case, with a sentence. The
 * child sends one letter and its note through a pipe; results are reported in the order of the
 * cases. */
#include "cli/verify.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VERIFY_POOL_MAX = 64, VERIFY_POOL_NOTE = 700 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VERIFY_POOL_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VERIFY_POOL_SANITIZED true
#endif
#endif
#ifndef VERIFY_POOL_SANITIZED
#define VERIFY_POOL_SANITIZED false
#endif

typedef struct verify_result {
    bool done;
    hg_verify_outcome outcome;
    double seconds;
    char *note;
} verify_result;

typedef struct verify_job {
    pid_t pid; /* 0: free */
    int fd;
    size_t index;
    double start;
    bool expired;
    char text[VERIFY_POOL_NOTE + 2];
    size_t length;
} verify_job;

typedef struct verify_pool {
    const hg_cli *cli;
    const hg_verify_cases *cases;
    const hg_verify_options *options;
    verify_job job[VERIFY_POOL_MAX];
    size_t n_job, next, reported;
    verify_result *result;
} verify_pool;

/* The child: never returns. */
static void verify_pool_child(const verify_pool *p, size_t index, int fd)
{
    char text[VERIFY_POOL_NOTE + 1];
    struct rlimit none = {0, 0},
                  memory = {(rlim_t)p->options->max_memory, (rlim_t)p->options->max_memory};
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    /* A sanitizer reserves terabytes of address space for its shadow. */
    if (p->options->max_memory > 0 && !VERIFY_POOL_SANITIZED) setrlimit(RLIMIT_AS, &memory);
    hg_verify_outcome outcome =
        hg_verify_run_case(&p->cases->item[index], p->options, text + 1, sizeof text - 1);
    text[0] = "PFSR"[outcome];
    for (size_t at = 0, n = strlen(text); at < n;) {
        ssize_t written = write(fd, text + at, n - at);
        if (written <= 0) break;
        at += (size_t)written;
    }
    close(fd);
    exit(0); /* not _exit: a leak sanitizer reports at exit */
}

static bool verify_pool_start(verify_pool *p, verify_job *job)
{
    int ends[2];
    fflush(NULL); /* else the child would print it again */
    if (pipe(ends) != 0) return false;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        verify_pool_child(p, p->next, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *job = (verify_job){.pid = pid, .fd = ends[0], .index = p->next, .start = hg_cli_now()};
    p->next++;
    return true;
}

static void verify_pool_settle(verify_pool *p, verify_job *job)
{
    int status = 0;
    verify_result *r = &p->result[job->index];
    char text[VERIFY_POOL_NOTE + 2];
    while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(job->fd);
    job->text[job->length] = '\0';
    r->outcome = HG_VERIFY_FAIL;
    if (job->expired)
        snprintf(text, sizeof text, "ran longer than %llu s",
                 (unsigned long long)p->options->max_seconds);
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "crashed (signal %d)", WTERMSIG(status));
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || job->length == 0)
        snprintf(text, sizeof text, "ended with exit code %d", WEXITSTATUS(status));
    else {
        r->outcome = job->text[0] == 'P'   ? HG_VERIFY_PASS
                     : job->text[0] == 'S' ? HG_VERIFY_SKIP
                     : job->text[0] == 'R' ? HG_VERIFY_RANDOM
                                           : HG_VERIFY_FAIL;
        memcpy(text, job->text + 1, job->length);
    }
    r->note = strdup(text);
    r->seconds = hg_cli_now() - job->start;
    r->done = true;
    job->pid = 0;
}

/* Takes what a child sent; true at its end. */
static bool verify_pool_read(verify_job *job)
{
    char rest[256];
    size_t room = sizeof job->text - 1 - job->length;
    ssize_t n =
        read(job->fd, room > 0 ? job->text + job->length : rest, room > 0 ? room : sizeof rest);
    if (n < 0) return errno != EINTR && errno != EAGAIN;
    if (n > 0 && room > 0) job->length += (size_t)n;
    return n == 0;
}

static void verify_pool_kill_late(verify_pool *p)
{
    for (size_t i = 0; i < p->n_job; i++) {
        verify_job *job = &p->job[i];
        if (job->pid == 0 || hg_cli_now() - job->start < (double)p->options->max_seconds) continue;
        job->expired = true;
        kill(job->pid, SIGKILL);
    }
}

static void verify_pool_wait(verify_pool *p)
{
    struct pollfd poll_fd[VERIFY_POOL_MAX];
    verify_job *of[VERIFY_POOL_MAX];
    nfds_t n = 0;
    for (size_t i = 0; i < p->n_job; i++)
        if (p->job[i].pid != 0) {
            poll_fd[n] = (struct pollfd){.fd = p->job[i].fd, .events = POLLIN};
            of[n++] = &p->job[i];
        }
    if (poll(poll_fd, n, 200) > 0)
        for (nfds_t i = 0; i < n; i++)
            if (poll_fd[i].revents != 0 && verify_pool_read(of[i])) verify_pool_settle(p, of[i]);
    verify_pool_kill_late(p);
}

static void verify_pool_stop(verify_pool *p)
{
    for (size_t i = 0; i < p->n_job; i++)
        if (p->job[i].pid != 0) {
            kill(p->job[i].pid, SIGKILL);
            verify_pool_settle(p, &p->job[i]);
        }
}

static void verify_pool_report(verify_pool *p, hg_verify_done_fn done, void *user)
{
    for (; p->reported < p->cases->count && p->result[p->reported].done; p->reported++) {
        verify_result *r = &p->result[p->reported];
        done(user, &p->cases->item[p->reported], r->outcome, r->note != NULL ? r->note : "",
             r->seconds);
        free(r->note);
        r->note = NULL;
    }
}

int hg_verify_run_all(const hg_cli *cli, const hg_verify_cases *cases,
                      const hg_verify_options *options, hg_verify_done_fn done, void *user)
{
    verify_pool p = {.cli = cli, .cases = cases, .options = options};
    p.n_job = options->jobs < 1                 ? 1
              : options->jobs > VERIFY_POOL_MAX ? VERIFY_POOL_MAX
                                                : (size_t)options->jobs;
    p.result = calloc(cases->count + 1, sizeof *p.result);
    if (p.result == NULL) return hg_cli_error(cli, "out of memory");
    int code = HG_CLI_OK;
    while (p.reported < cases->count && code == HG_CLI_OK) {
        for (size_t i = 0; i < p.n_job && p.next < cases->count && code == HG_CLI_OK; i++)
            if (p.job[i].pid == 0 && !verify_pool_start(&p, &p.job[i]))
                code = hg_cli_error(cli, "cannot start a process: %s", strerror(errno));
        if (code == HG_CLI_OK) verify_pool_wait(&p);
        if (hg_cli_interrupted() != 0) code = hg_cli_error(cli, "interrupted");
        verify_pool_report(&p, done, user);
    }
    verify_pool_stop(&p);
    for (size_t i = 0; i < cases->count; i++)
        free(p.result[i].note);
    free(p.result);
    return code;
}

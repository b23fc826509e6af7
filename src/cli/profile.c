/* profile.c - time per step and per kernel, gathered by tracing runs. */
#include "cli/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool profile_reserve(hg_cli_profile *p, size_t count)
{
    if (count <= p->count) return true;
    size_t size = count > p->count * 2 ? count : p->count * 2;
    hg_cli_profile_entry *grown = realloc(p->entry, size * sizeof *grown);
    if (grown == NULL) return false;
    memset(grown + p->count, 0, (size - p->count) * sizeof *grown);
    p->entry = grown;
    p->count = size;
    return true;
}

void hg_cli_profile_trace(void *user, const holo_step_info *step)
{
    hg_cli_profile *p = user;
    if (!profile_reserve(p, (size_t)step->index + 1)) {
        p->failed = true;
        return;
    }
    hg_cli_profile_entry *e = &p->entry[step->index];
    /* The texts are borrowed for the call only. */
    if (e->kernel == NULL) {
        e->node = strdup(step->node != NULL ? step->node : "");
        e->kernel = strdup(step->kernel != NULL ? step->kernel : "");
        if (e->node == NULL || e->kernel == NULL) p->failed = true;
    }
    e->seconds += step->seconds;
    e->flops += step->flops;
    e->bytes += step->bytes;
    e->calls++;
}

static int profile_slower(const void *a, const void *b)
{
    const hg_cli_profile_entry *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* GFLOP/s where arithmetic is known and dominates, otherwise GB/s. */
static void profile_rate(const hg_cli_profile_entry *e, char *out, size_t size)
{
    if (e->seconds <= 0 || (e->flops <= 0 && e->bytes <= 0))
        snprintf(out, size, "-");
    else if (e->flops > 0 && e->flops >= e->bytes)
        snprintf(out, size, "%.1f GFLOP/s", e->flops / e->seconds * 1e-9);
    else
        snprintf(out, size, "%.1f GB/s", e->bytes / e->seconds * 1e-9);
}

static void profile_line(FILE *out, const hg_cli_profile_entry *e, double total, double runs,
                         const char *label)
{
    char time[32], rate[40], clean[200], kernel[100];
    profile_rate(e, rate, sizeof rate);
    fprintf(out, "%5.1f%%  %11s  %15s  %-24s %s\n", total > 0 ? e->seconds / total * 100 : 0,
            hg_cli_time_text(e->seconds / runs, time, sizeof time), rate,
            hg_cli_clean(e->kernel, kernel, sizeof kernel),
            hg_cli_clean(label, clean, sizeof clean));
}

/* Adds up the entries of one kernel after the other; `done` marks those that were taken. */
static void profile_kernels(FILE *out, const hg_cli_profile *p, size_t n, double total, double runs)
{
    hg_cli_profile_entry *sum = calloc(n + 1, sizeof *sum);
    size_t kinds = 0;
    if (sum == NULL) return;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kinds && strcmp(sum[k].kernel, p->entry[i].kernel) != 0)
            k++;
        if (k == kinds) sum[kinds++].kernel = p->entry[i].kernel;
        sum[k].seconds += p->entry[i].seconds;
        sum[k].flops += p->entry[i].flops;
        sum[k].bytes += p->entry[i].bytes;
        sum[k].calls++;
    }
    qsort(sum, kinds, sizeof *sum, profile_slower);
    fputs("\nby kernel\n", out);
    for (size_t k = 0; k < kinds; k++) {
        char label[40];
        snprintf(label, sizeof label, "%" PRIu64 " steps", sum[k].calls);
        profile_line(out, &sum[k], total, runs, label);
    }
    free(sum);
}

void hg_cli_profile_print(FILE *out, hg_cli_profile *p)
{
    double total = 0, runs = p->runs > 0 ? (double)p->runs : 1;
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++) { /* steps that never ran leave holes */
        if (p->entry[i].calls == 0 || p->entry[i].kernel == NULL || p->entry[i].node == NULL)
            continue;
        hg_cli_profile_entry swap = p->entry[n];
        p->entry[n++] = p->entry[i];
        if (n - 1 != i) p->entry[i] = swap;
        total += p->entry[n - 1].seconds;
    }
    qsort(p->entry, n, sizeof *p->entry, profile_slower);
    fputs(" share         time             rate  kernel                   node\n", out);
    for (size_t i = 0; i < n; i++)
        profile_line(out, &p->entry[i], total, runs, p->entry[i].node);
    profile_kernels(out, p, n, total, runs);
}

void hg_cli_profile_free(hg_cli_profile *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->entry[i].node);
        free(p->entry[i].kernel);
    }
    free(p->entry);
    *p = (hg_cli_profile){0};
}

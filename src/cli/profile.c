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

/* The least time that arithmetic and memory allow, against the time taken. Above 100 % data came
 * from a cache, or the kernel needs less arithmetic than the definition of the operator. */
static void profile_of_peak(const hg_cli_profile_entry *e, const hg_cli_peak *peak, char *out,
                            size_t size)
{
    const double compute = peak->flops > 0 ? e->flops / peak->flops : 0;
    const double memory = peak->bytes > 0 ? e->bytes / peak->bytes : 0;
    const double least = compute > memory ? compute : memory;
    if (e->seconds <= 0 || least <= 0)
        snprintf(out, size, "-");
    else
        snprintf(out, size, "%.0f%% %s", least / e->seconds * 100,
                 compute > memory ? "fma" : "mem");
}

typedef struct profile_page {
    FILE *out;
    const hg_cli_profile *profile;
    double total, runs;
} profile_page;

static void profile_line(const profile_page *page, const hg_cli_profile_entry *e, const char *label)
{
    char time[32], rate[40], of_peak[40], clean[200], kernel[100];
    profile_rate(e, rate, sizeof rate);
    profile_of_peak(e, &page->profile->peak, of_peak, sizeof of_peak);
    fprintf(page->out, "%5.1f%%  %11s  %15s  %9s  %-24s %s\n",
            page->total > 0 ? e->seconds / page->total * 100 : 0,
            hg_cli_time_text(e->seconds / page->runs, time, sizeof time), rate, of_peak,
            hg_cli_clean(e->kernel, kernel, sizeof kernel),
            hg_cli_clean(label, clean, sizeof clean));
}

/* Adds up the entries of one kernel after the other; `done` marks those that were taken. */
static void profile_kernels(const profile_page *page, size_t n)
{
    const hg_cli_profile *p = page->profile;
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
    fputs("\nby kernel\n", page->out);
    for (size_t k = 0; k < kinds; k++) {
        char label[40];
        snprintf(label, sizeof label, "%" PRIu64 " steps", sum[k].calls);
        profile_line(page, &sum[k], label);
    }
    free(sum);
}

void hg_cli_profile_print(FILE *out, hg_cli_profile *p)
{
    profile_page page = {out, p, 0, p->runs > 0 ? (double)p->runs : 1};
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++) { /* steps that never ran leave holes */
        if (p->entry[i].calls == 0 || p->entry[i].kernel == NULL || p->entry[i].node == NULL)
            continue;
        hg_cli_profile_entry swap = p->entry[n];
        p->entry[n++] = p->entry[i];
        if (n - 1 != i) p->entry[i] = swap;
        page.total += p->entry[n - 1].seconds;
    }
    qsort(p->entry, n, sizeof *p->entry, profile_slower);
    fprintf(out, "peak      %.1f GFLOP/s, %.1f GB/s\n", p->peak.flops * 1e-9, p->peak.bytes * 1e-9);
    fputs(" share         time             rate    of peak  kernel                   node\n", out);
    for (size_t i = 0; i < n; i++)
        profile_line(&page, &p->entry[i], p->entry[i].node);
    profile_kernels(&page, n);
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

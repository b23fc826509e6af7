/* main.c - text2image: a picture from a sentence, with three models that Hologram compiled. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "asset.h"
#include "clock.h"
#include "fail.h"
#include "image.h"
#include "locate.h"
#include "noise.h"
#include "options.h"
#include "pipeline.h"
#include "progress.h"
#include "reference.h"
#include "scheduler.h"
#include "tokenizer.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAIN_EXIT_FAULT = 1, MAIN_EXIT_USAGE = 2, MAIN_EXIT_SIGNAL = 128, MAIN_MAX_THREADS = 8 };

/* The signal that asked to stop, or 0; looked at after each step. */
static volatile sig_atomic_t main_signal;

typedef struct demo {
    options asked;
    char *models;
    char *assets;
    tokenizer *t;
    scheduler *s;
    pipeline *p;
    int64_t *ids; /* [2, tokens]: the empty prompt, the prompt */
    float *x;
    image canvas;
    progress bar;
    int64_t steps_before; /* of the pictures that are done */
    double text_seconds;
    double unet_seconds;
    double decoder_seconds;
} demo;

static void main_on_signal(int number)
{
    main_signal = number;
}

static void main_catch_signals(void)
{
    struct sigaction action = {.sa_handler = main_on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

static bool main_on_step(void *user, int32_t done, int32_t steps)
{
    const demo *d = user;
    (void)steps;
    progress_show(&d->bar, d->steps_before + done);
    return main_signal == 0;
}

static uint32_t main_threads(const options *asked)
{
    if (asked->threads > 0) return (uint32_t)asked->threads;
    const intmax_t online = sysconf(_SC_NPROCESSORS_ONLN);
    if (online < 1) return 1;
    return online < MAIN_MAX_THREADS ? (uint32_t)online : MAIN_MAX_THREADS;
}

static holo_status main_find(demo *d, const char *argv0, holo_error *error)
{
    d->models = d->asked.models != NULL ? asset_path(d->asked.models, "")
                                        : locate_folder(argv0, "demo", "unet.holo", "build/demo");
    d->assets = d->asked.assets != NULL
                    ? asset_path(d->asked.assets, "")
                    : locate_folder(argv0, "examples/text2image/models", "tokenizer.json",
                                    "examples/text2image/models");
    if (d->models == NULL || d->assets == NULL)
        return fail(error, HOLO_E_NOMEM, "no memory for a path");
    return HOLO_OK;
}

static holo_status main_load_assets(demo *d, holo_error *error)
{
    char *words = asset_path(d->assets, "tokenizer.json");
    char *numbers = asset_path(d->assets, "scheduler.json");
    holo_status status = HOLO_OK;
    if (words == NULL || numbers == NULL)
        status = fail(error, HOLO_E_NOMEM, "no memory for a path");
    if (status == HOLO_OK) status = tokenizer_new(words, &d->t, error);
    if (status == HOLO_OK) status = scheduler_new(numbers, &d->s, error);
    if (status == HOLO_OK && tokenizer_length(d->t) != d->s->tokens)
        status =
            fail(error, HOLO_E_MODEL, "%s and %s disagree on the number of tokens", words, numbers);
    free(words);
    free(numbers);
    return status;
}

static holo_status main_tokenise(demo *d, holo_error *error)
{
    const size_t tokens = (size_t)d->s->tokens;
    d->ids = calloc(2 * tokens, sizeof *d->ids);
    if (d->ids == NULL) return fail(error, HOLO_E_NOMEM, "no memory for the prompt");
    const holo_status status = tokenizer_encode(d->t, "", d->ids, error);
    if (status != HOLO_OK) return status;
    return tokenizer_encode(d->t, d->asked.prompt, d->ids + tokens, error);
}

static holo_status main_open(demo *d, holo_error *error)
{
    const uint32_t threads = main_threads(&d->asked);
    const holo_status status = pipeline_new(d->models, d->s, threads, &d->p, error);
    if (status != HOLO_OK) return status;
    const pipeline_times times = pipeline_get_times(d->p);
    char text[CLOCK_TEXT_BYTES];
    double sum = 0;
    for (size_t i = 0; i < PIPELINE_STAGES; i++)
        sum += times.open[i];
    printf("open      %.0f us:", sum * 1e6);
    for (size_t i = 0; i < PIPELINE_STAGES; i++)
        printf("%s %s %.0f us", i == 0 ? "" : ",", pipeline_stage_name(i), times.open[i] * 1e6);
    printf("\nprepare   %s, %" PRIu32 " thread%s\n", clock_text(times.prepare, text), threads,
           threads == 1 ? "" : "s");
    fflush(stdout);
    return HOLO_OK;
}

/* One picture on the canvas, at position `index` of the grid. */
static holo_status main_draw_one(demo *d, int32_t index, holo_error *error)
{
    const uint32_t size = (uint32_t)d->s->image_size;
    const float *picture;
    noise_fill(d->asked.seed + (uint64_t)index, d->x, scheduler_latents(d->s));
    double start = clock_seconds();
    holo_status status =
        pipeline_denoise(d->p, d->asked.steps, d->asked.guidance, d->x, main_on_step, d, error);
    if (status != HOLO_OK) return status;
    d->unet_seconds += clock_seconds() - start;
    start = clock_seconds();
    status = pipeline_decode(d->p, d->x, &picture, error);
    if (status != HOLO_OK) return status;
    d->decoder_seconds += clock_seconds() - start;
    image_put(&d->canvas, picture, size, (uint32_t)(index % d->asked.grid) * size,
              (uint32_t)(index / d->asked.grid) * size);
    d->steps_before += d->asked.steps;
    return HOLO_OK;
}

static holo_status main_save(const demo *d, holo_error *error)
{
    const image_note notes[] = {
        {"Description", d->asked.prompt},
        {"Software", "Hologram " HOLO_VERSION_TEXT},
        {"Copyright",
         "Contains graphics derived from Twemoji, Copyright Twitter, Inc and other contributors, "
         "CC-BY 4.0, https://creativecommons.org/licenses/by/4.0/; from Noto Emoji, Google, "
         "Apache-2.0; and from Fluent Emoji, Microsoft, MIT."},
    };
    if (main_signal != 0) return fail(error, HOLO_E_CANCELLED, "stopped");
    return image_write(&d->canvas, d->asked.output, notes, sizeof notes / sizeof notes[0], error);
}

static void main_report(const demo *d)
{
    const int64_t runs = (int64_t)d->asked.grid * d->asked.grid * d->asked.steps;
    char total[CLOCK_TEXT_BYTES];
    char each[CLOCK_TEXT_BYTES];
    printf("text      %s\n", clock_text(d->text_seconds, total));
    printf("unet      %s, %" PRId64 " steps of %s\n", clock_text(d->unet_seconds, total), runs,
           clock_text(d->unet_seconds / (double)runs, each));
    printf("decoder   %s\n", clock_text(d->decoder_seconds, total));
    printf("%s  %" PRIu32 " x %" PRIu32 ", \"%s\", seed %" PRIu64, d->asked.output, d->canvas.width,
           d->canvas.height, d->asked.prompt, d->asked.seed);
    if (d->asked.grid > 1)
        printf(" to %" PRIu64, d->asked.seed + (uint64_t)(d->asked.grid * d->asked.grid - 1));
    printf(", guidance %g\n", d->asked.guidance);
}

static holo_status main_draw(demo *d, holo_error *error)
{
    const int32_t pictures = d->asked.grid * d->asked.grid;
    const uint32_t side = (uint32_t)(d->s->image_size * d->asked.grid);
    const float *embeddings;
    holo_status status = main_tokenise(d, error);
    if (status == HOLO_OK) status = image_check_path(d->asked.output, error);
    if (status == HOLO_OK) status = image_init(&d->canvas, side, side, error);
    if (status == HOLO_OK) status = main_open(d, error);
    if (status != HOLO_OK) return status;
    d->x = malloc(scheduler_latents(d->s) * sizeof *d->x);
    if (d->x == NULL) return fail(error, HOLO_E_NOMEM, "no memory for the latents");

    const double start = clock_seconds();
    status = pipeline_encode(d->p, d->ids, d->ids + d->s->tokens, &embeddings, error);
    d->text_seconds = clock_seconds() - start;
    d->bar = progress_start((int64_t)pictures * d->asked.steps);
    progress_show(&d->bar, 0);
    for (int32_t i = 0; status == HOLO_OK && i < pictures; i++)
        status = main_draw_one(d, i, error);
    progress_end(&d->bar);
    if (status == HOLO_OK) status = main_save(d, error);
    if (status == HOLO_OK) main_report(d);
    return status;
}

static holo_status main_compare(demo *d, holo_error *error)
{
    const holo_status status = main_open(d, error);
    if (status != HOLO_OK) return status;
    return reference_check(d->asked.reference, d->t, d->s, d->p, main_on_step, d, error);
}

static holo_status main_run(demo *d, const char *argv0, holo_error *error)
{
    holo_status status = main_find(d, argv0, error);
    if (status == HOLO_OK) status = main_load_assets(d, error);
    if (status != HOLO_OK) return status;
    if (d->asked.steps == 0) d->asked.steps = d->s->default_steps;
    if (d->asked.guidance < 0) d->asked.guidance = d->s->default_guidance;
    return d->asked.reference != NULL ? main_compare(d, error) : main_draw(d, error);
}

static void main_clean_up(demo *d)
{
    pipeline_free(d->p);
    scheduler_free(d->s);
    tokenizer_free(d->t);
    image_deinit(&d->canvas);
    free(d->models);
    free(d->assets);
    free(d->ids);
    free(d->x);
}

int main(int argc, char **argv)
{
    demo d = {0};
    char why[512];
    if (!options_parse(argc, argv, &d.asked, why, sizeof why)) {
        fprintf(stderr, "text2image: %s (text2image --help shows how).\n", why);
        return MAIN_EXIT_USAGE;
    }
    if (d.asked.help) {
        options_print_help(stdout);
        return EXIT_SUCCESS;
    }
    main_catch_signals();
    holo_error error = {0};
    const holo_status status = main_run(&d, argv[0], &error);
    main_clean_up(&d);
    if (status == HOLO_OK && fflush(stdout) == 0) return EXIT_SUCCESS;
    if (status == HOLO_OK) fail(&error, HOLO_E_IO, "cannot write to standard output");
    fprintf(stderr, "text2image: %s\n", error.message);
    return main_signal != 0 ? MAIN_EXIT_SIGNAL + main_signal : MAIN_EXIT_FAULT;
}

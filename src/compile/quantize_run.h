/* quantize_run.h - what quantised compiles know while they measure. */
#ifndef HG_COMPILE_QUANTIZE_RUN_H
#define HG_COMPILE_QUANTIZE_RUN_H

#include "compile/compile.h"
#include "compile/sample.h"
#include "pass/quantize.h"

typedef struct hg_quantize_difference {
    double sum, max, squares, size; /* of |difference|, differences squared, results squared */
    uint64_t count;
    bool is_measured;
} hg_quantize_difference;

/* How finely layers are computed: codes of 8 bits, inputs of 16, floats. */
enum { HG_QUANTIZE_CODES, HG_QUANTIZE_DIGITS, HG_QUANTIZE_FLOATS, HG_QUANTIZE_LEVELS };

/* Layers that are chosen together: a convolution, or the products of one activation. */
typedef struct hg_quantize_team {
    uint32_t first; /* layer */
    int level;
    double work;
    /* Squared relative error of the outputs when it alone is quantised; NAN: no such level. */
    double noise[HG_QUANTIZE_LEVELS];
} hg_quantize_team;

struct hg_quantize_run {
    hg_quantize q;
    uint32_t n_output;              /* of the model itself */
    hg_quantize_difference *layer;  /* per layer */
    hg_quantize_difference *output; /* per output */
    double *top;                    /* per output: relative, of its largest numbers */
    double *expected;               /* the same as all large numbers let expect it */
    double *work;                   /* per layer, in multiply-adds */
    const char **name;              /* of outputs */
    bool *keep;                     /* layers that stay as they are */
    uint8_t *digits;                /* per activation */
    bool at_any_cost;               /* the error counts, whatever stays float */
    uint32_t n_kept;
    uint32_t models; /* compiled beside the one that is made */
    hg_quantize_team *group;
    uint32_t n_group;
};

/* Adds what one pair of results says. */
void hg_quantize_compare(hg_quantize_difference *e, const holo_tensor *a, const holo_tensor *b);
/* The same model with q, to be run. */
HG_MUST_CHECK holo_status hg_quantize_sampler(hg_compile *c, hg_quantize *q, hg_sampler *out);
/* Runs sample k, unless who asked wants to stop. */
HG_MUST_CHECK holo_status hg_quantize_sample(hg_compile *c, hg_sampler *s, size_t k);
/* A sample of random numbers that the model takes; *found: there is one (quantize_random.c). */
HG_MUST_CHECK holo_status hg_quantize_random(hg_compile *c, const struct hg_quantize_run *r,
                                             hg_sampler *s, holo_sample *out, bool *found);
/* Sample k is not calibrated with: errors are measured on such alone, where there are enough. */
bool hg_quantize_is_held(const holo_compile_options *o, size_t k);
/* Finds products of channels, with which weights are rounded from now on. */
HG_MUST_CHECK holo_status hg_quantize_squares(hg_compile *c, struct hg_quantize_run *r);
/* The error that is allowed, and the one to be expected of the worst output. */
double hg_quantize_goal(const hg_compile *c);
double hg_quantize_worst(const struct hg_quantize_run *r);
/* Most of the work is in products, which have finer levels than floats and other ways to round. */
bool hg_quantize_is_of_products(const struct hg_quantize_run *r);
/* All layers are quantised again, and their shares unknown. */
void hg_quantize_keep_none(struct hg_quantize_run *r);
/* When the outputs are further off than options->max_error: more layers are computed more finely.
 * *more: there were some to add. */
HG_MUST_CHECK holo_status hg_quantize_keep(hg_compile *c, struct hg_quantize_run *r,
                                           hg_sampler *plain, bool *more);

#endif

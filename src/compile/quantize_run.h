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

struct hg_quantize_run {
    hg_quantize q;
    uint32_t n_output;              /* of the model itself */
    hg_quantize_difference *layer;  /* per layer */
    hg_quantize_difference *output; /* per output */
    double *top;                    /* per output: relative, of its largest numbers */
    double *work;                   /* per layer, in multiply-adds */
    const char **name;              /* of outputs */
    bool *keep;                     /* layers that stay as they are */
    uint32_t n_kept;
    double *noise; /* per layer: squared relative error of the outputs when it alone is quantised */
};

/* Adds what one pair of results says. */
void hg_quantize_compare(hg_quantize_difference *e, const holo_tensor *a, const holo_tensor *b);
/* The same model with q, to be run. */
HG_MUST_CHECK holo_status hg_quantize_sampler(hg_compile *c, hg_quantize *q, hg_sampler *out);
/* When the outputs are further off than options->max_error: adds layers to those that are kept.
 * *more: there were some to add. */
HG_MUST_CHECK holo_status hg_quantize_keep(hg_compile *c, struct hg_quantize_run *r,
                                           hg_sampler *plain, bool *more);

#endif

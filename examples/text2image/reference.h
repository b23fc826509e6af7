/* reference.h - compares every stage with numbers that another implementation gave. */
#ifndef TEXT2IMAGE_REFERENCE_H
#define TEXT2IMAGE_REFERENCE_H

#include "pipeline.h"
#include "tokenizer.h"

/* Prints one line for each figure. HOLO_E_DATA when one is out of bounds. keep_going is asked after
 * each step of the U-Net. */
holo_status reference_check(const char *folder, const tokenizer *t, const scheduler *s, pipeline *p,
                            pipeline_step_fn keep_going, void *user, holo_error *error);

#endif

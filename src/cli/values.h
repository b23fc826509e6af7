/* values.h - tensors for people: one-line summaries, differences, files of outputs. */
#ifndef HG_CLI_VALUES_H
#define HG_CLI_VALUES_H

#include "cli/cli.h"

/* Prints name, type, shape, min, max and mean; containers one line an item. */
void hg_cli_print_value(FILE *out, const char *name, const holo_tensor *tensor);

/* Writes a value as FOLDER/PREFIX_<clean name>.npy, a sequence as one file an item; folder "-" is
 * standard output. Types that NumPy lacks are noted on stderr. Returns the exit code. */
int hg_cli_write_value(const hg_cli *cli, const char *folder, const char *prefix, const char *name,
                       const holo_tensor *tensor);

typedef struct hg_cli_tolerance {
    double rtol, atol; /* |actual - expected| <= atol + rtol * |expected| */
    bool only_shape;   /* compare types and shapes, not values */
    bool same_bits;    /* numbers must have the same bits, whatever the tolerance */
} hg_cli_tolerance;

/* True when two values agree: type and shape always, integers, bool and text exactly, floats within
 * the tolerance; NaN equals NaN and an infinity itself. Otherwise `why` says where they depart. */
bool hg_cli_values_agree(const holo_tensor *actual, const holo_tensor *expected,
                         const hg_cli_tolerance *tolerance, char *why, size_t size);

typedef struct hg_cli_difference {
    bool same_form;  /* type and shape agree */
    double largest;  /* |a - b| at its largest; infinite when one is NaN and the other not */
    double scale;    /* the largest finite |a| */
    double relative; /* largest / scale, or largest where scale is 0 */
} hg_cli_difference;

/* How far b is from a. Containers: the worst of their items. */
hg_cli_difference hg_cli_values_differ(const holo_tensor *a, const holo_tensor *b);

#endif

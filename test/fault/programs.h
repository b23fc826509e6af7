/* programs.h - small programs as bases for damage: together they call every kernel there is. */
#ifndef HG_TEST_FAULT_PROGRAMS_H
#define HG_TEST_FAULT_PROGRAMS_H

#include "hologram.h"

#include <stddef.h>

/* Text forms of graphs; NULL at the end. */
extern const char *const fault_graphs[];

/* Compiles a text form; the bytes are owned by the caller (holo_buffer_free). */
holo_status fault_compile(const char *text, const holo_compile_options *options, void **data,
                          size_t *size, holo_error *error);

typedef struct fault_program {
    void *data;
    size_t size;
    const char *text;
} fault_program;

enum { FAULT_PROGRAMS = 256 };

/* Each graph as it is and optimised; a graph that does not compile fails the case. */
size_t fault_compile_all(fault_program program[FAULT_PROGRAMS]);
void fault_free_all(fault_program *program, size_t count);

#endif

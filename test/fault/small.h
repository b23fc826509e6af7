/* small.h - one small model for the tests that damage containers, memory and files. */
#ifndef HG_TEST_FAULT_SMALL_H
#define HG_TEST_FAULT_SMALL_H

#include "fault/fault.h"
#include "fault/programs.h"
#include "isa/program.h"
#include "test.h"

#include <stdio.h>

/* y = relu(x @ w + b) of x [n,3], with metadata, symbols, lane code and weights. */
#define FAULT_SMALL                                                                                \
    "meta \"author\" = \"nobody\"\n"                                                               \
    "graph small(%x: float32[n,3]) { %w = const float32[3,2] {1.0,2.0,3.0,4.0,5.0,6.0}"            \
    " %b = const float32[2] {-10.0,1.0} %a = MatMul(%x, %w) %c = Add(%a, %b) %y = Relu(%c)"        \
    " return %y as \"y\" }"

/* The same with a result whose size data decide. */
#define FAULT_LATE                                                                                 \
    "graph late(%x: float32[n,3]) { %a = NonZero(%x) %b = Transpose(%a) %c = Cast(%b) {to=1}"      \
    " return %c as \"c\" }"

typedef struct fault_bytes {
    uint8_t *data; /* aligned; owned */
    size_t size;
} fault_bytes;

static inline fault_bytes fault_holo(const char *text)
{
    fault_bytes b = {0};
    void *data = NULL;
    holo_error e = {0};
    if (!CHECK_OK(fault_compile(text, NULL, &data, &b.size, &e), &e)) abort();
    b.data = fault_copy(data, b.size);
    holo_buffer_free(NULL, data, b.size);
    return b;
}

static inline hg_holo_section *fault_section(fault_bytes b, hg_section_kind kind)
{
    uint32_t count = 0;
    hg_holo_section *table = fault_sections(b.data, b.size, &count);
    for (uint32_t i = 0; i < count; i++)
        if (table[i].kind == (uint32_t)kind) return &table[i];
    abort();
}

static inline hg_program fault_program_of(fault_bytes b)
{
    hg_program p;
    const hg_holo_section *s = fault_section(b, HG_SECTION_PROGRAM);
    if (hg_program_view(b.data + s->offset, (size_t)s->size, &p, NULL) != HOLO_OK) abort();
    return p;
}

/* Writes a file of these bytes. */
static inline void fault_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return;
    CHECK(size == 0 || fwrite(data, 1, size, file) == size);
    CHECK_EQ_INT(fclose(file), 0);
}

/* What `hologram prove` says of a file whose hashes are right again: only the proof can tell. */
static inline holo_prove_report fault_prove(fault_bytes b)
{
    holo_prove_report report = {0};
    holo_error e = {0};
    const char *path = hg_test_temp("model.holo");
    fault_seal(b.data, b.size);
    fault_write(path, b.data, b.size);
    CHECK_OK(holo_prove_file(path, NULL, NULL, &report, &e), &e);
    return report;
}

#endif

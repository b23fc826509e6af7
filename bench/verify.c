/* verify.c - what checking programs costs, apart from the rest of opening.
 *
 *     verify FILE.holo    prints steps, and best and median microseconds of ROUNDS */
#include "archive/holo.h"
#include "isa/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 201 };

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) return NULL;
    long length = ftell(file);
    uint8_t *data = length <= 0 ? NULL : aligned_alloc(64, ((size_t)length + 63) / 64 * 64);
    rewind(file);
    *size = (size_t)length;
    if (data != NULL && fread(data, 1, *size, file) != *size) data = NULL;
    fclose(file);
    return data;
}

int main(int argc, char **argv)
{
    size_t size = 0;
    uint8_t *data = argc == 2 ? read_file(argv[1], &size) : NULL;
    if (data == NULL) return 2;
    const hg_holo_head *head = (const hg_holo_head *)(const void *)data;
    const hg_holo_section *table = (const hg_holo_section *)(const void *)(data + sizeof *head);
    static double us[ROUNDS];
    uint64_t weights = 0;
    uint32_t steps = 0;
    for (uint32_t i = 0; i < head->n_section; i++)
        if (table[i].kind == HG_SECTION_WEIGHTS) weights = table[i].size;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_us();
        steps = 0;
        for (uint32_t i = 0; i < head->n_section; i++) {
            hg_program p;
            holo_error e;
            if (table[i].kind != HG_SECTION_PROGRAM) continue;
            if (hg_program_view(data + table[i].offset, (size_t)table[i].size, &p, &e) != HOLO_OK ||
                hg_program_verify(&p, weights, &e) != HOLO_OK)
                return 1;
            steps += p.head.n_step;
        }
        us[round] = now_us() - start;
    }
    qsort(us, ROUNDS, sizeof us[0], compare);
    printf("%u %.2f %.2f\n", steps, us[0], us[ROUNDS / 2]);
    free(data);
    return 0;
}

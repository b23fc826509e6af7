/* tables.c - the kernels "table" and "byteops" on one core: codes that lie in L1 and codes that
 * stream from memory, every number of entries, width and layout, and programs of one to six
 * operations, against copying and one code at a time. Prints a JSON array; bench/tables.py makes
 * the table of it.
 *
 * The ways that lost are here too, so that the choice can be measured again on another machine. */
#include "op/bench.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/cpu.h"
#include "base/half.h"
#include "kernel/byteops.h"
#include "kernel/table.h"

extern const hg_kernel hg_kernels_table[], hg_kernels_byteops[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_table_avx2[], hg_kernels_table_avx512[];
extern const hg_kernel hg_kernels_byteops_avx2[], hg_kernels_byteops_avx512[];
#endif

enum { IN_L1 = 12288, IN_MEMORY = 48 << 20, ROUNDS = 9 };

typedef struct bench_case {
    const char *name;
    holo_dtype codes, entry;
    int64_t entries, channels; /* channels in turn, as in pixels; -3: three planes */
    bool classes;
} bench_case;

static const bench_case cases[] = {
    {"256 entries", HOLO_U8, HOLO_U8, 256, 1, false},
    {"250 entries, checked", HOLO_U8, HOLO_U8, 250, 1, false},
    {"128 entries", HOLO_U8, HOLO_U8, 128, 1, false},
    {"96 entries", HOLO_U8, HOLO_U8, 96, 1, false},
    {"64 entries", HOLO_U8, HOLO_U8, 64, 1, false},
    {"32 entries", HOLO_U8, HOLO_U8, 32, 1, false},
    {"16 entries", HOLO_U8, HOLO_U8, 16, 1, false},
    {"96 classes", HOLO_U8, HOLO_U8, 96, 1, true},
    {"256 entries, RGB in turn", HOLO_U8, HOLO_U8, 256, 3, false},
    {"256 entries, RGB planes", HOLO_U8, HOLO_U8, 256, -3, false},
    {"256 entries of 2 bytes", HOLO_U8, HOLO_F16, 256, 1, false},
    {"256 entries of 4 bytes", HOLO_U8, HOLO_F32, 256, 1, false},
    {"128 entries of 2 bytes", HOLO_U8, HOLO_F16, 128, 1, false},
    {"128 entries of 4 bytes", HOLO_U8, HOLO_F32, 128, 1, false},
    {"16 entries of 4 bytes", HOLO_U8, HOLO_F32, 16, 1, false},
    {"4-bit codes to bytes", HOLO_U4, HOLO_U8, 16, 1, false},
    {"4-bit codes to floats", HOLO_U4, HOLO_F32, 16, 1, false},
    {"65,536 entries of 1 byte", HOLO_F16, HOLO_U8, 65536, 1, false},
    {"65,536 entries of 2 bytes", HOLO_F16, HOLO_F16, 65536, 1, false},
    {"65,536 entries of 4 bytes", HOLO_F16, HOLO_F32, 65536, 1, false},
};

/* Programs as the search finds them; a nibble takes six instructions. */
typedef struct bench_program {
    const char *name;
    int64_t entries;
    hg_byteops program;
} bench_program;

static const bench_program programs[] = {
    {"program, 1 operation", 256, {.n = 1, .op = {HG_BYTE_MAX_I8}}},
    {"program, 2 operations",
     256,
     {.n = 2, .op = {HG_BYTE_MAX_U8, HG_BYTE_MIN_U8}, .arg = {9, 99}}},
    {"program, 2 operations, checked",
     250,
     {.n = 2, .op = {HG_BYTE_MAX_U8, HG_BYTE_MIN_U8}, .arg = {9, 99}}},
    {"program, clamp and 16 entries",
     256,
     {.n = 3,
      .n_list = 1,
      .op = {HG_BYTE_MIN_U8, HG_BYTE_SUB_U8, HG_BYTE_LOOK},
      .arg = {97, 82, 0}}},
    {"program, 4 operations",
     256,
     {.n = 4,
      .op = {HG_BYTE_ADD, HG_BYTE_ABS_I8, HG_BYTE_ADD, HG_BYTE_ABS_I8},
      .arg = {192, 0, 192, 0}}},
    {"program, 6 operations",
     256,
     {.n = 6,
      .op = {HG_BYTE_MIN_U8, HG_BYTE_ADD, HG_BYTE_ABS_I8, HG_BYTE_XOR, HG_BYTE_SUB_U8,
             HG_BYTE_ADD | HG_BYTE_CODE},
      .arg = {200, 192, 0, 77, 5, 0}}},
    {"program, nibbles", 256, {.n = 1, .n_list = 2, .op = {HG_BYTE_NIBBLES_XOR}}},
};

typedef struct variant {
    const char *name;
    const hg_kernel *table, *byteops;
} variant;

static const variant variants[] = {
    {"reference", hg_kernels_table, hg_kernels_byteops},
#if defined(__x86_64__)
    {"avx2", hg_kernels_table_avx2, hg_kernels_byteops_avx2},
    {"avx512", hg_kernels_table_avx512, hg_kernels_byteops_avx512},
#endif
};

/* Seconds of `turns` calls, the least and the median of ROUNDS. */
typedef struct timing {
    double least, median;
} timing;

static void timing_print(const char *variant, const char *name, const char *where, timing t,
                         int64_t codes, int64_t bytes)
{
    static bool more;
    printf("%s\n{\"variant\": \"%s\", \"name\": \"%s\", \"where\": \"%s\", \"codes\": %lld, "
           "\"ns\": %.1f, \"median_ns\": %.1f, \"gcodes\": %.2f, \"median_gcodes\": %.2f, "
           "\"gbytes\": %.2f}",
           more ? "," : "", variant, name, where, (long long)codes, t.least * 1e9, t.median * 1e9,
           (double)codes / t.least / 1e9, (double)codes / t.median / 1e9,
           (double)bytes / t.least / 1e9);
    more = true;
    fflush(stdout);
}

static timing timing_of(double *taken)
{
    qsort(taken, ROUNDS, sizeof taken[0], bench_compare);
    return (timing){taken[0], taken[ROUNDS / 2]};
}

static int turns_of(int64_t codes)
{
    return codes > 1 << 20 ? 1 : 200;
}

/* ---- the kernels ------------------------------------------------------------------------- */

/* Moves a tensor so that it starts half a page from `other`: loads that follow a store 4096 bytes
 * away wait for it, and where memory comes to lie would decide the result. */
static void *bench_apart(holo_tensor *t, const void *other)
{
    const size_t bytes = holo_tensor_bytes(t);
    free(t->data);
    uint8_t *room = bench_alloc(bytes + 8192);
    t->data = room + (((uintptr_t)other + 2048 - (uintptr_t)room) & 4095);
    return room;
}

static void fill(holo_tensor *codes, int64_t entries)
{
    uint32_t seed = 1;
    const size_t bytes = holo_tensor_bytes(codes);
    uint8_t *x = codes->data;
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = (uint8_t)(entries >= 256 || codes->dtype == HOLO_U4 ? seed >> 16
                                                                   : (seed >> 8) % entries);
    }
}

/* All variants in turn, ROUNDS times. */
static void run_variants(const hg_args *a, const char *name, const char *where, bool is_program)
{
    static double taken[HG_COUNT(variants)][ROUNDS];
    const int64_t codes = holo_tensor_count(&a->in[0]);
    for (int r = 0; r < ROUNDS; r++)
        for (size_t v = 0; v < HG_COUNT(variants); v++) {
            const hg_kernel *k = is_program ? variants[v].byteops : variants[v].table;
            if ((k->cpu & ~hg_cpu_features()) != 0) continue;
            const hg_range all = {0, hg_kernel_work(k, a).units, NULL};
            const double start = bench_now();
            for (int t = 0; t < turns_of(codes); t++)
                k->run(a, all);
            taken[v][r] = (bench_now() - start) / turns_of(codes);
        }
    for (size_t v = 0; v < HG_COUNT(variants); v++)
        if ((variants[v].table->cpu & ~hg_cpu_features()) == 0)
            timing_print(variants[v].name, name, where, timing_of(taken[v]), codes,
                         (int64_t)(holo_tensor_bytes(&a->in[0]) + holo_tensor_bytes(&a->out[0])));
    if (a->fault->kind != HG_FAULT_NONE) exit(1);
}

static void run_program(const bench_program *p, int64_t codes, const char *where)
{
    uint8_t bytes[HG_BYTEOPS_BYTES];
    const int64_t param[] = {0, p->entries};
    holo_tensor in[2] = {bench_tensor(HOLO_U8, 1, &codes), {.dtype = HOLO_U8, .rank = 1}};
    holo_tensor out = bench_tensor(HOLO_U8, 1, &codes);
    void *room = bench_apart(&out, in[0].data);
    hg_fault fault = {0};
    in[1].data = bytes;
    in[1].dim[0] = (int64_t)hg_byteops_write(&p->program, bytes);
    const hg_args a = {.in = in,
                       .out = &out,
                       .param = param,
                       .fault = &fault,
                       .n_in = 2,
                       .n_out = 1,
                       .n_param = HG_BYTEOPS_PARAMS};
    fill(&in[0], p->entries);
    run_variants(&a, p->name, where, true);
    free(in[0].data);
    free(room);
}

/* Smooth values, as most chains give. */
static void run_case(const bench_case *c, int64_t codes, const char *where)
{
    const int64_t channels = llabs(c->channels), n = codes - codes % 3;
    const int64_t plain[] = {n}, turn[] = {n / 3, 3}, planes[] = {3, n / 3};
    const int64_t *dim = c->channels == 3 ? turn : c->channels == -3 ? planes : plain;
    const int rank = channels == 1 ? 1 : 2;
    holo_tensor in[2] = {bench_tensor(c->codes, rank, dim),
                         bench_tensor(c->entry, rank, (int64_t[]){channels, c->entries})};
    if (rank == 1) in[1] = bench_tensor(c->entry, 1, &c->entries);
    holo_tensor out = bench_tensor(c->entry, rank, dim);
    void *room = bench_apart(&out, in[0].data);
    const int64_t param[] = {c->channels == 3 ? 1 : 0, 0, c->classes};
    hg_fault fault = {0};
    const hg_args a = {.in = in,
                       .out = &out,
                       .param = param,
                       .fault = &fault,
                       .n_in = 2,
                       .n_out = 1,
                       .n_param = HG_TABLE_PARAMS};
    fill(&in[0], c->classes ? 256 : c->entries);
    run_variants(&a, c->name, where, false);
    free(in[0].data);
    free(in[1].data);
    free(room);
}

/* ---- copying, and the ways that were not taken ------------------------------------------- */

typedef void way_run(const uint8_t *table, const uint8_t *x, uint8_t *y, int64_t n);

static void way_copy(const uint8_t *table, const uint8_t *x, uint8_t *y, int64_t n)
{
    (void)table;
    memcpy(y, x, (size_t)n);
}

#if defined(__x86_64__)

#define WAY __attribute__((target("avx2"))) static

WAY inline __m256i way_sixteen(const uint8_t *table, int k)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * k)));
}

/* One chain of shuffles and xors for each half: 46 operations. */
WAY void way_chain(const uint8_t *table, const uint8_t *x, uint8_t *y, int64_t n)
{
    __m256i part[16];
    for (int h = 0; h < 16; h += 8)
        for (int k = 0; k < 8; k++) {
            part[h + k] = way_sixteen(table, h + 7 - k);
            if (k != 0) part[h + k] = _mm256_xor_si256(part[h + k], way_sixteen(table, h + 8 - k));
        }
    for (int64_t i = 0; i < n; i += 32) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(x + i));
        const __m256i w = _mm256_xor_si256(v, _mm256_set1_epi8(-128));
        __m256i sum = _mm256_setzero_si256();
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) {
            const __m256i step = _mm256_set1_epi8((char)(16 * k));
            sum = _mm256_xor_si256(sum, _mm256_shuffle_epi8(part[k], _mm256_adds_epu8(v, step)));
            sum =
                _mm256_xor_si256(sum, _mm256_shuffle_epi8(part[8 + k], _mm256_adds_epu8(w, step)));
        }
        _mm256_storeu_si256((__m256i *)(y + i), sum);
    }
}

/* Sixteen shuffles and a tree of blends by bits 4 to 7: 35 operations. */
WAY void way_tree(const uint8_t *table, const uint8_t *x, uint8_t *y, int64_t n)
{
    __m256i part[16];
    for (int k = 0; k < 16; k++)
        part[k] = way_sixteen(table, k);
    for (int64_t i = 0; i < n; i += 32) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(x + i));
        const __m256i low = _mm256_and_si256(v, _mm256_set1_epi8(15));
        __m256i bit[4] = {_mm256_slli_epi16(v, 3), _mm256_slli_epi16(v, 2), _mm256_slli_epi16(v, 1),
                          v};
        __m256i four[4];
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            const __m256i *p = part + 4 * k;
            four[k] = _mm256_blendv_epi8(_mm256_blendv_epi8(_mm256_shuffle_epi8(p[0], low),
                                                            _mm256_shuffle_epi8(p[1], low), bit[0]),
                                         _mm256_blendv_epi8(_mm256_shuffle_epi8(p[2], low),
                                                            _mm256_shuffle_epi8(p[3], low), bit[0]),
                                         bit[1]);
            __asm__ volatile("" : "+x"(four[k])); /* as the kernel does */
        }
        const __m256i all =
            _mm256_blendv_epi8(_mm256_blendv_epi8(four[0], four[1], bit[2]),
                               _mm256_blendv_epi8(four[2], four[3], bit[2]), bit[3]);
        _mm256_storeu_si256((__m256i *)(y + i), all);
    }
}

/* ---- 65,536 entries of 2 bytes ------------------------------------------------------------ */

/* Pairs of entries are gathered, so that nothing behind the table is read. */
WAY inline __m256i way_pairs(const uint16_t *table, __m256i k)
{
    const __m256i pair =
        _mm256_i32gather_epi32((const int *)(const void *)table, _mm256_srli_epi32(k, 1), 4);
    const __m256i by = _mm256_slli_epi32(_mm256_and_si256(k, _mm256_set1_epi32(1)), 4);
    return _mm256_and_si256(_mm256_srlv_epi32(pair, by), _mm256_set1_epi32(65535));
}

WAY void way_gather(const uint16_t *table, const uint16_t *x, uint16_t *y, int64_t n)
{
    for (int64_t i = 0; i < n; i += 16) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        const __m256i a = way_pairs(table, _mm256_cvtepu16_epi32(_mm256_castsi256_si128(v)));
        const __m256i b = way_pairs(table, _mm256_cvtepu16_epi32(_mm256_extracti128_si256(v, 1)));
        _mm256_storeu_si256((__m256i *)(void *)(y + i),
                            _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8));
    }
}

__attribute__((target("avx512f"))) static void
way_gather_512(const uint16_t *table, const uint16_t *x, uint16_t *y, int64_t n)
{
    for (int64_t i = 0; i < n; i += 16) {
        const __m512i k =
            _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(x + i)));
        const __m512i pair = _mm512_i32gather_epi32(_mm512_srli_epi32(k, 1), table, 4);
        const __m512i by = _mm512_slli_epi32(_mm512_and_si512(k, _mm512_set1_epi32(1)), 4);
        _mm256_storeu_si256((__m256i *)(void *)(y + i),
                            _mm512_cvtepi32_epi16(_mm512_srlv_epi32(pair, by)));
    }
}

static void way_kernel(const uint16_t *table, const uint16_t *x, uint16_t *y, int64_t n)
{
    const holo_tensor in[2] = {
        {.data = (void *)(uintptr_t)x, .dim = {n}, .rank = 1, .dtype = HOLO_F16},
        {.data = (void *)(uintptr_t)table, .dim = {65536}, .rank = 1, .dtype = HOLO_F16}};
    holo_tensor out = {.data = y, .dim = {n}, .rank = 1, .dtype = HOLO_F16};
    const int64_t param[HG_TABLE_PARAMS] = {0};
    const hg_args a = {
        .in = in, .out = &out, .param = param, .n_in = 2, .n_out = 1, .n_param = HG_TABLE_PARAMS};
    hg_kernels_table->run(&a, (hg_range){0, hg_kernels_table->units(&a), NULL});
}

typedef void way_run_halves(const uint16_t *table, const uint16_t *x, uint16_t *y, int64_t n);

/* Halves in [-1, 1), as activations are. */
static void run_way_halves(const char *name, way_run_halves *way, int64_t n, const char *where)
{
    uint16_t *table = bench_alloc(65536 * 2), *x = bench_alloc((size_t)n * 2);
    uint16_t *y = bench_alloc((size_t)n * 2);
    double taken[ROUNDS];
    uint32_t seed = 1;
    for (int i = 0; i < 65536; i++)
        table[i] = (uint16_t)(i * 167 + 13);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = hg_f32_to_f16((float)(seed >> 8) / 8388608.0f - 1.0f);
    }
    for (int r = 0; r < ROUNDS; r++) {
        const double start = bench_now();
        for (int t = 0; t < turns_of(n); t++) {
            way(table, x, y, n);
            __asm__ volatile("" : : "r"(y) : "memory");
        }
        taken[r] = (bench_now() - start) / turns_of(n);
    }
    for (int64_t i = 0; i < n; i++)
        if (y[i] != table[x[i]]) exit(1);
    timing_print("way", name, where, timing_of(taken), n, 4 * n);
    free(table);
    free(x);
    free(y);
}

static void run_halves(int64_t n, const char *where)
{
    run_way_halves("65,536 entries, halves in [-1, 1)", way_kernel, n, where);
    if ((hg_cpu_features() & HG_CPU_AVX2) != 0)
        run_way_halves("65,536 entries, gathered", way_gather, n, where);
    if ((hg_cpu_features() & HG_CPU_AVX512) != 0)
        run_way_halves("65,536 entries, gathered, AVX-512", way_gather_512, n, where);
}

#endif

static void run_way(const char *name, way_run *way, int64_t n, const char *where)
{
    uint8_t table[256], *x = bench_alloc((size_t)n);
    holo_tensor out = {.dtype = HOLO_U8, .rank = 1, .dim = {n}};
    void *room = bench_apart(&out, x);
    uint8_t *y = out.data;
    double taken[ROUNDS];
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(i * 167 + 13);
    for (int64_t i = 0; i < n; i++)
        x[i] = (uint8_t)(i * 91 + i / 256);
    for (int r = 0; r < ROUNDS; r++) {
        const double start = bench_now();
        for (int t = 0; t < turns_of(n); t++) {
            way(table, x, y, n);
            __asm__ volatile("" : : "r"(y) : "memory");
        }
        taken[r] = (bench_now() - start) / turns_of(n);
    }
    for (int64_t i = 0; i < n; i++)
        if (way != way_copy && y[i] != table[x[i]]) exit(1);
    timing_print("way", name, where, timing_of(taken), n, 2 * n);
    free(x);
    free(room);
}

int main(void)
{
    static const struct {
        const char *name;
        int64_t codes;
    } where[] = {{"L1", IN_L1}, {"memory", IN_MEMORY}};
    printf("[");
    for (size_t w = 0; w < HG_COUNT(where); w++) {
        run_way("copy", way_copy, where[w].codes, where[w].name);
#if defined(__x86_64__)
        if ((hg_cpu_features() & HG_CPU_AVX2) != 0) {
            run_way("256 entries, xor chain", way_chain, where[w].codes, where[w].name);
            run_way("256 entries, blend tree", way_tree, where[w].codes, where[w].name);
        }
        run_halves(where[w].codes / 2, where[w].name);
#endif
        for (size_t i = 0; i < HG_COUNT(cases); i++)
            run_case(&cases[i], where[w].codes, where[w].name);
        for (size_t i = 0; i < HG_COUNT(programs); i++)
            run_program(&programs[i], where[w].codes, where[w].name);
    }
    printf("\n]\n");
    return 0;
}

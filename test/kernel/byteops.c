/* byteops.c - byteops against its programs evaluated one code at a time, on every variant: all
 * operations, sizes with tails, codes outside, in place. */
#include "kernel/byteops.h"

#include "base/cpu.h"
#include "kernel/move.h"

extern const hg_kernel hg_kernels_byteops[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_byteops_avx2[], hg_kernels_byteops_avx512[];
static const hg_kernel *const byteops_variants[] = {hg_kernels_byteops, hg_kernels_byteops_avx2,
                                                    hg_kernels_byteops_avx512};
#elif defined(__wasm_simd128__)
extern const hg_kernel hg_kernels_byteops_wasm[];
static const hg_kernel *const byteops_variants[] = {hg_kernels_byteops, hg_kernels_byteops_wasm};
#elif defined(__aarch64__)
extern const hg_kernel hg_kernels_byteops_neon[];
static const hg_kernel *const byteops_variants[] = {hg_kernels_byteops, hg_kernels_byteops_neon};
#else
static const hg_kernel *const byteops_variants[] = {hg_kernels_byteops};
#endif

static void byteops_make(move_call *c, const hg_byteops *p, int64_t n, int64_t base,
                         int64_t entries)
{
    uint8_t bytes[HG_BYTEOPS_BYTES];
    const int64_t size = (int64_t)hg_byteops_write(p, bytes);
    holo_tensor *x = move_in(c, HOLO_U8, 1, &n);
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)x->data)[i] = (uint8_t)(base + (i * 91 + i / 256) % entries);
    memcpy(move_in(c, HOLO_U8, 1, &size)->data, bytes, (size_t)size);
    move_out(c, HOLO_U8, 1, &n);
    move_param(c, base);
    move_param(c, entries);
    move_connect(c);
}

static bool byteops_right(const move_call *c, const hg_byteops *p, int64_t but)
{
    const uint8_t *x = c->in[0].data, *y = c->out[0].data;
    for (int64_t i = 0; i < c->in[0].dim[0]; i++)
        if (i != but && !CHECK_EQ_INT(y[i], hg_byteops_at(p, x[i]))) return false;
    return true;
}

/* One program on one kernel, in one unit and in place. */
static void byteops_try(const hg_kernel *k, const hg_byteops *p, int64_t n, int64_t base,
                        int64_t entries)
{
    move_call c = {0};
    holo_error e = {0};
    byteops_make(&c, p, n, base, entries);
    if (CHECK_OK(k->check(&c.args, &e), &e)) {
        const hg_range all = {0, hg_kernel_work(k, &c.args).units, NULL};
        k->run(&c.args, all);
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
        if (byteops_right(&c, p, -1)) {
            uint8_t *made = c.out[0].data;
            c.out[0].data = c.in[0].data;
            for (int64_t u = all.end; u-- > 0;)
                k->run(&c.args, (hg_range){u, u + 1, NULL});
            CHECK_MEM(c.in[0].data, made, (size_t)n);
            c.out[0].data = made;
        }
    }
    move_free(&c);
}

static uint32_t byteops_draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % n;
}

/* A program of `n` operations, the first of them `op`. */
static hg_byteops byteops_random(uint32_t *seed, uint32_t n, uint8_t op)
{
    hg_byteops p = {.n = n, .n_list = 2};
    for (uint32_t i = 0; i < 32; i++)
        p.list[i / 16][i % 16] = (uint8_t)byteops_draw(seed, 256);
    for (uint32_t i = 0; i < n; i++) {
        p.op[i] = i == 0 ? op : (uint8_t)(1 + byteops_draw(seed, HG_BYTE_OPS - 1));
        p.arg[i] = (uint8_t)byteops_draw(seed, 256);
        if (p.op[i] == HG_BYTE_RIGHT || p.op[i] == HG_BYTE_LEFT) p.arg[i] %= 8;
        if (p.op[i] == HG_BYTE_LOOK) p.arg[i] %= 2;
        if (p.op[i] >= HG_BYTE_NIBBLES_XOR && p.op[i] <= HG_BYTE_NIBBLES_MAX) p.arg[i] = 0;
        if (i != 0 && hg_byteops_is_binary(p.op[i]) && byteops_draw(seed, 3) == 0)
            p.op[i] |= HG_BYTE_CODE;
    }
    return p;
}

static void byteops_all_operations(void)
{
    uint32_t seed = 5;
    for (size_t v = 0; v < HG_COUNT(byteops_variants); v++) {
        const hg_kernel *k = byteops_variants[v];
        if ((k->cpu & ~hg_cpu_features()) != 0) continue;
        for (uint8_t op = HG_BYTE_ADD; op < HG_BYTE_OPS; op++)
            for (uint32_t n = 1; n <= HG_BYTEOPS_MAX; n++) {
                hg_byteops p = byteops_random(&seed, n, op);
                byteops_try(k, &p, 1000 + n, 0, 256);
                if (!hg_byteops_is_binary(op)) continue;
                p.op[0] |= HG_BYTE_CODE;
                byteops_try(k, &p, 600, 0, 256);
            }
    }
}

static void byteops_sizes(void)
{
    static const int64_t sizes[] = {0, 1, 31, 511, 512, 513, HG_TABLE_BLOCK, HG_TABLE_BLOCK + 300};
    const hg_byteops p = {.n = 2, .op = {HG_BYTE_MAX_U8, HG_BYTE_ADD}, .arg = {77, 4}}, none = {0};
    for (size_t v = 0; v < HG_COUNT(byteops_variants); v++) {
        const hg_kernel *k = byteops_variants[v];
        if ((k->cpu & ~hg_cpu_features()) != 0) continue;
        for (size_t i = 0; i < HG_COUNT(sizes); i++) {
            byteops_try(k, &p, sizes[i], 0, 256);
            byteops_try(k, &p, sizes[i], 40, 60);
            byteops_try(k, &none, sizes[i], 0, 256);
        }
    }
}

/* The first of several codes outside is named, and its element is left alone. */
static void byteops_reports_codes(void)
{
    const hg_byteops p = {.n = 1, .op = {HG_BYTE_XOR}, .arg = {255}};
    static const int64_t places[] = {3, 700, 1498};
    for (size_t v = 0; v < HG_COUNT(byteops_variants); v++) {
        const hg_kernel *k = byteops_variants[v];
        if ((k->cpu & ~hg_cpu_features()) != 0) continue;
        for (size_t i = 0; i < HG_COUNT(places); i++) {
            move_call c = {0};
            byteops_make(&c, &p, 1500, 10, 64);
            ((uint8_t *)c.in[0].data)[places[i]] = i == 0 ? 9 : 74;
            ((uint8_t *)c.out[0].data)[places[i]] = 33;
            k->run(&c.args, (hg_range){0, 1, NULL});
            CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
            CHECK_EQ_INT(c.fault.element, places[i]);
            CHECK_EQ_INT(c.fault.value, i == 0 ? 9 : 74);
            CHECK_EQ_INT(c.fault.low, 10);
            CHECK_EQ_INT(c.fault.high, 73);
            CHECK_EQ_INT(((const uint8_t *)c.out[0].data)[places[i]], 33);
            byteops_right(&c, &p, places[i]);
            move_free(&c);
        }
    }
}

static void byteops_refuses_programs(void)
{
    const hg_byteops p = {.n = 1, .op = {HG_BYTE_XOR}, .arg = {255}};
    for (size_t v = 0; v < HG_COUNT(byteops_variants); v++) {
        const hg_kernel *k = byteops_variants[v];
        if ((k->cpu & ~hg_cpu_features()) != 0) continue;
        move_call c = {0};
        byteops_make(&c, &p, 100, 0, 256);
        ((uint8_t *)c.in[1].data)[1] = 99;
        k->run(&c.args, (hg_range){0, 1, NULL});
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
        CHECK_HAS(c.fault.what, "program of byte operations");
        move_free(&c);
    }
}

static void byteops_make_plain(move_call *c)
{
    const hg_byteops p = {.n = 1, .op = {HG_BYTE_XOR}, .arg = {255}};
    byteops_make(c, &p, 5, 200, 56);
}

static void byteops_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I16, "input 0 has type int16"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I8, "input 1 has type int8"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F32, "output 0 has type float32"},
        {MOVE_IN_RANK, 1, 0, 2, "program has rank 2"},
        {MOVE_OUT_DIM, 0, 0, 4, "output: dimension 0 is 4"},
        {MOVE_PARAM, HG_BYTEOPS_BASE, 0, -1, "base is -1"},
        {MOVE_PARAM, HG_BYTEOPS_BASE, 0, 256, "base is 256"},
        {MOVE_PARAM, HG_BYTEOPS_ENTRIES, 0, 57, "entries is 57"},
        {MOVE_PARAM, HG_BYTEOPS_ENTRIES, 0, 0, "entries is 0"},
    };
    MOVE_REFUSES(hg_kernels_byteops, byteops_make_plain, bad);
}

const hg_test_case hg_tests_kernel_byteops[] = {
    {"all_operations", byteops_all_operations},
    {"sizes", byteops_sizes},
    {"reports_codes", byteops_reports_codes},
    {"refuses_programs", byteops_refuses_programs},
    {"refuses", byteops_refuses},
    {0},
};

/* palette.c - palettes: every element comes back bit by bit, files run to the same bytes as
 * without, their certificates hold, and not when a code or value is changed. */
#include "table/palette.h"

#include "../test.h"
#include "base/hash.h"
#include "fault/small.h"
#include "table/cert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Element k of n different ones; among them NaNs of two kinds, both zeros and infinities. */
static uint32_t palette_element(uint32_t k)
{
    static const uint32_t special[] = {0x7fc00000, 0xffc00001, 0, 0x80000000, 0x7f800000};
    return k < HG_COUNT(special) ? special[k] : k * UINT32_C(2654435761);
}

static void palette_try_size(uint32_t size, uint32_t different, int64_t count, bool expected)
{
    holo_error error = {0};
    hg_ctx ctx = {.error = &error};
    hg_palette p;
    bool pays;
    uint8_t *data = malloc((size_t)count * size);
    hg_arena_init(&ctx.arena, NULL, 0);
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = palette_element((uint32_t)(i * 7919 % different));
        memcpy(data + (size_t)i * size, &bits, size);
    }
    CHECK_OK(hg_palette_make(&ctx, data, count, size, &p, &pays), &error);
    CHECK_EQ_INT(pays, expected);
    for (int64_t i = 0; pays && i < count; i++) {
        uint16_t k = 0;
        memcpy(&k, (uint8_t *)p.code + (size_t)i * p.code_size, p.code_size);
        if (!CHECK(k < p.distinct &&
                   memcmp((uint8_t *)p.value + k * size, data + (size_t)i * size, size) == 0))
            break;
    }
    if (pays) CHECK(hg_palette_bytes(&p) * 4 <= (uint64_t)count * size * 3);
    hg_arena_deinit(&ctx.arena);
    free(data);
}

static void palette_elements(void)
{
    palette_try_size(4, 1, 1000, true);
    palette_try_size(4, 256, 5000, true);
    palette_try_size(4, 257, 5000, true);
    palette_try_size(4, 2000, 5000, false); /* 18,000 bytes instead of 20,000 */
    palette_try_size(4, 65536, 300000, true);
    palette_try_size(4, 65537, 300000, false); /* two bytes cannot tell them apart */
    palette_try_size(2, 200, 5000, true);
    palette_try_size(2, 300, 5000, false);
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* A product with 64 x 96 weights of 30 values and a lookup of rows of 200 x 32 with 7. */
static char *palette_model(void)
{
    const size_t room = 200000;
    char *text = malloc(room);
    size_t n = (size_t)snprintf(text, room,
                                "graph g(%%x: float32[n,64], %%i: int64[m]) {\n"
                                "  %%w = const float32[64,96] {");
    for (int k = 0; k < 64 * 96; k++)
        n +=
            (size_t)snprintf(text + n, room - n, "%s%g", k == 0 ? "" : ",", k * 7 % 30 * 0.125 - 1);
    n += (size_t)snprintf(text + n, room - n, "}\n  %%e = const float32[200,32] {");
    for (int k = 0; k < 200 * 32; k++)
        n += (size_t)snprintf(text + n, room - n, "%s%g", k == 0 ? "" : ",", k * 11 % 7 - 0.5);
    snprintf(text + n, room - n,
             "}\n  %%y = MatMul(%%x, %%w)\n  %%z = Gather(%%e, %%i)\n"
             "  return %%y as \"y\", %%z as \"z\"\n}\n");
    return text;
}

static fault_bytes palette_file(const char *text, uint32_t flags)
{
    fault_bytes b = {0};
    holo_error e = {0};
    void *data = NULL;
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.flags = flags;
    CHECK_OK(fault_compile(text, &options, &data, &b.size, &e), &e);
    b.data = fault_copy(data, b.size);
    holo_buffer_free(NULL, data, b.size);
    return b;
}

/* The results of a file, for inputs made here. */
static void palette_run(fault_bytes b, float *y, float *z)
{
    float x[2 * 64];
    int64_t i[3] = {199, 0, 77};
    holo_error e = {0};
    holo_model *model = NULL;
    holo_session *session = NULL;
    for (int k = 0; k < 128; k++)
        x[k] = (float)(k % 17) - 8;
    holo_tensor in[2] = {{.dtype = HOLO_F32, .rank = 2, .dim = {2, 64}, .data = x},
                         {.dtype = HOLO_I64, .rank = 1, .dim = {3}, .data = i}};
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
    CHECK_OK(holo_session_set_input(session, 0, &in[0], &e), &e);
    CHECK_OK(holo_session_set_input(session, 1, &in[1], &e), &e);
    CHECK_OK(holo_session_run(session, &e), &e);
    holo_tensor out[2];
    if (CHECK_OK(holo_session_output(session, 0, &out[0], &e), &e) &&
        CHECK_OK(holo_session_output(session, 1, &out[1], &e), &e)) {
        memcpy(y, out[0].data, 2 * 96 * sizeof *y);
        memcpy(z, out[1].data, 3 * 32 * sizeof *z);
    }
    holo_session_free(session);
    holo_model_free(model);
}

static void palette_files(void)
{
    char *text = palette_model();
    float y[2][2 * 96] = {{0}}, z[2][3 * 32] = {{0}};
    fault_bytes plain = palette_file(text, 0);
    fault_bytes small = palette_file(text, HOLO_COMPILE_PALETTES);
    palette_run(plain, y[0], z[0]);
    palette_run(small, y[1], z[1]);
    CHECK_MEM(y[1], y[0], sizeof y[0]);
    CHECK_MEM(z[1], z[0], sizeof z[0]);
    CHECK_EQ_INT(z[0][0] * 2, 199 * 32 * 11 % 7 * 2 - 1);
    CHECK(small.size + 30000 < plain.size);
    holo_prove_report r = fault_prove(small);
    CHECK_EQ_INT(r.proved, 2);
    CHECK_EQ_INT(r.failed, 0);
    const hg_holo_section *s = fault_section(small, HG_SECTION_WEIGHTS);
    for (uint64_t at = 3; at < s->size; at += s->size / 5) {
        uint8_t *byte = small.data + s->offset + at;
        *byte ^= 1;
        r = fault_prove(small);
        *byte ^= 1;
        CHECK(r.proved + (uint64_t)r.failed >= 2);
    }
    small.data[s->offset] ^= 1; /* the first weight there is: a code or a value */
    CHECK(fault_prove(small).failed > 0);
    free(plain.data);
    free(small.data);
    free(text);
}

/* ---- certificates alone ------------------------------------------------------------------------
 */

static void palette_certificates(void)
{
    static const char *const claims[] = {
        "palette uint8 -> float32 values 3 count 4 original %016llx\ncodes 8 4\n",
        "palette uint8 -> float32 values 2 count 5 original %016llx\ncodes 8 4\n",
        "palette uint8 -> float32 values 2 count 4 original %016llx\ncodes 9 4\n",
        "palette uint8 -> float32 values 2 count 4 original %016llx\ncodes 99 4\n",
        "palette int8 -> float32 values 2 count 4 original %016llx\ncodes 8 4\n",
        "palette uint8 -> float64 values 1 count 4 original %016llx\ncodes 8 4\n",
    };
    uint8_t bytes[12] = {1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 1, 0};
    const uint8_t whole[16] = {1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8, 1, 2, 3, 4};
    const unsigned long long hash = (unsigned long long)hg_hash(whole, 16, 0);
    for (int round = 0; round < 8; round++) {
        char line[200], text[300];
        holo_error e = {0};
        hg_cert_view v;
        bool more;
        snprintf(line, sizeof line,
                 round < 6 ? claims[round]
                           : "palette uint8 -> float32 values 2 count 4 original %016llx\n"
                             "codes 8 4\n",
                 hash);
        snprintf(text, sizeof text, "certificate \"w\"\nat 0 8 hash 0\n%send\n", line);
        hg_str rest = hg_str_from(text);
        if (round == 7) bytes[9] = 2;
        CHECK_OK(hg_cert_next(&rest, &v, &more, &e), &e);
        CHECK_STATUS(hg_cert_prove(&v, bytes, 12, &e), round == 6 ? HOLO_OK : HOLO_E_DATA);
    }
}

const hg_test_case hg_tests_table_palette[] = {
    {"elements", palette_elements},
    {"files", palette_files},
    {"certificates", palette_certificates},
    {0},
};

/* cache.c - caches of attention: of codes, sliding, and read by beams. */
#include "op/microsoft/plain.h"

/* ---- GroupQueryAttention, step by step --------------------------------------------------------
 */

enum { STEP_B = 2, STEP_N = 2, STEP_H = 4, STEP_TEXT = 32, STEP_MOST = 256 };

typedef struct step_case {
    int bits;
    bool by_channel, slides;
    int window, room; /* -1: none */
    const char *stored;
} step_case;

/* A text for each row of the batch, and what the cache holds of it. */
typedef struct step_state {
    const step_case *c;
    double text[2][STEP_B][STEP_TEXT * STEP_H]; /* keys and values as they are remembered */
    double scale[2][STEP_H];
    int length[STEP_B], end[STEP_B]; /* of the text; rows of the cache in use */
} step_state;

static int step_columns(const step_case *c)
{
    return c->bits == 4 ? STEP_H / 2 : STEP_H;
}

static double step_scale(const step_state *t, int which, int column)
{
    return t->scale[which][t->c->by_channel ? column : 0];
}

/* The code of a number, and what it stands for. */
static double step_code(const step_state *t, int which, int column, double x)
{
    const double most = t->c->bits == 8 ? 127 : 7;
    if (t->c->bits == 0) return x;
    const float factor = 1.0F / (float)step_scale(t, which, column);
    return fmax(-most - 1, fmin(most, nearbyint((double)((float)x * factor))));
}

static double step_number(const step_state *t, int which, int column, double code)
{
    return t->c->bits == 0 ? code : code * step_scale(t, which, column);
}

/* One more row of a text. */
static void step_say(step_state *t, int which, int b, int row, const double *x)
{
    for (int e = 0; e < STEP_H; e++)
        t->text[which][b][row * STEP_H + e] =
            step_number(t, which, e, step_code(t, which, e, x[e]));
}

/* The cache is moved only when it is full, by whole steps of room - window + 1. */
static void step_advance(step_state *t, int b, int rows)
{
    t->length[b] += rows;
    t->end[b] += rows;
    while (t->c->slides && t->end[b] > t->c->room)
        t->end[b] -= t->c->room - t->c->window + 1;
}

/* Bytes of the cache as they must be: row r of batch b, column k; NaN where it does not matter. */
static double step_byte(const step_state *t, int which, int b, int r, int k)
{
    if (r >= t->end[b]) return NAN;
    const double *row = &t->text[which][b][(t->length[b] - t->end[b] + r) * STEP_H];
    if (t->c->bits == 0) return row[k];
    double byte = step_code(t, which, k, row[k]);
    if (t->c->bits == 4)
        byte = step_code(t, which, 2 * k, row[2 * k]) + 8 +
               16 * (step_code(t, which, 2 * k + 1, row[2 * k + 1]) + 8);
    const bool is_signed = strcmp(t->c->stored, "int8") == 0; /* the byte as the type reads it */
    return is_signed && byte > 127 ? byte - 256 : !is_signed && byte < 0 ? byte + 256 : byte + 0.0;
}

static void step_cache_is(const step_state *t, const compute *c, int which, int rows)
{
    const int columns = step_columns(t->c);
    if (!CHECK_EQ_INT(c->count[1 + which], STEP_B * rows * columns)) return;
    for (int i = 0; i < STEP_B * rows * columns; i++) {
        const double x = step_byte(t, which, i / columns / rows, i / columns % rows, i % columns);
        if (isfinite(x)) CHECK_NEAR(c->out[1 + which][i], x, 1e-6);
    }
}

/* Queries at the last S places of each text see `window` keys. */
static void step_attend(const step_state *t, const double *q, int s, double *y)
{
    for (int i = 0; i < STEP_B * s * STEP_N; i++) {
        const int n = i % STEP_N, row = i / STEP_N % s, b = i / STEP_N / s;
        const int last = t->length[b] - s + row;
        const int first = t->c->window < 0 ? 0 : (int)fmax(0, last - t->c->window + 1);
        double by[STEP_N * STEP_H], bias[STEP_TEXT] = {0}, out[STEP_N * STEP_H];
        const att_case one = {1, 1, 1, 1, last - first + 1, STEP_H, 0.5, 0, 0, false};
        memcpy(by, q + ((b * s + row) * STEP_N + n) * STEP_H, STEP_H * sizeof *by);
        att_plain(&one, by, &t->text[0][b][first * STEP_H], &t->text[1][b][first * STEP_H], bias,
                  out);
        memcpy(y + ((b * s + row) * STEP_N + n) * STEP_H, out, STEP_H * sizeof *out);
    }
}

/* s more words; the cache before it is what was checked after the last step. */
static void step_run(step_state *t, int s, uint32_t seed)
{
    compute *c = compute_new();
    const step_case *k = t->c;
    const int columns = step_columns(k), held = k->slides ? k->room : t->length[1];
    double q[STEP_MOST], x[2][STEP_MOST], y[STEP_MOST], last[STEP_B];
    char type[64], node[512];
    int total = 0;
    c->state = seed;
    snprintf(type, sizeof type, "float32[2,%d,%d]", s, STEP_N * STEP_H);
    compute_rand(c, "q", type, q, STEP_B * s * STEP_N * STEP_H);
    snprintf(type, sizeof type, "float32[2,%d,%d]", s, STEP_H);
    for (int w = 0; w < 2; w++)
        compute_rand(c, w == 0 ? "k" : "v", type, x[w], STEP_B * s * STEP_H);
    for (int w = 0; w < 2; w++) {
        double bytes[STEP_B * STEP_TEXT * STEP_H];
        for (int i = 0; i < STEP_B * held * columns; i++) {
            bytes[i] = step_byte(t, w, i / columns / held, i / columns % held, i % columns);
            if (!isfinite(bytes[i])) bytes[i] = 3; /* whatever lies behind */
        }
        snprintf(type, sizeof type, "%s[2,1,%d,%d]", k->stored, held, columns);
        compute_const(c, w == 0 ? "pk" : "pv", type, bytes, STEP_B * held * columns);
        compute_const(c, w == 0 ? "ks" : "vs", k->by_channel ? "float32[1,1,1,4]" : "float32[1]",
                      t->scale[w], k->by_channel ? STEP_H : 1);
        for (int b = 0; b < STEP_B; b++)
            for (int r = 0; r < s; r++)
                step_say(t, w, b, t->length[b] + r, x[w] + (b * s + r) * STEP_H);
    }
    for (int b = 0; b < STEP_B; b++) {
        step_advance(t, b, s);
        last[b] = t->length[b] - 1;
        total = t->length[b] > total ? t->length[b] : total;
    }
    compute_const(c, "n", "int32[2]", last, STEP_B);
    compute_const(c, "t", "int32[]", (double[]){total}, 1);
    step_attend(t, q, s, y);
    snprintf(node, sizeof node,
             "%%y, %%y1, %%y2 = com.microsoft:GroupQueryAttention(%%q, %%k, %%v, %%pk, %%pv, %%n, "
             "%%t%s) {num_heads=2, kv_num_heads=1, kv_cache_bit_width=%d, k_quant_type=\"%s\", "
             "v_quant_type=\"%s\", local_window_size=%d, sliding_window_cache=%d}",
             k->bits == 0 ? "" : ", _, _, _, _, _, %ks, %vs", k->bits,
             k->bits == 0    ? "NONE"
             : k->by_channel ? "PER_CHANNEL"
                             : "PER_TENSOR",
             k->bits == 0    ? "NONE"
             : k->by_channel ? "PER_CHANNEL"
                             : "PER_TENSOR",
             k->window, k->slides);
    if (compute_run(c, node, 3)) {
        const int rows = k->slides ? k->room : (total > held ? total : held);
        compute_near(c, 0, y, STEP_B * s * STEP_N * STEP_H, 1e-5);
        for (int w = 0; w < 2; w++)
            step_cache_is(t, c, w, rows);
    }
    compute_free(c);
}

static void cache_steps(void)
{
    static const step_case table[] = {
        {8, false, false, -1, 0, "int8"},  {8, true, false, 3, 0, "int8"},
        {4, false, false, -1, 0, "uint8"}, {4, true, false, 2, 0, "uint8"},
        {8, true, false, -1, 0, "uint8"},  {4, true, false, -1, 0, "int8"},
        {0, false, true, 3, 5, "float32"}, {0, false, true, 4, 4, "float32"},
        {0, false, true, 1, 6, "float32"}, {8, true, true, 3, 5, "int8"},
        {4, false, true, 2, 5, "uint8"},
    };
    static const int words[] = {3, 1, 1, 4, 1, 1, 7, 1, 1};
    for (size_t i = 0; i < HG_COUNT(table); i++) {
        step_state *t = calloc(1, sizeof *t);
        if (t == NULL) abort();
        t->c = &table[i];
        for (int e = 0; e < 2 * STEP_H; e++)
            t->scale[e / STEP_H][e % STEP_H] =
                (double)(float)((table[i].bits == 8 ? 0.01 : 0.14) * (1 + 0.1 * e));
        /* The second text is two words ahead. */
        for (int w = 0; w < 2; w++)
            for (int r = 0; r < 2; r++)
                step_say(t, w, 1, r, (const double[]){0.5, -0.25, 0.75 - r, 0.125 * w});
        step_advance(t, 1, 2);
        for (size_t k = 0; k < HG_COUNT(words); k++)
            step_run(t, words[k], (uint32_t)(i * 100 + k));
        free(t);
    }
}

/* ---- MultiHeadAttention with beams ------------------------------------------------------------
 */

enum { BEAM_G = 2, BEAM_W = 3, BEAM_B = BEAM_G * BEAM_W, BEAM_P = 4, BEAM_MOST = 6, BEAM_H = 4 };

/* One head. Row b of the batch reads place j of the past from beam from[b][j] of its group. */
static void cache_beams(void)
{
    compute *c = compute_new();
    double x[3][BEAM_B * BEAM_H], past[2][BEAM_B * BEAM_MOST * BEAM_H], from[BEAM_B * BEAM_MOST];
    double kv[2][BEAM_B * (BEAM_P + 1) * BEAM_H], bias[BEAM_B * (BEAM_P + 1)] = {0};
    double y[BEAM_B * BEAM_H], present[BEAM_B * BEAM_MOST * BEAM_H];
    for (int k = 0; k < 3; k++)
        compute_rand(c, (const char *[]){"q", "k", "v"}[k], "float32[6,1,4]", x[k],
                     BEAM_B * BEAM_H);
    for (int k = 0; k < 2; k++)
        compute_rand(c, k == 0 ? "pk" : "pv", "float32[6,1,6,4]", past[k],
                     BEAM_B * BEAM_MOST * BEAM_H);
    compute_codes(c, "i", "int32[2,3,6]", from, BEAM_B * BEAM_MOST, 0, BEAM_W);
    compute_const(c, "l", "int32[1]", (double[]){BEAM_P}, 1);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < BEAM_B * (BEAM_P + 1) * BEAM_H; i++) {
            const int e = i % BEAM_H, j = i / BEAM_H % (BEAM_P + 1), b = i / BEAM_H / (BEAM_P + 1);
            const int source = b / BEAM_W * BEAM_W + (int)from[b * BEAM_MOST + j];
            kv[k][i] = j == BEAM_P ? x[1 + k][b * BEAM_H + e]
                                   : past[k][(source * BEAM_MOST + j) * BEAM_H + e];
        }
    memcpy(present, past[0], sizeof present);
    for (int b = 0; b < BEAM_B; b++)
        memcpy(present + (b * BEAM_MOST + BEAM_P) * BEAM_H, x[1] + b * BEAM_H,
               BEAM_H * sizeof *present);
    const att_case plain = {BEAM_B, 1, 1, 1, BEAM_P + 1, BEAM_H, 0.5, 0, 0, false};
    att_plain(&plain, x[0], kv[0], kv[1], bias, y);
    if (compute_run(c,
                    "%y, %y1 = com.microsoft:MultiHeadAttention(%q, %k, %v, _, _, _, %pk, %pv, %l, "
                    "%i) {num_heads=1}",
                    2)) {
        compute_near(c, 0, y, BEAM_B * BEAM_H, 1e-5);
        compute_near(c, 1, present, BEAM_B * BEAM_MOST * BEAM_H, 1e-6);
    }
    compute_free(c);
}

/* A beam that is none is an error, also a negative one. */
static void cache_no_beam(void)
{
    for (int i = 0; i < 2; i++) {
        char text[700];
        snprintf(text, sizeof text,
                 "graph() {\n%%q = const float32[1,1,2] {1, 2}\n"
                 "%%p = const float32[1,1,3,2] {1, 2, 3, 4, 5, 6}\n%%l = const int32[1] {2}\n"
                 "%%i = const int32[1,1,3] {0, %d, 0}\n"
                 "%%y = com.microsoft:MultiHeadAttention(%%q, %%q, %%q, _, _, _, %%p, %%p, %%l, "
                 "%%i) {num_heads=1}\nreturn %%y as \"y\"\n}\n",
                 i == 0 ? 1 : -1);
        fixture *f = fixture_parse(text);
        CHECK(rule_compute(f) != HOLO_OK);
        CHECK_HAS(f->error.message, "index");
        fixture_free(f);
    }
}

const hg_test_case hg_tests_op_microsoft_cache[] = {
    {"steps", cache_steps},
    {"beams", cache_beams},
    {"no_beam", cache_no_beam},
    {0},
};

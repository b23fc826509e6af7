/* attention.c - Attention, MultiHeadAttention, GroupQueryAttention and RotaryEmbedding of
 * com.microsoft against one plain attention in f64. */
#include "op/microsoft/plain.h"

enum { ATT_B = 2, ATT_N = 2, ATT_H = 4, ATT_D = ATT_N * ATT_H, ATT_MOST = 1024 };

/* ---- MultiHeadAttention --------------------------------------------------------------------- */

static void att_multihead(void)
{
    static const struct {
        const char *mask, *attr;
        int past;
        bool is_causal, has_bias;
    } table[] = {
        {"", "", 0, false, false},
        {"int32[2]", ", scale=0.25", 0, false, false},
        {"int32[2,5]", ", mask_filter_value=-5.0", 2, false, true},
        {"int32[2,3,5]", ", unidirectional=1", 2, true, true},
        {"int32[8]", "", 2, false, false},
    };
    for (size_t i = 0; i < HG_COUNT(table); i++) {
        enum { S = 3 };
        const int p = table[i].past, t = p + S;
        compute *c = compute_new();
        double x[3][ATT_MOST], w[3 * ATT_D], past[2][ATT_MOST], mask[64], extra[ATT_MOST];
        double q[ATT_MOST], kv[2][ATT_MOST], bias[ATT_MOST], y[ATT_MOST];
        char node[512];
        const double filter = strstr(table[i].attr, "-5.0") != NULL ? -5.0 : -10000.0;
        for (int k = 0; k < 3; k++)
            compute_rand(c, (const char *[]){"q", "k", "v"}[k], "float32[2,3,8]", x[k],
                         ATT_B * S * ATT_D);
        compute_rand(c, "w", "float32[24]", w, 3 * ATT_D);
        compute_rand(c, "pk", "float32[2,2,2,4]", past[0], 32);
        compute_rand(c, "pv", "float32[2,2,2,4]", past[1], 32);
        compute_rand(c, "e", t == 5 ? "float32[1,2,3,5]" : "float32[1,2,3,3]", extra,
                     ATT_N * S * t);
        const int rank = table[i].mask[0] == 0        ? 0
                         : strlen(table[i].mask) > 10 ? 3
                         : strlen(table[i].mask) > 8  ? 2
                                                      : 1;
        const bool is_long = strcmp(table[i].mask, "int32[8]") == 0; /* 3 B + 2 numbers */
        if (rank == 1) compute_codes(c, "m", table[i].mask, mask, is_long ? 8 : 2, 1, t + 1);
        if (rank == 2) compute_codes(c, "m", table[i].mask, mask, ATT_B * t, 0, 2);
        if (rank == 3) compute_codes(c, "m", table[i].mask, mask, ATT_B * S * t, 0, 2);
        att_by_heads(x[0], w, ATT_B, S, ATT_N, ATT_H, 0, q);
        for (int k = 0; k < 2; k++) {
            att_by_heads(x[1 + k], w + (1 + k) * ATT_D, ATT_B, S, ATT_N, ATT_H, p, kv[k]);
            att_before(past[k], ATT_B * ATT_N, p, S, ATT_H, kv[k]);
        }
        for (int k = 0; k < ATT_B * ATT_N * S * t; k++) {
            const int key = k % t, s = k / t % S, b = k / t / S / ATT_N;
            const double allowed = rank == 1   ? key < mask[b]
                                   : rank == 2 ? mask[b * t + key]
                                   : rank == 3 ? mask[(b * S + s) * t + key]
                                               : 1;
            bias[k] =
                (table[i].has_bias ? extra[k % (ATT_N * S * t)] : 0) + (allowed > 0 ? 0 : filter);
            if (table[i].is_causal && key > p + s) bias[k] = -INFINITY;
        }
        const att_case plain = {ATT_B, ATT_N, ATT_N, S, t, ATT_H, i == 1 ? 0.25 : 0.5, 0, 0, false};
        att_plain(&plain, q, kv[0], kv[1], bias, y);
        snprintf(node, sizeof node,
                 "%%y, %%y1, %%y2 = com.microsoft:MultiHeadAttention(%%q, %%k, %%v, %%w, %s, %s, "
                 "%s) {num_heads=2%s}",
                 rank == 0 ? "_" : "%m", table[i].has_bias ? "%e" : "_", p == 0 ? "_" : "%pk, %pv",
                 table[i].attr);
        if (compute_run(c, node, 3)) {
            /* A row whose every key is masked by -10000 has few bits left. */
            compute_near(c, 0, y, ATT_B * S * ATT_D, 2e-3);
            compute_near(c, 1, kv[0], ATT_B * ATT_D * t, 1e-6);
            compute_near(c, 2, kv[1], ATT_B * ATT_D * t, 1e-6);
        }
        compute_free(c);
    }
}

/* Keys and values by heads already, or packed with each other or with the queries. */
static void att_layouts(void)
{
    enum { S = 3, ALL = ATT_B * S * ATT_D };
    compute *c = compute_new();
    double x[3][ALL], part[3][ALL], kv[2 * ALL], qkv[3 * ALL], none[ATT_MOST] = {0}, y[ALL];
    compute_rand(c, "q", "float32[2,3,8]", x[0], ALL);
    compute_rand(c, "k", "float32[2,3,8]", x[1], ALL);
    compute_rand(c, "v", "float32[2,3,8]", x[2], ALL);
    for (int k = 0; k < 3; k++)
        att_by_heads(x[k], NULL, ATT_B, S, ATT_N, ATT_H, 0, part[k]);
    for (int i = 0; i < ALL; i++) {
        const int head = i / ATT_H, e = i % ATT_H;
        for (int k = 0; k < 3; k++)
            qkv[(head * 3 + k) * ATT_H + e] = x[k][i];
        for (int k = 0; k < 2; k++)
            kv[(head * 2 + k) * ATT_H + e] = x[1 + k][i];
    }
    compute_const(c, "hk", "float32[2,2,3,4]", part[1], ALL);
    compute_const(c, "hv", "float32[2,2,3,4]", part[2], ALL);
    compute_const(c, "kv", "float32[2,3,2,2,4]", kv, 2 * ALL);
    compute_const(c, "qkv", "float32[2,3,2,3,4]", qkv, 3 * ALL);
    const att_case plain = {ATT_B, ATT_N, ATT_N, S, S, ATT_H, 0.5, 0, 0, false};
    att_plain(&plain, part[0], part[1], part[2], none, y);
    static const char *const nodes[] = {
        "%y = com.microsoft:MultiHeadAttention(%q, %k, %v) {num_heads=2}",
        "%y = com.microsoft:MultiHeadAttention(%q, %hk, %hv) {num_heads=2}",
        "%y = com.microsoft:MultiHeadAttention(%q, %kv) {num_heads=2}",
        "%y = com.microsoft:MultiHeadAttention(%qkv) {num_heads=2}",
    };
    for (size_t i = 0; i < HG_COUNT(nodes); i++)
        if (compute_run(c, nodes[i], 1)) compute_near(c, 0, y, ALL, 1e-5);
    compute_free(c);
}

/* Scores beyond float16 in all three: only the result is rounded to it. */
static void att_half(void)
{
    enum { S = 2, D = 4 };
    static const char *const nodes[] = {
        "%y = com.microsoft:MultiHeadAttention(%q, %q, %v) {num_heads=1}",
        "%y = com.microsoft:Attention(%x, %w) {num_heads=1}",
        ("%y, %y1, %y2 = com.microsoft:GroupQueryAttention(%q, %q, %v, _, _, %n, %t) "
         "{num_heads=1, kv_num_heads=1, causal=0}"),
    };
    /* Rows of 250 and -250: products of 250000, which is infinite in float16, and of -250000. */
    const double q[S * D] = {250, 250, 250, 250, -250, -250, -250, -250}, x[] = {1, -1},
                       v[S * D] = {1, 2, 3, 4, 5, 6, 7, 8}, last[] = {1}, total[] = {2};
    double w[3 * D], y[S * D];
    for (int i = 0; i < D; i++)
        w[i] = w[D + i] = 250, w[2 * D + i] = i + 1;
    for (size_t i = 0; i < HG_COUNT(nodes); i++) {
        compute *c = compute_new();
        compute_const(c, "q", "float16[1,2,4]", q, S * D);
        compute_const(c, "v", "float16[1,2,4]", v, S * D);
        compute_const(c, "x", "float16[1,2,1]", x, 2);
        compute_const(c, "w", "float16[1,12]", w, 3 * D);
        compute_const(c, "n", "int32[1]", last, 1);
        compute_const(c, "t", "int32[]", total, 1);
        for (int k = 0; k < S * D; k++) /* each row sees itself alone */
            y[k] = i == 1 ? x[k / D] * w[2 * D + k % D] : v[k];
        if (compute_run(c, nodes[i], 1)) compute_near(c, 0, y, S * D, 0);
        compute_free(c);
    }
}

/* ---- Attention ------------------------------------------------------------------------------ */

static void att_projected(void)
{
    enum { S = 3, X = 5, P = 2 };
    for (int has_past = 0; has_past < 2; has_past++) {
        const int p = has_past ? P : 0, t = p + S;
        compute *c = compute_new();
        double x[ATT_B * S * X], w[X * 3 * ATT_D], b[3 * ATT_D], past[64], mask[4] = {4, 5, 1, 0};
        double qkv[3][ATT_B * S * ATT_D], q[ATT_MOST], kv[2][ATT_MOST], bias[ATT_MOST], y[ATT_MOST];
        compute_rand(c, "x", "float32[2,3,5]", x, ATT_B * S * X);
        compute_rand(c, "w", "float32[5,24]", w, X * 3 * ATT_D);
        compute_rand(c, "b", "float32[24]", b, 3 * ATT_D);
        compute_rand(c, "p", "float32[2,2,2,2,4]", past, 64);
        if (!has_past) mask[0] = 2, mask[1] = 3;
        compute_const(c, "m", "int32[4]", mask, 4); /* ends, then beginnings */
        for (int i = 0; i < ATT_B * S * 3 * ATT_D; i++) {
            const int column = i % (3 * ATT_D), row = i / (3 * ATT_D);
            double sum = b[column];
            for (int k = 0; k < X; k++)
                sum += x[row * X + k] * w[k * 3 * ATT_D + column];
            qkv[column / ATT_D][row * ATT_D + column % ATT_D] = sum;
        }
        att_by_heads(qkv[0], NULL, ATT_B, S, ATT_N, ATT_H, 0, q);
        for (int k = 0; k < 2; k++) {
            att_by_heads(qkv[1 + k], NULL, ATT_B, S, ATT_N, ATT_H, p, kv[k]);
            att_before(past + k * 32, ATT_B * ATT_N, p, S, ATT_H, kv[k]);
        }
        for (int k = 0; k < ATT_B * ATT_N * S * t; k++) {
            const int key = k % t, s = k / t % S, batch = k / t / S / ATT_N;
            bias[k] = key < mask[batch] && key >= mask[2 + batch] ? 0 : -100.0;
            if (key > p + s) bias[k] = -INFINITY;
        }
        const att_case plain = {ATT_B, ATT_N, ATT_N, S, t, ATT_H, 0.5, 0, 0, false};
        att_plain(&plain, q, kv[0], kv[1], bias, y);
        if (compute_run(c,
                        has_past
                            ? "%y, %y1 = com.microsoft:Attention(%x, %w, %b, %m, %p) {num_heads=2, "
                              "unidirectional=1, mask_filter_value=-100.0}"
                            : "%y, %y1 = com.microsoft:Attention(%x, %w, %b, %m) {num_heads=2, "
                              "unidirectional=1, mask_filter_value=-100.0}",
                        2)) {
            compute_near(c, 0, y, ATT_B * S * ATT_D, 1e-4);
            if (!CHECK_EQ_INT(c->count[1], 2 * ATT_B * ATT_D * t)) return;
            for (int k = 0; k < 2; k++)
                for (int i = 0; i < ATT_B * ATT_D * t; i++)
                    CHECK_NEAR(c->out[1][k * ATT_B * ATT_D * t + i], kv[k][i], 1e-5);
        }
        compute_free(c);
    }
}

/* ---- RotaryEmbedding ------------------------------------------------------------------------ */

/* Pairs of the first `turned` of `size` elements of each row turned by the angle at place[row]. */
static void att_turn(double *x, int rows, int size, int turned, bool is_interleaved,
                     const double *cosine, const double *sine, const int *place)
{
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < turned / 2; k++) {
            const int i = is_interleaved ? 2 * k : k,
                      j = is_interleaved ? 2 * k + 1 : k + turned / 2;
            const double c = cosine[place[r] * turned / 2 + k], s = sine[place[r] * turned / 2 + k];
            const double p = x[r * size + i], q = x[r * size + j];
            x[r * size + i] = c * p - s * q;
            x[r * size + j] = s * p + c * q;
        }
}

static void att_rotary(void)
{
    static const char *const nodes[] = {
        "%y = com.microsoft:RotaryEmbedding(%x, %p, %c, %s)",
        "%y = com.microsoft:RotaryEmbedding(%x, %p, %c, %s) {interleaved=1}",
        "%y = com.microsoft:RotaryEmbedding(%x, %o, %c, %s) {num_heads=2}",
        "%y = com.microsoft:RotaryEmbedding(%z, %o, %c, %s) {num_heads=1, rotary_embedding_dim=4}",
    };
    for (int i = 0; i < 4; i++) {
        compute *c = compute_new();
        double x[48], p[6], cosine[20], sine[20];
        int place[12];
        compute_rand(c, "x", "float32[2,3,8]", x, 48);
        compute_const(c, "z", "float32[2,3,8]", x, 48);
        compute_codes(c, "p", "int64[2,3]", p, 6, 0, 10);
        compute_const(c, "o", "int64[1]", (double[]){4}, 1);
        compute_rand(c, "c", "float32[10,2]", cosine, 20);
        compute_rand(c, "s", "float32[10,2]", sine, 20);
        const int rows = i == 3 ? 6 : 12, size = i == 3 ? 8 : 4;
        for (int r = 0; r < rows; r++) {
            const int row = i == 3 ? r : r / 2;
            place[r] = i < 2 ? (int)p[row] : 4 + row % 3;
        }
        att_turn(x, rows, size, 4, i == 1, cosine, sine, place);
        if (compute_run(c, nodes[i], 1)) compute_near(c, 0, x, 48, 1e-6);
        compute_free(c);
    }
}

/* ---- GroupQueryAttention -------------------------------------------------------------------- */

typedef struct att_group {
    int s, p, total[2], window;
    double cap;
    bool is_packed, turns, has_sink;
} att_group;

static void att_group_run(const att_group *g)
{
    enum { N = 4, K = 2, H = 4, PLACES = 12 };
    const int s = g->s, p = g->p, t = g->total[0] > g->total[1] ? g->total[0] : g->total[1];
    const int room = t > p ? t : p;
    compute *c = compute_new();
    double x[3][ATT_MOST], all[ATT_MOST], past[2][ATT_MOST], q[ATT_MOST], now[2][ATT_MOST];
    double kv[2][ATT_MOST] = {{0}}, bias[ATT_MOST], y[ATT_MOST], cosine[24], sine[24], last[2];
    char type[64], node[512];
    const int width[] = {N * H, K * H, K * H};
    for (int k = 0; k < 3; k++) {
        snprintf(type, sizeof type, "float32[2,%d,%d]", s, width[k]);
        compute_rand(c, (const char *[]){"q", "k", "v"}[k], type, x[k], 2 * s * width[k]);
    }
    for (int row = 0; row < 2 * s; row++)
        for (int k = 0, at = row * (N + 2 * K) * H; k < 3; at += width[k++])
            memcpy(all + at, x[k] + row * width[k], (size_t)width[k] * sizeof *all);
    snprintf(type, sizeof type, "float32[2,%d,%d]", s, (N + 2 * K) * H);
    compute_const(c, "all", type, all, 2 * s * (N + 2 * K) * H);
    snprintf(type, sizeof type, "float32[2,2,%d,4]", p);
    compute_rand(c, "pk", type, past[0], 4 * p * H);
    compute_rand(c, "pv", type, past[1], 4 * p * H);
    for (int b = 0; b < 2; b++)
        last[b] = g->total[b] - 1;
    compute_const(c, "n", "int32[2]", last, 2);
    compute_const(c, "t", "int32[]", (double[]){t}, 1);
    compute_rand(c, "c", "float32[12,2]", cosine, 24);
    compute_rand(c, "s", "float32[12,2]", sine, 24);
    compute_const(c, "sink", "float32[4]", (double[]){0.5, 0.5, 0.5, 0.5}, 4);
    att_by_heads(x[0], NULL, 2, s, N, H, 0, q);
    att_by_heads(x[1], NULL, 2, s, K, H, 0, now[0]);
    att_by_heads(x[2], NULL, 2, s, K, H, 0, now[1]);
    for (int b = 0; b < 2; b++) {
        int place[N * 8];
        const int before = p == 0 || g->total[b] < s ? 0 : g->total[b] - s;
        for (int r = 0; r < N * s; r++)
            place[r] = before + r % s;
        if (g->turns) {
            att_turn(q + b * N * s * H, N * s, H, 4, false, cosine, sine, place);
            att_turn(now[0] + b * K * s * H, K * s, H, 4, false, cosine, sine, place);
        }
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < K * room * H; i++) { /* the cache as it will be */
                const int row = i / H % room, plane = b * K + i / H / room, e = i % H;
                double *to = &kv[k][b * K * room * H + i];
                if (row < before)
                    *to = past[k][(plane * p + row) * H + e];
                else if (row < before + s)
                    *to = now[k][(plane * s + row - before) * H + e];
            }
        for (int i = 0; i < N * s * room; i++) {
            const int key = i % room, at = before + i / room % s;
            const int place_of = at < g->total[b] ? at : g->total[b] - 1;
            const bool seen = key <= place_of && (g->window < 0 || key > place_of - g->window);
            bias[b * N * s * room + i] = seen ? 0 : -INFINITY;
        }
    }
    const att_case plain = {2, N, K, s, room, H, 0.5, g->cap, 0.5, g->has_sink};
    att_plain(&plain, q, kv[0], kv[1], bias, y);
    snprintf(node, sizeof node,
             "%%y, %%y1, %%y2 = com.microsoft:GroupQueryAttention(%s, %s, %%n, %%t, %s, _, _, %s) "
             "{num_heads=4, kv_num_heads=2, local_window_size=%d, softcap=%.1f, do_rotary=%d}",
             g->is_packed ? "%all, _, _" : "%q, %k, %v", p == 0 ? "_, _" : "%pk, %pv",
             g->turns ? "%c, %s" : "_, _", g->has_sink ? "%sink" : "_", g->window, g->cap,
             g->turns);
    if (compute_run(c, node, 3)) {
        compute_near(c, 0, y, 2 * s * N * H, 1e-5);
        compute_near(c, 1, kv[0], 2 * K * room * H, 1e-6);
        compute_near(c, 2, kv[1], 2 * K * room * H, 1e-6);
    }
    compute_free(c);
}

static void att_groups(void)
{
    static const att_group table[] = {
        {.s = 3, .total = {3, 3}, .window = -1},
        {.s = 4, .total = {4, 2}, .window = -1, .turns = true},
        {.s = 1, .p = 4, .total = {5, 5}, .window = -1, .is_packed = true, .turns = true},
        {.s = 1, .p = 4, .total = {5, 3}, .window = 2, .cap = 1.5},
        {.s = 2, .p = 3, .total = {5, 4}, .window = 3, .has_sink = true, .turns = true},
        {.s = 2, .p = 6, .total = {4, 3}, .window = -1, .turns = true},    /* room for more */
        {.s = 3, .p = 5, .total = {3, 2}, .window = 2, .is_packed = true}, /* a first piece */
    };
    for (size_t i = 0; i < HG_COUNT(table); i++)
        att_group_run(&table[i]);
}

static void att_types(void)
{
    static const rule table[] = {
        {"%q: float32[b,s,64], %k: float32[b,l,64], %v: float32[b,l,32]",
         "%y = com.microsoft:MultiHeadAttention(%q, %k, %v) {num_heads=8}", "float32[b,s,32]"},
        {"%q: float32[b,s,64], %k: float32[b,l,64], %v: float32[b,l,64], %p: float32[b,8,n,8]",
         "%x, %y = com.microsoft:MultiHeadAttention(%q, %k, %v, _, _, _, %p, %p) {num_heads=8}",
         "float32[b,s,64], float32[b,8,l+n,8]"},
        {"%q: float32[b,s,64]", "%y = com.microsoft:MultiHeadAttention(%q) {num_heads=8}",
         "!a query of rank 3"},
        {"%q: float32[b,s,64], %k: float32[b,l,64]",
         "%y = com.microsoft:MultiHeadAttention(%q, %k) {num_heads=8}", "!values must come"},
        {"%q: float32[b,s,64], %k: float32[b,l,64], %v: float32[b,l,64]",
         "%y = com.microsoft:MultiHeadAttention(%q, %k, %v)", "!num_heads is 0"},
        {"%q: float32[b,s,63], %k: float32[b,l,63], %v: float32[b,l,63]",
         "%y = com.microsoft:MultiHeadAttention(%q, %k, %v) {num_heads=8}",
         "!63 columns cannot be divided into 8 heads"},
        {"%q: float32[b,s,64], %k: float32[b,l,64], %v: float32[b,l,64], %p: float32[b,8,n,8]",
         "%y = com.microsoft:MultiHeadAttention(%q, %k, %v, _, _, _, %p) {num_heads=8}",
         "!past_key and past_value must come together"},
        {"%x: float32[b,s,16], %w: float32[16,192], %p: float32[2,b,8,n,8]",
         "%z, %y = com.microsoft:Attention(%x, %w, _, _, %p) {num_heads=8}",
         "float32[b,s,64], float32[2,b,8,n+s,8]"},
        {"%x: float32[b,s,16], %w: float32[16,100]",
         "%y = com.microsoft:Attention(%x, %w) {num_heads=4, qkv_hidden_sizes=[32,32,36]}",
         "float32[b,s,36]"},
        {"%x: float32[b,s,16], %w: float32[16,100]",
         "%y = com.microsoft:Attention(%x, %w) {num_heads=4, qkv_hidden_sizes=[32,32,32]}",
         "!columns of Q, K and V"},
        {"%x: float32[b,s,16], %w: float32[16,96]",
         "%y = com.microsoft:Attention(%x, %w) {num_heads=4, do_rotary=1}",
         "!do_rotary is not supported"},
        {"%q: float32[b,s,64], %k: float32[b,s,16], %n: int32[b], %t: int32[], %p: "
         "float32[b,2,m,8]",
         "%x, %y = com.microsoft:GroupQueryAttention(%q, %k, %k, %p, %p, %n, %t) {num_heads=8, "
         "kv_num_heads=2}",
         "float32[b,s,64], float32[b,2,max(m,'t[0]'),8]"},
        {"%q: float32[b,s,64], %k: float32[b,s,24], %n: int32[b], %t: int32[]",
         "%y = com.microsoft:GroupQueryAttention(%q, %k, %k, _, _, %n, %t) {num_heads=8, "
         "kv_num_heads=3}",
         "!num_heads is 8, expected a multiple of 3"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, _, _, %n, %t) {num_heads=8, "
         "kv_num_heads=8, do_rotary=1}",
         "!do_rotary needs cos_cache"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, _, _, %n, %t) {num_heads=8, "
         "kv_num_heads=8, local_window_size=0}",
         "!local_window_size is 0"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, _, _, %n, %t) {num_heads=8, "
         "kv_num_heads=8, k_quant_type=\"PER_TENSOR\"}",
         "!v_quant_type \"NONE\", expected both"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, _, _, %n, %t) {num_heads=8, "
         "kv_num_heads=8, k_quant_type=\"PER_TOKEN\", v_quant_type=\"PER_TOKEN\"}",
         "!k_quant_type is \"PER_TOKEN\""},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, _, _, %n, %t) {num_heads=8, "
         "kv_num_heads=8, kv_cache_bit_width=8}",
         "!kv_cache_bit_width is 8, expected 0"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, _, _, %n, %t) {num_heads=8, "
         "kv_num_heads=8, k_quant_type=\"PER_TENSOR\", v_quant_type=\"PER_TENSOR\", "
         "kv_cache_bit_width=2}",
         "!kv_cache_bit_width is 2, expected 4 or 8"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, _, _, %n, %t) {num_heads=8, "
         "kv_num_heads=8, k_quant_type=\"PER_TENSOR\", v_quant_type=\"PER_TENSOR\", "
         "kv_cache_bit_width=8}",
         "!input 12, the scale of a cache of codes, is missing"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[], %s: float32[3]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, _, _, %n, %t, _, _, _, _, _, %s, %s) "
         "{num_heads=8, kv_num_heads=8, k_quant_type=\"PER_TENSOR\", "
         "v_quant_type=\"PER_TENSOR\", kv_cache_bit_width=8}",
         "!input 12 does not have one scale"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[], %s: float32[], %p: float32[b,8,m,8]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, %p, %p, %n, %t, _, _, _, _, _, %s, %s)"
         " {num_heads=8, kv_num_heads=8, k_quant_type=\"PER_TENSOR\", "
         "v_quant_type=\"PER_TENSOR\", kv_cache_bit_width=8}",
         "!input 3 has element type float32"},
        {"%q: float32[b,s,40], %n: int32[b], %t: int32[], %s: float32[], %p: uint8[b,8,m,2]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, %p, %p, %n, %t, _, _, _, _, _, %s, %s)"
         " {num_heads=8, kv_num_heads=8, k_quant_type=\"PER_TENSOR\", "
         "v_quant_type=\"PER_TENSOR\", kv_cache_bit_width=4}",
         "!an even number of columns"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[], %s: float32[], %p: uint8[b,8,m,4]",
         "%x, %y = com.microsoft:GroupQueryAttention(%q, %q, %q, %p, %p, %n, %t, _, _, _, _, _, %s,"
         " %s) {num_heads=8, kv_num_heads=8, k_quant_type=\"PER_TENSOR\", "
         "v_quant_type=\"PER_TENSOR\", kv_cache_bit_width=4}",
         "float32[b,s,64], uint8[b,8,max(m,'t[0]'),4]"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[], %p: float32[b,8,7,8]",
         "%x, %y = com.microsoft:GroupQueryAttention(%q, %q, %q, %p, %p, %n, %t) {num_heads=8, "
         "kv_num_heads=8, sliding_window_cache=1, local_window_size=4}",
         "float32[b,s,64], float32[b,8,7,8]"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[], %p: float32[b,8,7,8]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, %p, %p, %n, %t) {num_heads=8, "
         "kv_num_heads=8, sliding_window_cache=1}",
         "!needs a local_window_size"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, _, _, %n, %t) {num_heads=8, "
         "kv_num_heads=8, sliding_window_cache=1, local_window_size=4}",
         "!needs past_key and past_value"},
        {"%q: float32[b,s,64], %n: int32[b], %t: int32[], %p: float32[b,8,7,8], %a: "
         "float32[1,1,s,9]",
         "%y = com.microsoft:GroupQueryAttention(%q, %q, %q, %p, %p, %n, %t, _, _, _, %a) "
         "{num_heads=8, kv_num_heads=8, sliding_window_cache=1, local_window_size=4}",
         "!cannot be combined with attention_bias"},
        {"%q: float32[b,s,64], %k: float32[b,s,64], %p: float32[b,8,m,8], %l: int32[1], %i: "
         "int32[3,2,m]",
         "%y = com.microsoft:MultiHeadAttention(%q, %k, %k, _, _, _, %p, %p, %l, %i) {num_heads=8}",
         "float32[b,s,64]"},
        {"%q: float32[4,s,64], %p: float32[4,8,m,8], %l: int32[1], %i: int32[3,2,m]",
         "%y = com.microsoft:MultiHeadAttention(%q, %q, %q, _, _, _, %p, %p, %l, %i) {num_heads=8}",
         "!the beams of the batch"},
        {"%q: float32[4,s,64], %p: float32[4,8,m,8], %l: int32[1], %i: int64[2,2,m]",
         "%y = com.microsoft:MultiHeadAttention(%q, %q, %q, _, _, _, %p, %p, %l, %i) {num_heads=8}",
         "!input 9 has element type int64"},
        {"%x: float32[b,s,64], %p: int64[b,s], %c: float32[9,4]",
         "%y = com.microsoft:RotaryEmbedding(%x, %p, %c, %c) {scale=2.0, is_packed_batching=1}",
         "float32[b,s,64]"},
    };
    RULES(table);
}

const hg_test_case hg_tests_op_microsoft_attention[] = {
    {"multihead", att_multihead}, {"layouts", att_layouts},
    {"half", att_half},           {"projected", att_projected},
    {"rotary", att_rotary},       {"groups", att_groups},
    {"types", att_types},         {0},
};

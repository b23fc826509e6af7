/* igemm.c - blocks of rows times groups of panels, zero points and epilogues of 8-bit products.
 *
 * A unit is a block of rows times a group of panels of one channel group; units that follow each
 * other share their rows, which are gathered once. K is never split: four codes of a row and of 16
 * columns are one multiply-add each, so a sum stays in its register. */
#include "kernel/igemm.h"

#include "kernel/pack.h"

enum {
    IGEMM_ROW_STEP = 6,  /* rows of a tile, */
    IGEMM_WIDE_STEP = 4, /* of 16-bit codes */
    IGEMM_ROW_BLOCK = 96,
    IGEMM_WIDE_BLOCK = 144,   /* of 16-bit codes: panels are widened once for so many rows */
    IGEMM_MAX_GROUP = 12,     /* panels of a unit; keeps enough units when rows are few */
    IGEMM_PANEL_STEP = 4,     /* panels of the widest tile: three are two and one */
    IGEMM_TILE_VALUES = 6144, /* wanted size of the block an epilogue sees */
    IGEMM_WIDE_VALUES = 9216,
    IGEMM_GATHERED = 1 << 17 /* wanted bytes of gathered rows */
};

/* ---- checks ------------------------------------------------------------------------------- */

holo_status hg_igemm_check_packed(const hg_args *a, holo_error *e, int64_t columns, int64_t k)
{
    const holo_tensor *w = &a->in[1];
    const int64_t expected[3] = {hg_panels(columns), hg_quads(k) + 1, HG_QUAD_BYTES};
    for (int d = 0; d < 3; d++)
        HG_REQUIRE(e, w->dim[w->rank - 3 + d] == expected[d], HOLO_E_SHAPE,
                   "dimension %d of the packed codes is %lld, expected %lld", w->rank - 3 + d,
                   (long long)w->dim[w->rank - 3 + d], (long long)expected[d]);
    return HOLO_OK;
}

/* The last input of those in `a`: an entry for each byte, of the type of the codes. */
static holo_status igemm_check_table(const hg_args *a, holo_error *e, const holo_tensor *codes)
{
    HG_REQUIRE(e, a->n_in > HG_IGEMM_FIRST_EXTRA, HOLO_E_FORMAT, "%u inputs, expected a table",
               a->n_in);
    const holo_tensor *t = &a->in[a->n_in - 1];
    HG_TRY(hg_check_in_type(a, e, a->n_in - 1, HG_IGEMM_CODES));
    HG_TRY(hg_check_same_type(t, codes, e, "table"));
    HG_TRY(hg_check_rank(t, e, "table", 1, 1));
    HG_REQUIRE(e, t->dim[0] == 256, HOLO_E_SHAPE, "table has %lld entries, expected 256",
               (long long)t->dim[0]);
    return HOLO_OK;
}

/* Tables are inputs behind those of the epilogue. */
static holo_status igemm_check_tables(const hg_args *a, holo_error *e, int64_t form)
{
    hg_args rest = *a;
    if ((form & HG_IGEMM_LOAD) != 0) {
        HG_TRY(igemm_check_table(&rest, e, &a->in[0]));
        rest.n_in--;
    }
    if ((form & HG_IGEMM_LOOKUP) != 0) {
        HG_REQUIRE(e, a->code != NULL, HOLO_E_FORMAT, "a table without codes to look up");
        HG_TRY(igemm_check_table(&rest, e, &a->out[0]));
        rest.n_in--;
    }
    return hg_igemm_check_end(&rest, e);
}

const uint8_t *hg_igemm_load(const hg_args *a, uint32_t form)
{
    return (a->param[form] & HG_IGEMM_LOAD) != 0 ? a->in[a->n_in - 1].data : NULL;
}

const uint8_t *hg_igemm_lookup(const hg_args *a, uint32_t form)
{
    const uint32_t behind = (a->param[form] & HG_IGEMM_LOAD) != 0;
    return (a->param[form] & HG_IGEMM_LOOKUP) != 0 ? a->in[a->n_in - 1 - behind].data : NULL;
}

holo_status hg_igemm_check(const hg_args *a, holo_error *e, int64_t rows, int64_t columns,
                           uint32_t form)
{
    HG_TRY(hg_check_param(a, e, form, "form", 0, HG_IGEMM_FORMS));
    if (hg_args_has(a, HG_IGEMM_ZERO_A)) {
        const holo_tensor *z = &a->in[HG_IGEMM_ZERO_A];
        HG_TRY(hg_check_same_type(z, &a->in[0], e, "zero point"));
        const int64_t count = holo_tensor_count(z);
        HG_REQUIRE(e, count == 1 || count == rows, HOLO_E_SHAPE,
                   "%lld zero points for %lld rows, expected 1 or one each", (long long)count,
                   (long long)rows);
    }
    if (hg_args_has(a, HG_IGEMM_ZERO_B)) {
        HG_TRY(hg_check_in_type(a, e, HG_IGEMM_ZERO_B, HG_TYPE_BIT(HOLO_I32)));
        const int64_t count = holo_tensor_count(&a->in[HG_IGEMM_ZERO_B]);
        HG_REQUIRE(e, count == columns, HOLO_E_SHAPE, "%lld zero points for %lld columns",
                   (long long)count, (long long)columns);
    }
    return igemm_check_tables(a, e, a->param[form]);
}

holo_status hg_igemm_check_end(const hg_args *a, holo_error *e)
{
    if (a->code == NULL)
        HG_REQUIRE(e, a->n_in <= HG_IGEMM_FIRST_EXTRA && a->out[0].dtype == HOLO_I32, HOLO_E_TYPE,
                   "%u inputs and a result of type %s without an epilogue, expected at most %d and "
                   "int32",
                   a->n_in, holo_dtype_text(a->out[0].dtype), HG_IGEMM_FIRST_EXTRA);
    return a->code == NULL ? HOLO_OK : hg_epilogue_check(a, e, HG_IGEMM_FIRST_EXTRA, 1, HOLO_I32);
}

/* ---- units -------------------------------------------------------------------------------- */

typedef struct igemm_plan {
    int64_t quads;
    hg_cut row;
    int64_t group, groups; /* panels of a unit; units of a channel group */
} igemm_plan;

static igemm_plan igemm_plan_of(const hg_igemm *g)
{
    igemm_plan p = {.quads = hg_quads(g->k)};
    const int64_t rows = hg_max(1, g->rows), panels = hg_max(1, g->panels);
    const int64_t depth = hg_max(1, p.quads * HG_QUAD);
    const int64_t block = g->is_wide ? IGEMM_WIDE_BLOCK : IGEMM_ROW_BLOCK;
    const int64_t step = g->is_wide ? IGEMM_WIDE_STEP : IGEMM_ROW_STEP;
    const int64_t most = hg_max(step, hg_min(block, IGEMM_GATHERED / depth));
    p.row = hg_cut_of(rows, most, step);
    const int64_t values = g->is_wide ? IGEMM_WIDE_VALUES : IGEMM_TILE_VALUES;
    p.group = hg_min(IGEMM_MAX_GROUP, hg_max(1, values / HG_PANEL / p.row.size));
    if (p.group > IGEMM_PANEL_STEP) p.group -= p.group % IGEMM_PANEL_STEP;
    p.groups = hg_ceil_div(panels, hg_min(panels, p.group));
    p.group = hg_min(p.group, hg_ceil_div(hg_ceil_div(panels, p.groups), IGEMM_PANEL_STEP) *
                                  IGEMM_PANEL_STEP);
    p.group = hg_min(p.group, panels);
    p.groups = hg_ceil_div(panels, p.group);
    return p;
}

void hg_igemm_cost(const hg_igemm *g, hg_cost *cost)
{
    cost->flops = 2.0 * (double)g->rows * (double)(g->columns * g->groups) * (double)g->k;
}

int64_t hg_igemm_units(const hg_igemm *g)
{
    const igemm_plan p = igemm_plan_of(g);
    return holo_tensor_count(&g->args->out[0]) == 0 ? 0 : p.row.count * g->groups * p.groups;
}

/* Scratch: sums, gathered rows, the same widened, a panel widened, zero points, sums of rows,
 * padded zero points of the right side, the epilogue's own. */
static size_t igemm_sum_bytes(const igemm_plan *p)
{
    return (size_t)(p->row.size * p->group * HG_PANEL) * sizeof(int32_t);
}

/* Of one row of the left side. */
static int64_t igemm_width(const hg_igemm *g, int64_t codes)
{
    return g->is_wide ? codes * 2 : codes;
}

static size_t igemm_row_bytes(const hg_igemm *g, const igemm_plan *p)
{
    if (g->direct != NULL && !g->loads) return 0;
    const int64_t width = igemm_width(g, p->quads * HG_QUAD);
    return hg_align_up((size_t)(p->row.size * width), HG_ALIGN);
}

static size_t igemm_wide_bytes(const hg_igemm *g, const igemm_plan *p, const hg_igemm_form *form)
{
    return form->widens && (!g->pairs || form->widens_pairs)
               ? hg_align_up((size_t)(p->row.size * p->quads * HG_QUAD) * 2, HG_ALIGN)
               : 0;
}

static size_t igemm_panel_bytes(const igemm_plan *p, const hg_igemm_form *form)
{
    return form->widens_panel ? (size_t)(p->quads * HG_QUAD * HG_PANEL) * 2 : 0;
}

static size_t igemm_zero_bytes(const igemm_plan *p)
{
    return hg_align_up((size_t)p->row.size * sizeof(int32_t), HG_ALIGN);
}

size_t hg_igemm_scratch(const hg_igemm *g, const hg_igemm_form *form)
{
    const igemm_plan p = igemm_plan_of(g);
    if (hg_igemm_units(g) == 0) return 0; /* the sizes that remain may be anything */
    return igemm_sum_bytes(&p) + igemm_row_bytes(g, &p) + igemm_wide_bytes(g, &p, form) +
           igemm_panel_bytes(&p, form) + 2 * igemm_zero_bytes(&p) +
           (size_t)(p.group * HG_PANEL) * sizeof(int32_t) + hg_epilogue_scratch(g->args);
}

/* ---- run ---------------------------------------------------------------------------------- */

typedef struct igemm_unit {
    const hg_igemm *g;
    const hg_igemm_form *form;
    igemm_plan p;
    int32_t *sum, *zero_a, *rest, *zero_b;
    uint8_t *gathered;
    int16_t *wide, *panel_room;
    const uint8_t *load; /* as of unsigned codes; NULL: none */
    int64_t row, rows, channel_group, panel, panels;
    bool *is_wide;
    bool is_met;
} igemm_unit;

void hg_igemm_lift(uint8_t *dst, const uint8_t *src, int64_t count, bool is_signed)
{
    const uint64_t flip = UINT64_C(0x8080808080808080);
    int64_t i = 0;
    if (!is_signed) {
        memcpy(dst, src, (size_t)count);
        return;
    }
    for (; i + 8 <= count; i += 8) {
        uint64_t codes;
        memcpy(&codes, src + i, sizeof codes);
        codes ^= flip;
        memcpy(dst + i, &codes, sizeof codes);
    }
    for (; i < count; i++)
        dst[i] = src[i] ^ HG_CODE_LIFT;
}

/* One zero point for all rows. */
static bool igemm_is_single(const hg_args *a)
{
    return !hg_args_has(a, HG_IGEMM_ZERO_A) || holo_tensor_count(&a->in[HG_IGEMM_ZERO_A]) == 1;
}

uint8_t hg_igemm_zero(const hg_args *a, int64_t row)
{
    const holo_tensor *z = &a->in[HG_IGEMM_ZERO_A];
    uint8_t code = 0;
    if (hg_args_has(a, HG_IGEMM_ZERO_A))
        code = ((const uint8_t *)z->data)[igemm_is_single(a) ? 0 : row];
    return a->in[0].dtype == HOLO_I8 ? code ^ HG_CODE_LIFT : code;
}

static const uint8_t *igemm_rows(const igemm_unit *u, int64_t *lda)
{
    if (u->g->direct == NULL || u->load != NULL) {
        *lda = igemm_width(u->g, u->p.quads * HG_QUAD);
        return u->gathered;
    }
    *lda = igemm_width(u->g, u->g->k);
    return u->g->direct + u->row * *lda;
}

static uint32_t igemm_sum(const uint8_t *a, int64_t count)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i];
    return sum;
}

/* rest = sum of the row - K zero_a */
static void igemm_sum_rows(const igemm_unit *u)
{
    int64_t lda;
    const uint8_t *a = igemm_rows(u, &lda);
    uint32_t (*add)(const uint8_t *, int64_t) = u->form->sum == NULL ? igemm_sum : u->form->sum;
    for (int64_t i = 0; i < u->rows; i++) {
        const uint32_t sum = add(a + i * lda, u->g->k);
        u->rest[i] = (int32_t)(sum - (uint32_t)u->g->k * (uint32_t)u->zero_a[i]);
    }
}

static void igemm_look_each(const uint8_t *entry, const uint8_t *codes, uint8_t *out, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = entry[codes[i]];
}

/* Few codes are not worth preparing a table for. */
static void igemm_look(const hg_igemm_form *form, const uint8_t *entry, const uint8_t *codes,
                       uint8_t *out, int64_t count)
{
    const bool each = form->lookup == NULL || count < HG_PANEL;
    (each ? igemm_look_each : form->lookup)(entry, codes, out, count);
}

/* Codes behind the last of a row meet weights of 0, whatever the table makes of them. */
static void igemm_gather(const igemm_unit *u)
{
    const hg_igemm *g = u->g;
    const int64_t count = u->rows * u->p.quads * HG_QUAD;
    if (u->load != NULL && g->direct != NULL) {
        igemm_look(u->form, u->load, g->direct + u->row * g->k, u->gathered, count);
        return;
    }
    if (g->direct == NULL) g->gather(g, u->row, u->rows, u->channel_group, u->gathered);
    if (u->load != NULL) igemm_look(u->form, u->load, u->gathered, u->gathered, count);
}

static void igemm_prepare_rows(igemm_unit *u)
{
    const hg_igemm *g = u->g;
    igemm_gather(u);
    const bool is_single = igemm_is_single(g->args);
    const int32_t zero = is_single ? hg_igemm_zero(g->args, 0) : 0;
    for (int64_t i = 0; i < u->rows; i++)
        u->zero_a[i] = is_single ? zero : hg_igemm_zero(g->args, u->row + i);
    if (hg_args_has(g->args, HG_IGEMM_ZERO_B)) igemm_sum_rows(u);
    if (u->form->meet == NULL) return;
    int64_t lda;
    const uint8_t *a = igemm_rows(u, &lda);
    u->is_met = u->form->meet((const int16_t *)(const void *)a, lda / 2, u->rows, u->rest);
}

/* Zero points of the columns of this unit; columns beyond the last have none. */
static const int32_t *igemm_columns(const igemm_unit *u, int64_t first, int64_t cols)
{
    const hg_args *a = u->g->args;
    if (!hg_args_has(a, HG_IGEMM_ZERO_B)) return NULL;
    memset(u->zero_b, 0, (size_t)(u->panels * HG_PANEL) * sizeof *u->zero_b);
    memcpy(u->zero_b, (const int32_t *)a->in[HG_IGEMM_ZERO_B].data + first,
           (size_t)cols * sizeof *u->zero_b);
    return u->zero_b;
}

static void igemm_store(const hg_args *a, const hg_epilogue_tile *t)
{
    const int64_t n = a->out[0].dim[a->out[0].rank - 1];
    for (int64_t i = 0; i < t->rows; i++)
        memcpy((int32_t *)a->out[0].data + (t->row + i) * n + t->col,
               (const int32_t *)t->data + i * t->ld, (size_t)t->cols * sizeof(int32_t));
}

void hg_igemm_end_init(hg_igemm_end *end, const hg_args *a, const hg_igemm_form *form,
                       void *scratch)
{
    end->args = a;
    end->form = form;
    end->finish.is_requant = false;
    end->finish.lookup = NULL;
    end->is_chain = end->requants = false;
    end->lookup = NULL;
    if (a->code == NULL) return;
    hg_epilogue_init(&end->epilogue, a, HG_IGEMM_FIRST_EXTRA, 1, form->lane, scratch);
    if (form->finish != NULL) end->is_chain = hg_finish_read(a, HG_IGEMM_FIRST_EXTRA, &end->finish);
}

/* The tile's codes in the output, all rows at once where these follow each other. */
static void igemm_look_tile(const hg_igemm_end *end, const hg_epilogue_tile *tile)
{
    const holo_tensor *out = &end->args->out[0];
    const int64_t columns = out->dim[out->rank - 1];
    const bool is_whole = tile->cols == columns;
    uint8_t *codes = (uint8_t *)out->data + tile->row * columns + tile->col;
    for (int64_t i = 0; i < (is_whole ? 1 : tile->rows); i++)
        igemm_look(end->form, end->lookup, codes + i * columns, codes + i * columns,
                   is_whole ? tile->rows * columns : tile->cols);
}

void hg_igemm_end_run(const hg_igemm_end *end, const hg_epilogue_tile *tile)
{
    hg_epilogue_tile rest = *tile;
    if (end->args->code == NULL) {
        igemm_store(end->args, tile);
        return;
    }
    if (end->is_chain) end->form->finish(&end->finish, tile, &rest);
    hg_epilogue_run(&end->epilogue, &rest);
    if (end->lookup == NULL) return;
    const int64_t done = end->finish.lookup == NULL ? 0 : tile->cols / HG_PANEL * HG_PANEL;
    rest = *tile;
    rest.col += done;
    rest.cols -= done;
    if (rest.cols > 0) igemm_look_tile(end, &rest);
}

/* Panels [panel, panel + panels) of the unit. */
static void igemm_run_panels(const igemm_unit *u, const hg_igemm_end *end, int64_t panel,
                             int64_t panels, bool requants)
{
    const hg_igemm *g = u->g;
    const int64_t ld = u->p.group * HG_PANEL, begin = u->panel + panel;
    const int64_t first = u->channel_group * g->columns + begin * HG_PANEL;
    const int64_t cols = hg_min(panels * HG_PANEL, g->columns - begin * HG_PANEL);
    const int64_t panel_bytes = hg_igemm_panel_bytes(u->p.quads);
    const int8_t *b =
        (const int8_t *)g->args->in[1].data + u->channel_group * g->panels * panel_bytes;
    hg_igemm_tile t = {.b = b + begin * panel_bytes,
                       .b_end = b + g->panels * panel_bytes,
                       .quads = u->p.quads,
                       .panels = panels,
                       .c = u->sum,
                       .ldc = ld,
                       .zero_b = igemm_columns(u, first, cols),
                       .pairs = g->pairs,
                       .wide = u->wide,
                       .is_wide = u->is_wide,
                       .panel = u->panel_room,
                       .requant = requants ? &end->finish : NULL,
                       .out_col = first,
                       .is_met = u->is_met,
                       .is_single = igemm_is_single(g->args)};
    hg_epilogue_tile tile = {
        .data = u->sum, .ld = ld, .dtype = HOLO_I32, .col = first, .cols = cols};
    const uint8_t *a = igemm_rows(u, &t.lda);
    const holo_tensor *out = &g->args->out[0];
    t.out_size = (int64_t)(holo_tensor_bytes(out) / (size_t)holo_tensor_count(out));
    t.out_step = g->groups * g->columns * t.out_size;
    const bool rests = t.zero_b != NULL || u->form->meet != NULL;
    t.is_even = t.zero_b == NULL && t.is_single;
    for (; t.done < u->rows; t.done += t.rows) {
        t.rows = u->form->rows == 0 ? u->rows : hg_min(u->form->rows, u->rows - t.done);
        t.a = a + t.done * t.lda;
        t.zero_a = u->zero_a + t.done;
        t.rest = rests ? u->rest + t.done : NULL;
        tile.row = t.out_row = u->row + t.done;
        t.out = (const char *)out->data + t.out_row * t.out_step + first * t.out_size;
        tile.rows = t.rows;
        u->form->tile(&t);
        if (!requants)
            hg_igemm_end_run(end, &tile);
        else if (end->lookup != end->finish.lookup)
            igemm_look_tile(end, &tile);
    }
}

/* Codes are made with the sums where the form can; the rest of a panel's columns go the long way.
 */
static void igemm_run_unit(const igemm_unit *u, const hg_igemm_end *end)
{
    const int64_t whole = hg_min(u->panels, u->g->columns / HG_PANEL - u->panel);
    if (end->requants && whole > 0) igemm_run_panels(u, end, 0, whole, true);
    const int64_t done = end->requants ? hg_max(0, whole) : 0;
    if (done < u->panels) igemm_run_panels(u, end, done, u->panels - done, false);
}

/* The table of loads as one to unsigned codes, from unsigned ones too where these are gathered. */
static const uint8_t *igemm_lifted(const hg_igemm *g, uint8_t lifted[256])
{
    if (g->load == NULL || g->args->in[0].dtype != HOLO_I8) return g->load;
    const int from = g->direct == NULL ? HG_CODE_LIFT : 0;
    for (int i = 0; i < 256; i++)
        lifted[i] = g->load[i ^ from] ^ HG_CODE_LIFT;
    return lifted;
}

void hg_igemm_run(const hg_igemm *g, const hg_igemm_form *form, hg_range r)
{
    uint8_t lifted[256];
    if (r.begin >= r.end) return;
    igemm_unit u = {.g = g, .form = form, .p = igemm_plan_of(g), .load = igemm_lifted(g, lifted)};
    char *scratch = r.scratch;
    u.sum = (int32_t *)(void *)scratch;
    u.gathered = (uint8_t *)(scratch += igemm_sum_bytes(&u.p));
    u.wide = (int16_t *)(void *)(scratch += igemm_row_bytes(g, &u.p));
    u.panel_room = (int16_t *)(void *)(scratch += igemm_wide_bytes(g, &u.p, form));
    u.zero_a = (int32_t *)(void *)(scratch += igemm_panel_bytes(&u.p, form));
    u.rest = (int32_t *)(void *)(scratch += igemm_zero_bytes(&u.p));
    u.zero_b = (int32_t *)(void *)(scratch += igemm_zero_bytes(&u.p));
    scratch += (size_t)(u.p.group * HG_PANEL) * sizeof(int32_t);
    hg_igemm_end end;
    hg_igemm_end_init(&end, g->args, form, scratch);
    const bool codes = end.is_chain && end.finish.is_requant;
    end.requants = codes && form->requants && igemm_is_single(g->args) &&
                   !hg_args_has(g->args, HG_IGEMM_ZERO_B);
    end.lookup = g->lookup;
    if (codes && form->looks && end.requants == form->requants) end.finish.lookup = g->lookup;
    int64_t gathered = -1;
    bool is_wide = false;
    u.is_wide = &is_wide;
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t block = i / u.p.groups; /* of rows, in a channel group */
        u.channel_group = block % g->groups;
        u.row = hg_cut_at(&u.p.row, block / g->groups);
        u.rows = hg_cut_at(&u.p.row, block / g->groups + 1) - u.row;
        u.panel = i % u.p.groups * u.p.group;
        u.panels = hg_min(u.p.group, g->panels - u.panel);
        if (block != gathered) {
            igemm_prepare_rows(&u);
            is_wide = false;
        }
        gathered = block;
        igemm_run_unit(&u, &end);
    }
}

/* ---- the portable form -------------------------------------------------------------------- */

static void igemm_row_panel(const hg_igemm_tile *t, int64_t i, const int8_t *b, uint32_t *sum)
{
    const uint8_t *a = t->a + i * t->lda;
    for (int j = 0; j < HG_PANEL; j++) {
        int32_t column;
        memcpy(&column, b + t->quads * HG_QUAD_BYTES + j * (int)sizeof column, sizeof column);
        sum[j] = 0 - (uint32_t)t->zero_a[i] * (uint32_t)column;
    }
    for (int64_t q = 0; q < t->quads; q++)
        for (int j = 0; j < HG_PANEL; j++)
            for (int k = 0; k < HG_QUAD; k++) {
                const int32_t product = a[q * HG_QUAD + k] * b[q * HG_QUAD_BYTES + j * HG_QUAD + k];
                sum[j] += (uint32_t)product;
            }
}

static void igemm_tile(const hg_igemm_tile *t)
{
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t p = 0; p < t->panels; p++) {
            uint32_t sum[HG_PANEL];
            igemm_row_panel(t, i, t->b + p * hg_igemm_panel_bytes(t->quads), sum);
            for (int j = 0; t->zero_b != NULL && j < HG_PANEL; j++)
                sum[j] -= (uint32_t)t->rest[i] * (uint32_t)t->zero_b[p * HG_PANEL + j];
            memcpy(t->c + i * t->ldc + p * HG_PANEL, sum, sizeof sum);
        }
}

const hg_igemm_form hg_igemm_portable = {.tile = igemm_tile, .lane = hg_lane_run};

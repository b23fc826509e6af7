/* parse.c - reads the text form back into a graph; text.h describes it. */
#include "graph/graph.h"
#include "graph/operator.h"
#include "graph/text.h"

/* %name or %7. */
typedef struct parse_name {
    hg_str text;
    bool is_number;
    bool is_absent; /* "_" */
} parse_name;

/* A symbol whose value comes later in the text. */
typedef struct parse_symbol {
    size_t symbol;
    parse_name value;
} parse_symbol;

typedef struct parse {
    hg_graph *g;
    hg_scan s;
    hg_map names, numbers; /* to value ids */
    parse_symbol *symbol;
    size_t n_symbol, symbol_capacity;
    uint32_t depth; /* of regions */
} parse;

static holo_status parse_nomem(parse *p, const void *memory)
{
    return memory != NULL ? HOLO_OK : hg_fail_nomem(p->s.error, sizeof(hg_node));
}

/* Statuses of graph functions are about memory alone; their sentence went to the context. */
static holo_status parse_status(parse *p, holo_status status)
{
    return status == HOLO_OK ? HOLO_OK : hg_fail_nomem(p->s.error, sizeof(hg_node));
}

/* ---- names --------------------------------------------------------------------------- */

static holo_status parse_value_name(parse *p, parse_name *out)
{
    hg_scan *s = &p->s;
    *out = (parse_name){.is_absent = hg_scan_take(s, "_")};
    if (out->is_absent) return HOLO_OK;
    HG_TRY(hg_scan_expect(s, "%"));
    if (hg_scan_sees(s, "\"")) return hg_scan_string(s, &out->text);
    hg_str word = hg_scan_word(s);
    out->is_number = word.length != 0 && word.text[0] >= '0' && word.text[0] <= '9';
    if (!out->is_number && !hg_text_is_name(word))
        return hg_scan_fail(s, "expected a value's name");
    out->text = hg_str_copy(s->arena, word);
    return parse_nomem(p, out->text.text);
}

static hg_value_id parse_find(const parse *p, const parse_name *name)
{
    return hg_map_get(name->is_number ? &p->numbers : &p->names, name->text);
}

static holo_status parse_use(parse *p, hg_value_id *out)
{
    parse_name name;
    *out = 0;
    HG_TRY(parse_value_name(p, &name));
    if (name.is_absent) return HOLO_OK;
    *out = parse_find(p, &name);
    if (*out == 0)
        return hg_scan_fail(&p->s, "value %%%.*s is not defined before it is used",
                            HG_STR_ARG(name.text));
    return HOLO_OK;
}

static holo_status parse_define(parse *p, const parse_name *name, hg_value_id id)
{
    if (parse_find(p, name) != 0)
        return hg_scan_fail(&p->s, "value %%%.*s is defined twice", HG_STR_ARG(name->text));
    if (!name->is_number) hg_graph_value(p->g, id)->name = name->text;
    if (!hg_map_set(name->is_number ? &p->numbers : &p->names, name->text, id))
        return hg_fail_nomem(p->s.error, sizeof(hg_map_slot));
    return HOLO_OK;
}

/* Type and known contents. */
static holo_status parse_fact(parse *p, hg_value_id id)
{
    hg_type type;
    hg_dim *content;
    uint32_t n;
    HG_TRY(hg_parse_type(&p->s, p->g, &type));
    hg_graph_value(p->g, id)->type = type;
    if (!hg_scan_take(&p->s, "{")) return HOLO_OK;
    HG_TRY(hg_parse_dims(&p->s, p->g, "}", &content, &n));
    if (n == 0) HG_TRY(parse_nomem(p, content = hg_arena_alloc(p->s.arena, sizeof *content)));
    hg_graph_value(p->g, id)->content = content;
    hg_graph_value(p->g, id)->n_content = n;
    return HOLO_OK;
}

/* ---- regions and nodes --------------------------------------------------------------- */

static holo_status parse_region(parse *p, hg_region_id region);

/* Behind "(". */
static holo_status parse_region_inputs(parse *p, hg_region_id region)
{
    bool first = true, more;
    for (;;) {
        parse_name name;
        hg_value_id id;
        HG_TRY(hg_scan_more(&p->s, ")", &first, &more));
        if (!more) return HOLO_OK;
        HG_TRY(parse_value_name(p, &name));
        if (name.is_absent) return hg_scan_fail(&p->s, "an input needs a name");
        hg_type none = {.rank = HG_RANK_UNKNOWN};
        HG_TRY(parse_status(p, hg_graph_add_region_input(p->g, region, (hg_str){0}, none, &id)));
        HG_TRY(parse_define(p, &name, id));
        HG_TRY(hg_scan_expect(&p->s, ":"));
        HG_TRY(parse_fact(p, id));
    }
}

static holo_status parse_bodies(parse *p, hg_node_id node)
{
    hg_region_id *body = NULL;
    size_t capacity = 0;
    uint32_t n = 0;
    while (hg_scan_take(&p->s, "then") || hg_scan_take(&p->s, "else") ||
           hg_scan_take(&p->s, "body")) {
        body = hg_arena_grow(p->s.arena, body, n, &capacity, sizeof *body);
        HG_TRY(parse_nomem(p, body));
        HG_TRY(parse_status(p, hg_graph_add_region(p->g, node, &body[n])));
        HG_TRY(hg_scan_expect(&p->s, "("));
        HG_TRY(parse_region_inputs(p, body[n]));
        HG_TRY(parse_region(p, body[n]));
        n++;
    }
    hg_graph_node(p->g, node)->body = body;
    hg_graph_node(p->g, node)->n_body = n;
    return HOLO_OK;
}

static holo_status parse_operator(parse *p, const hg_op **out)
{
    hg_str domain = {0}, name = hg_scan_word(&p->s);
    if (hg_scan_take(&p->s, ":")) {
        domain = name;
        name = hg_scan_word(&p->s);
    }
    if (name.length == 0) return hg_scan_fail(&p->s, "expected a statement");
    *out = hg_op_find(domain, name);
    if (*out == NULL)
        return hg_scan_fail(&p->s, "operator '%.*s%s%.*s' is unknown", HG_STR_ARG(domain),
                            domain.length != 0 ? ":" : "", HG_STR_ARG(name));
    return HOLO_OK;
}

/* Behind "(". */
static holo_status parse_operands(parse *p, hg_value_id **out, uint32_t *count)
{
    hg_value_id *in = NULL;
    size_t capacity = 0;
    uint32_t n = 0;
    bool first = true, more;
    for (;; n++) {
        HG_TRY(hg_scan_more(&p->s, ")", &first, &more));
        if (!more) break;
        in = hg_arena_grow(p->s.arena, in, n, &capacity, sizeof *in);
        HG_TRY(parse_nomem(p, in));
        HG_TRY(parse_use(p, &in[n]));
    }
    *out = in;
    *count = n;
    return HOLO_OK;
}

static holo_status parse_define_outputs(parse *p, hg_node_id node, const parse_name *names)
{
    const hg_node n = *hg_graph_node(p->g, node);
    for (uint32_t i = 0; i < n.n_out; i++) {
        if (!names[i].is_absent) {
            HG_TRY(parse_define(p, &names[i], n.out[i]));
        } else {
            hg_graph_value(p->g, n.out[i])->node = 0;
            n.out[i] = 0;
        }
    }
    if (!hg_scan_take(&p->s, ":")) return HOLO_OK;
    for (uint32_t i = 0; i < n.n_out; i++) {
        if (i != 0) HG_TRY(hg_scan_expect(&p->s, ","));
        if (n.out[i] == 0)
            HG_TRY(hg_scan_expect(&p->s, "_"));
        else
            HG_TRY(parse_fact(p, n.out[i]));
    }
    return HOLO_OK;
}

static holo_status parse_node(parse *p, hg_region_id region, const parse_name *names,
                              uint32_t n_out)
{
    hg_node_spec spec = {.n_out = n_out};
    hg_value_id *in;
    hg_attr *attr = NULL;
    hg_node_id node;
    HG_TRY(parse_operator(p, &spec.op));
    HG_TRY(hg_scan_expect(&p->s, "("));
    HG_TRY(parse_operands(p, &in, &spec.n_in));
    if (hg_scan_take(&p->s, "{")) HG_TRY(hg_parse_attrs(&p->s, p->g, &attr, &spec.n_attr));
    spec.in = in;
    spec.attr = attr;
    HG_TRY(parse_status(p, hg_graph_add_node(p->g, region, 0, &spec, &node)));
    HG_TRY(parse_bodies(p, node));
    HG_TRY(parse_define_outputs(p, node, names));
    if (!hg_scan_sees(&p->s, "\"")) return HOLO_OK;
    hg_str name;
    HG_TRY(hg_scan_string(&p->s, &name));
    hg_graph_node(p->g, node)->name = name;
    return HOLO_OK;
}

/* "%a, _ = " */
static holo_status parse_results(parse *p, parse_name **out, uint32_t *count)
{
    parse_name *names = NULL;
    size_t capacity = 0;
    uint32_t n = 0;
    do {
        names = hg_arena_grow(p->s.arena, names, n, &capacity, sizeof *names);
        HG_TRY(parse_nomem(p, names));
        HG_TRY(parse_value_name(p, &names[n++]));
    } while (hg_scan_take(&p->s, ","));
    HG_TRY(hg_scan_expect(&p->s, "="));
    *out = names;
    *count = n;
    return HOLO_OK;
}

static holo_status parse_statement(parse *p, hg_region_id region)
{
    parse_name *names = NULL;
    uint32_t n = 0;
    if (hg_scan_sees(&p->s, "%") || hg_scan_sees(&p->s, "_")) HG_TRY(parse_results(p, &names, &n));
    if (!hg_scan_take(&p->s, "const ")) return parse_node(p, region, names, n);
    hg_value_id id;
    if (n != 1 || names[0].is_absent) return hg_scan_fail(&p->s, "a constant needs one name");
    HG_TRY(hg_parse_const(&p->s, p->g, (hg_str){0}, &id));
    return parse_define(p, &names[0], id);
}

/* Behind "return". */
static holo_status parse_return(parse *p, hg_region_id region)
{
    for (bool more = !hg_scan_sees(&p->s, "}"); more; more = hg_scan_take(&p->s, ",")) {
        hg_value_id value;
        hg_str name = {0};
        HG_TRY(parse_use(p, &value));
        if (hg_scan_take(&p->s, "as ")) HG_TRY(hg_scan_string(&p->s, &name));
        HG_TRY(parse_status(p, hg_graph_add_region_output(p->g, region, name, value)));
    }
    return hg_scan_expect(&p->s, "}");
}

static holo_status parse_region(parse *p, hg_region_id region)
{
    if (++p->depth > HG_TEXT_DEPTH)
        return hg_scan_fail(&p->s, "regions nested deeper than %d", HG_TEXT_DEPTH);
    HG_TRY(hg_scan_expect(&p->s, "{"));
    for (;;) {
        hg_scan before = p->s;
        if (hg_str_is(hg_scan_word(&p->s), "return")) break;
        p->s = before;
        if (hg_scan_sees(&p->s, "}")) return hg_scan_fail(&p->s, "a region ends with return");
        HG_TRY(parse_statement(p, region));
    }
    p->depth--;
    return parse_return(p, region);
}

/* ---- the whole ----------------------------------------------------------------------- */

/* Behind "content(" or "size(". */
static holo_status parse_symbol_source(parse *p, hg_symbol *symbol)
{
    parse_symbol *grown =
        hg_arena_grow(p->s.arena, p->symbol, p->n_symbol, &p->symbol_capacity, sizeof *grown);
    HG_TRY(parse_nomem(p, grown));
    p->symbol = grown;
    parse_symbol *later = &grown[p->n_symbol++];
    later->symbol = p->g->dims.n_symbol;
    HG_TRY(parse_value_name(p, &later->value));
    HG_TRY(hg_scan_expect(&p->s, ","));
    HG_TRY(hg_scan_u32(&p->s, &symbol->index));
    return hg_scan_expect(&p->s, ")");
}

/* Behind "symbol". */
static holo_status parse_symbol_line(parse *p)
{
    hg_symbol symbol = {.kind = HG_SYMBOL_INPUT, .at_most = -1};
    HG_TRY(hg_scan_name(&p->s, &symbol.name));
    if (hg_map_get(&p->g->dims.symbol_of, symbol.name) != 0 || symbol.name.length == 0)
        return hg_scan_fail(&p->s, "symbol '%.*s' is declared twice", HG_STR_ARG(symbol.name));
    if (hg_scan_take(&p->s, "=")) {
        symbol.kind = hg_scan_take(&p->s, "content") ? HG_SYMBOL_CONTENT : HG_SYMBOL_SIZE;
        if (symbol.kind == HG_SYMBOL_SIZE) HG_TRY(hg_scan_expect(&p->s, "size"));
        HG_TRY(hg_scan_expect(&p->s, "("));
        HG_TRY(parse_symbol_source(p, &symbol));
    }
    if (hg_scan_take(&p->s, "<=")) HG_TRY(hg_scan_int(&p->s, &symbol.at_most));
    if (hg_dim_symbol(&p->g->dims, symbol) == 0) return parse_nomem(p, NULL);
    return HOLO_OK;
}

/* Behind "meta". */
static holo_status parse_meta_line(parse *p)
{
    hg_graph *g = p->g;
    hg_meta *grown =
        hg_arena_grow(p->s.arena, g->meta, g->n_meta, &g->meta_capacity, sizeof *grown);
    HG_TRY(parse_nomem(p, grown));
    g->meta = grown;
    HG_TRY(hg_scan_string(&p->s, &grown[g->n_meta].key));
    HG_TRY(hg_scan_expect(&p->s, "="));
    HG_TRY(hg_scan_string(&p->s, &grown[g->n_meta].value));
    g->n_meta++;
    return HOLO_OK;
}

static holo_status parse_resolve_symbols(parse *p)
{
    for (size_t i = 0; i < p->n_symbol; i++) {
        const parse_symbol *later = &p->symbol[i];
        if (later->value.is_absent) continue;
        hg_value_id id = parse_find(p, &later->value);
        if (id == 0)
            return hg_scan_fail(&p->s, "value %%%.*s of a symbol is not defined",
                                HG_STR_ARG(later->value.text));
        p->g->dims.symbol[later->symbol].value = id;
    }
    return HOLO_OK;
}

static holo_status parse_graph(parse *p)
{
    for (;;) {
        if (hg_scan_take(&p->s, "symbol "))
            HG_TRY(parse_symbol_line(p));
        else if (hg_scan_take(&p->s, "meta "))
            HG_TRY(parse_meta_line(p));
        else
            break;
    }
    HG_TRY(hg_scan_expect(&p->s, "graph"));
    if (!hg_scan_sees(&p->s, "(")) HG_TRY(hg_scan_name(&p->s, &p->g->name));
    HG_TRY(hg_scan_expect(&p->s, "("));
    HG_TRY(parse_region_inputs(p, HG_REGION_MAIN));
    HG_TRY(parse_region(p, HG_REGION_MAIN));
    HG_TRY(parse_resolve_symbols(p));
    if (hg_scan_sees(&p->s, "") && p->s.at != p->s.end)
        return hg_scan_fail(&p->s, "text behind the end of the graph");
    return HOLO_OK;
}

holo_status hg_graph_parse(hg_graph *g, hg_str text, holo_error *e)
{
    hg_arena *arena = &g->ctx->arena;
    if (text.text == NULL) text = hg_str_from("");
    parse p = {.g = g,
               .s = {.start = text.text,
                     .at = text.text,
                     .end = text.text + text.length,
                     .token = text.text,
                     .arena = arena,
                     .error = e}};
    hg_map_init(&p.names, arena);
    hg_map_init(&p.numbers, arena);
    HG_TRY(parse_graph(&p));
    /* What only the whole text can break: arity, use outside of the region of the definition. */
    holo_status status = hg_graph_verify(g, e);
    return status == HOLO_E_BUG ? hg_fail_prefix(e, HOLO_E_MODEL, "text of a graph: ") : status;
}

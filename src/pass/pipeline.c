/* pipeline.c - the order of the passes: the only place where order lives. */
#include "pass/pass.h"

#define X(stem) extern const hg_pass hg_pass_##stem;
#include "pass_list.inc"
#undef X

static const hg_pass *const pipeline_all[] = {
#define X(stem) &hg_pass_##stem,
#include "pass_list.inc"
#undef X
};

static const hg_pass *const pipeline_order[] = {
    &hg_pass_infer_shapes, /* everything else needs types */
    &hg_pass_check_shapes, /* before the nodes that are only asked for their shape are gone */
    &hg_pass_fold_shapes,
    &hg_pass_remove_identity,
    &hg_pass_drop_dead,
    &hg_pass_widen_half,          /* before weights are packed for the type they meet */
    &hg_pass_recognize_quantized, /* before scales and weights fold */
    &hg_pass_drop_dead,
    &hg_pass_pack_weights,    /* before constants fold: a Transpose of weights is read through, not
                                 computed */
    &hg_pass_fold_constants,  /* after fold_shapes: contents that turned out constant fold too */
    &hg_pass_resolve_symbols, /* what folded may have decided shapes: once more */
    &hg_pass_fold_shapes,
    &hg_pass_fold_constants,
    &hg_pass_resolve_symbols,
    &hg_pass_drop_dead,
    &hg_pass_settle_inputs, /* dead nodes demand nothing */
    &hg_pass_simplify,
    &hg_pass_merge_duplicates, /* after folding: more is equal */
    &hg_pass_resolve_symbols,  /* merged nodes found the same sizes */
    &hg_pass_gather_narrow,
    &hg_pass_fold_batchnorm,
    &hg_pass_merge_branches, /* what is normalised apart is a convolution by now */
    &hg_pass_fold_scales,    /* of integer products, while operators are those of the standard */
    &hg_pass_fold_pad,
    &hg_pass_recognize_norm,      /* before layout and fusion take the pattern apart */
    &hg_pass_recognize_rotary,    /* before attention: it leaves a Transpose to read through */
    &hg_pass_merge_duplicates,    /* angles are turned once for all layers */
    &hg_pass_recognize_attention, /* while heads are split as exporters write it */
    &hg_pass_drop_dead,
    &hg_pass_merge_projections, /* only what the attention alone reads */
    &hg_pass_drop_dead,
    &hg_pass_split_recurrent,
    &hg_pass_phase_convtranspose, /* before split_convtranspose, which takes what is left */
    &hg_pass_split_convtranspose, /* makes a Conv whose layout is chosen next */
    &hg_pass_split_conv,          /* while channels are the same axis everywhere */
    &hg_pass_drop_dead,           /* what it took apart */
    &hg_pass_choose_layout,
    &hg_pass_push_transpose,
    &hg_pass_merge_duplicates, /* what several convolutions read is turned once */
    &hg_pass_sink_reshape,     /* between convolutions of one dimension and what follows them */
    &hg_pass_drop_dead,        /* Transposes that nobody reads any more */
    &hg_pass_lift_pointwise,   /* where a ConvTranspose was */
    &hg_pass_fold_constants,   /* constants that were transposed on the way */
    &hg_pass_resolve_symbols,  /* nobody reads a size from a constant */
    &hg_pass_pack_bits,
    &hg_pass_pack_weights,
    &hg_pass_share_panels, /* all that will be packed is */
    &hg_pass_pack_codes,
    &hg_pass_lift_reshape,    /* after pack_weights: only packed products have rows of any rank */
    &hg_pass_drop_dead,       /* fusion counts uses */
    &hg_pass_collapse_tables, /* before fusion, while the types between operators are seen */
    &hg_pass_drop_dead,
    &hg_pass_synthesize_tables, /* of chains that are one table by now */
    &hg_pass_fuse_pointwise,
    &hg_pass_fuse_epilogue,
    &hg_pass_fuse_lookup,    /* behind epilogues that make codes */
    &hg_pass_place_tables,   /* those that no epilogue took */
    &hg_pass_fuse_load,      /* and what is left beside copies */
    &hg_pass_fuse_planes,    /* a convolution with its epilogue */
    &hg_pass_fuse_gate,      /* in front of expansions, which would leave the gate apart */
    &hg_pass_fuse_expansion, /* after epilogues: a depthwise convolution takes its own along */
    &hg_pass_fuse_squeeze,   /* after it: the depthwise convolution is the one that stays */
    &hg_pass_fuse_concat,    /* whole steps: what is one by now reads them one by one */
    &hg_pass_drop_dead,
    &hg_pass_store_palettes, /* of weights as they will be stored */
    &hg_pass_drop_dead,
    NULL,
};

/* In front of all that when weights are quantised: what it takes to see products and convolutions
 * with their final weights, still as the operators of the standard. */
static const hg_pass *const pipeline_quantize[] = {
    &hg_pass_infer_shapes,
    &hg_pass_fold_shapes,
    &hg_pass_remove_identity,
    &hg_pass_drop_dead,
    &hg_pass_fold_constants,
    &hg_pass_resolve_symbols,
    &hg_pass_fold_shapes,
    &hg_pass_fold_constants,
    &hg_pass_resolve_symbols,
    &hg_pass_drop_dead,
    &hg_pass_widen_half, /* products of 16-bit floats have codes like others */
    &hg_pass_simplify,
    &hg_pass_fold_batchnorm, /* codes are those of the folded weights */
    &hg_pass_drop_dead,
    &hg_pass_quantize,
    &hg_pass_drop_dead, /* float weights */
    NULL,
};

const hg_pass *const *hg_pipeline(void)
{
    return pipeline_order;
}

const hg_pass *hg_pass_find(const char *name)
{
    for (size_t i = 0; i < HG_COUNT(pipeline_all); i++)
        if (strcmp(pipeline_all[i]->name, name) == 0) return pipeline_all[i];
    return NULL;
}

void holo_passes_visit(void (*visit)(void *user, const char *name, const char *brief), void *user)
{
    visit(user, hg_pass_quantize.name, hg_pass_quantize.brief);
    for (size_t i = 0; pipeline_order[i] != NULL; i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= pipeline_order[k] == pipeline_order[i];
        if (!seen) visit(user, pipeline_order[i]->name, pipeline_order[i]->brief);
    }
}

static bool pipeline_skips(const hg_graph *g, const hg_pass *pass, const hg_pipeline_options *o)
{
    if ((pass->flags & HG_PASS_ALWAYS) != 0) return false;
    if ((g->ctx->flags & HOLO_COMPILE_NO_OPTIMIZE) != 0) return true;
    if ((g->ctx->flags & HOLO_COMPILE_PLAIN) != 0 && (pass->flags & HG_PASS_TUNED) != 0)
        return true;
    for (size_t i = 0; i < o->n_disable; i++)
        if (strcmp(o->disable[i], pass->name) == 0) return true;
    return false;
}

static holo_status pipeline_dump(const hg_graph *g, const char *after, const hg_pipeline_options *o)
{
    if (o->dump == NULL || o->dump_after == NULL) return HOLO_OK;
    bool all = strcmp(o->dump_after, "all") == 0;
    if (!all && strcmp(o->dump_after, after) != 0) return HOLO_OK;
    char title[96] = "# after ";
    strncat(title, after, 64);
    strcat(title, "\n");
    if (all && !o->dump(o->dump_user, title, strlen(title)))
        return hg_fail(g->ctx->error, HOLO_E_IO, "the dump could not be written");
    return hg_graph_dump(g, o->dump, o->dump_user);
}

static holo_status pipeline_check_names(const hg_graph *g, const hg_pipeline_options *o)
{
    for (size_t i = 0; i < o->n_disable; i++)
        if (hg_pass_find(o->disable[i]) == NULL)
            return hg_fail(g->ctx->error, HOLO_E_ARG, "there is no pass named '%s'", o->disable[i]);
    if (o->dump_after != NULL && strcmp(o->dump_after, "import") != 0 &&
        strcmp(o->dump_after, "all") != 0 && hg_pass_find(o->dump_after) == NULL)
        return hg_fail(g->ctx->error, HOLO_E_ARG, "there is no pass named '%s'", o->dump_after);
    return HOLO_OK;
}

static holo_status pipeline_run(hg_graph *g, const hg_pass *const *order, uint64_t total,
                                const hg_pipeline_options *o)
{
    for (size_t i = 0; order[i] != NULL; i++) {
        const hg_pass *pass = order[i];
        if (o->progress != NULL && !o->progress(o->user, pass->name, i, total))
            return hg_fail(g->ctx->error, HOLO_E_CANCELLED, "cancelled before pass %s", pass->name);
        HG_TRY(hg_ctx_check_time(g->ctx));
        if (pipeline_skips(g, pass, o) || (i == 0 && o->is_inferred)) continue;
        bool changed = false;
        HG_TRY(pass->run(g, &changed));
        hg_arena_reset(&g->ctx->scratch);
#ifndef NDEBUG
        HG_TRY(hg_graph_verify(g, g->ctx->error));
#endif
        HG_TRY(pipeline_dump(g, pass->name, o));
        if (i == 0 && o->inferred != NULL) HG_TRY(o->inferred(o->user, g));
    }
    return HOLO_OK;
}

holo_status hg_pipeline_quantize(hg_graph *g, const hg_pipeline_options *o)
{
    hg_pipeline_options quiet = *o;
    quiet.progress = NULL; /* it counts the passes that always run */
    quiet.inferred = NULL;
    HG_TRY(pipeline_check_names(g, o));
    return pipeline_run(g, pipeline_quantize, 0, &quiet);
}

holo_status hg_pipeline_run(hg_graph *g, const hg_pipeline_options *o)
{
    HG_TRY(pipeline_check_names(g, o));
    HG_TRY(pipeline_dump(g, "import", o));
    return pipeline_run(g, pipeline_order, HG_COUNT(pipeline_order) - 1, o);
}

/* reduce.c - the kernel "reduce" as loops: elements go to sixteen lanes in turn, which then meet.
 */
#include "kernel/reduce.h"
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct reduce_form {
    hg_reduce_op op;
    holo_dtype dtype;
    bool is_float, is_unsigned;
    const char *acc;  /* type of the lanes */
    const char *type; /* compute type of the result */
    const char *suffix;
    int64_t steps; /* elements of one result */
} reduce_form;

static reduce_form reduce_of(const hg_args *a)
{
    const hg_lane_type lane = hg_lane_type_of(a->in[0].dtype);
    reduce_form f = {.op = (hg_reduce_op)a->param[0],
                     .dtype = a->in[0].dtype,
                     .is_float = lane == HG_LANE_F32 || lane == HG_LANE_F64,
                     .is_unsigned = lane == HG_LANE_U64,
                     .type = hg_source_lane_ctype(lane),
                     .suffix = lane == HG_LANE_F64 ? "f64" : "f32",
                     .steps = 1};
    f.acc = f.is_float ? f.type : f.is_unsigned ? "uint64_t" : "int64_t";
    for (int d = 0; d < a->in[0].rank; d++)
        if ((a->param[1] >> d & 1) != 0) f.steps *= a->in[0].dim[d];
    return f;
}

static bool reduce_is_max(hg_reduce_op op)
{
    return op == HG_REDUCE_MAX || op == HG_REDUCE_ARG_MAX;
}

static bool reduce_is_extreme(hg_reduce_op op)
{
    return reduce_is_max(op) || op == HG_REDUCE_MIN || op == HG_REDUCE_ARG_MIN;
}

/* What a lane holds before its first element. */
static void reduce_neutral(const reduce_form *f, hg_ctext *out)
{
    const bool is_max = reduce_is_max(f->op);
    const uint32_t bits = f->dtype == HOLO_BOOL ? 1 : hg_dtype_bits(f->dtype);
    const uint64_t ones = UINT64_MAX >> (64 - bits);
    const bool is_signed = hg_dtype_is_signed_int(f->dtype);
    const uint64_t low = is_signed ? ~(ones >> 1) : 0, high = is_signed ? ones >> 1 : ones;
    if (!reduce_is_extreme(f->op))
        hg_ctext_set(out, f->op == HG_REDUCE_PROD ? "1" : "0");
    else if (f->is_float)
        hg_ctext_set(out, is_max ? "-INFINITY" : "INFINITY");
    else
        hg_source_int(out, f->is_unsigned ? HG_LANE_U64 : HG_LANE_I64, is_max ? low : high);
}

/* What element v does to lane a; integers wrap. */
static const char *reduce_enter(const reduce_form *f)
{
    switch (f->op) {
    case HG_REDUCE_PROD: return f->is_float ? "a * v" : "(uint64_t)a * (uint64_t)v";
    case HG_REDUCE_L2:
    case HG_REDUCE_SUM_SQUARE:
        return f->is_float ? "a + v * v" : "(uint64_t)a + (uint64_t)v * (uint64_t)v";
    case HG_REDUCE_L1:
        if (f->is_float) return f->suffix[1] == '6' ? "a + hg_abs_f64(v)" : "a + hg_abs_f32(v)";
        return f->is_unsigned ? "a + v" : "(uint64_t)a + (v < 0 ? 0 - (uint64_t)v : (uint64_t)v)";
    case HG_REDUCE_MAX:
    case HG_REDUCE_ARG_MAX: return f->is_float ? "a != a || a > v ? a : v" : "a > v ? a : v";
    case HG_REDUCE_MIN:
    case HG_REDUCE_ARG_MIN: return f->is_float ? "a != a || a < v ? a : v" : "a < v ? a : v";
    case HG_REDUCE_LOG_SUM_EXP:
        return f->suffix[1] == '6' ? "a + hg_exp_f64(v - shift)" : "a + hg_exp_f32(v - shift)";
    case HG_REDUCE_SUM:
    case HG_REDUCE_MEAN:
    case HG_REDUCE_LOG_SUM: break;
    }
    return f->is_float ? "a + v" : "(uint64_t)a + (uint64_t)v";
}

static const char *reduce_join(const reduce_form *f)
{
    if (f->op == HG_REDUCE_PROD || reduce_is_extreme(f->op)) return reduce_enter(f);
    return f->is_float ? "a + v" : "(uint64_t)a + (uint64_t)v";
}

/* Loops over the reduced dims, k counting the elements; leaves element v. */
static int reduce_loops(hg_source *s, const hg_args *a, const reduce_form *f, const char *index)
{
    const holo_tensor *x = &a->in[0];
    hg_ctext at, load;
    int64_t stride = 1, strides[HG_MAX_RANK];
    int levels = 0;
    for (int d = x->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= x->dim[d];
    }
    hg_ctext_set(&at, "%s", index);
    for (int d = 0; d < x->rank; d++) {
        char v[16];
        if ((a->param[1] >> d & 1) == 0) continue;
        snprintf(v, sizeof v, "j%d", d);
        levels += hg_source_for(s, v, x->dim[d]);
        hg_source_add(&at, v, x->dim[d], strides[d]);
    }
    hg_source_load(s, &load, 0, at.text);
    hg_source_line(s, "const %s v = %s;", f->acc, load.text);
    return levels;
}

/* Lanes named `lane`, all elements entered and met in lane[0]. */
static void reduce_lanes(hg_source *s, const hg_args *a, const reduce_form *f, const char *lane,
                         const char *index)
{
    hg_ctext neutral;
    reduce_neutral(f, &neutral);
    hg_source_line(s, "%s %s[16];", f->acc, lane);
    hg_source_line(s, "for (int32_t l = 0; l < 16; l++)");
    hg_source_line(s, "    %s[l] = %s;", lane, neutral.text);
    hg_source_open(s, "%s", "");
    hg_source_line(s, "int32_t k = 0;");
    int inner = reduce_loops(s, a, f, index);
    hg_source_line(s, "const %s a = %s[k %% 16];", f->acc, lane);
    hg_source_line(s, "%s[k++ %% 16] = (%s)(%s);", lane, f->acc, reduce_enter(f));
    hg_source_close(s, inner + 1);
    hg_source_open(s, "for (int32_t w = 8; w > 0; w /= 2)");
    hg_source_open(s, "for (int32_t l = 0; l < w; l++)");
    hg_source_line(s, "const %s a = %s[l], v = %s[l + w];", f->acc, lane, lane);
    hg_source_line(s, "%s[l] = (%s)(%s);", lane, f->acc, reduce_join(f));
    hg_source_close(s, 2);
}

/* Where the largest or smallest element is. */
static void reduce_find(hg_source *s, const hg_args *a, const reduce_form *f, const char *index)
{
    const bool is_last = a->param[2] != 0;
    hg_source_line(s, "int64_t r = -1, k = 0;");
    int inner = reduce_loops(s, a, f, index);
    hg_source_line(s, "if (%s(v == lane[0]%s)) r = k;", is_last ? "" : "r < 0 && ",
                   f->is_float ? " || v != v" : "");
    hg_source_line(s, "k++;");
    hg_source_close(s, inner);
}

/* The result r, of the input's compute type. */
static void reduce_result(hg_source *s, const reduce_form *f)
{
    hg_ctext value = {"lane[0]"};
    if (f->op == HG_REDUCE_MEAN && f->is_float)
        hg_ctext_set(&value, "lane[0] / %" PRId64, f->steps);
    else if (f->op == HG_REDUCE_MEAN)
        hg_ctext_set(&value, f->steps == 0 ? "0" : "lane[0] / %" PRId64, f->steps);
    else if (f->op == HG_REDUCE_L2)
        hg_ctext_set(&value, "hg_sqrt_%s(lane[0])", f->suffix);
    else if (f->op == HG_REDUCE_LOG_SUM)
        hg_ctext_set(&value, "hg_log_%s(lane[0])", f->suffix);
    else if (f->op == HG_REDUCE_LOG_SUM_EXP)
        hg_ctext_set(&value, "shift + hg_log_%s(lane[0])", f->suffix);
    const bool is_narrow = strcmp(f->type, f->acc) != 0;
    hg_source_line(s, "const %s r = %s(%s);", f->type, is_narrow ? "(int32_t)(uint32_t)" : "",
                   value.text);
}

static bool reduce_needs(hg_source *s, const reduce_form *f)
{
    hg_ctext name;
    const bool takes_root =
        f->op == HG_REDUCE_L2 || f->op == HG_REDUCE_LOG_SUM || f->op == HG_REDUCE_LOG_SUM_EXP;
    if (takes_root && !f->is_float) return hg_source_refuse(s, "roots or logarithms of integers");
    static const char *const names[] = {"abs", "exp", "log", "sqrt"};
    for (size_t i = 0; f->is_float && i < HG_COUNT(names); i++) {
        bool is_needed = i == 0   ? f->op == HG_REDUCE_L1 || f->op == HG_REDUCE_LOG_SUM_EXP
                         : i == 1 ? f->op == HG_REDUCE_LOG_SUM_EXP
                         : i == 2 ? f->op == HG_REDUCE_LOG_SUM || f->op == HG_REDUCE_LOG_SUM_EXP
                                  : f->op == HG_REDUCE_L2;
        hg_ctext_set(&name, "hg_%s_%s", names[i], f->suffix);
        if (is_needed) hg_source_need(s, name.text);
    }
    return true;
}

/* First element of a result: dims that are kept meet the output's dims other than 1, in order. */
static void reduce_index(const hg_args *a, hg_ctext *out)
{
    const holo_tensor *x = &a->in[0];
    int64_t stride = 1, strides[HG_MAX_RANK];
    int k = 0;
    for (int d = x->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= x->dim[d];
    }
    hg_ctext_set(out, "0");
    for (int d = 0; d < x->rank; d++) {
        char v[16];
        if ((a->param[1] >> d & 1) != 0 || x->dim[d] == 1) continue;
        while (k < a->out[0].rank && a->out[0].dim[k] == 1)
            k++;
        snprintf(v, sizeof v, "i%d", k++);
        hg_source_add(out, v, x->dim[d], strides[d]);
    }
}

static bool reduce_write(hg_source *s, const hg_args *a)
{
    reduce_form f = reduce_of(a);
    hg_ctext index;
    if (!reduce_needs(s, &f)) return false;
    int levels = hg_source_for_dims(s, &a->out[0], 0, a->out[0].rank);
    reduce_index(a, &index);
    if (f.op == HG_REDUCE_LOG_SUM_EXP) {
        reduce_form most = f;
        most.op = HG_REDUCE_MAX;
        reduce_lanes(s, a, &most, "most", index.text);
        hg_source_line(s, "const %s shift = hg_abs_%s(most[0]) == (%s)INFINITY ? 0 : most[0];",
                       f.acc, f.suffix, f.acc);
    }
    reduce_lanes(s, a, &f, "lane", index.text);
    if (f.op == HG_REDUCE_ARG_MAX || f.op == HG_REDUCE_ARG_MIN)
        reduce_find(s, a, &f, index.text);
    else
        reduce_result(s, &f);
    bool ok = hg_source_finish(s, "r", 1);
    hg_source_close(s, levels);
    return ok;
}

const hg_source_kernel hg_source_kernels_reduce[] = {
    {"reduce", reduce_write},
    {"reduce.order", reduce_write},
    {0},
};

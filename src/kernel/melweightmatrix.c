/* melweightmatrix.c - melweightmatrix: from a spectrum to mel bands, by overlapping triangles.
 *
 *   in     length of the transform and sample rate, int32 or int64; lower and upper edge in hertz,
 *          floats; one element each
 *   out[0] [length / 2 + 1, bands], any number type; integers are cut off
 *
 * A band edge outside the spectrum is an error. */
#include "isa/lane_math.h"
#include "kernel/elem.h"
#include "kernel/number.h"

enum { MEL_LENGTH, MEL_RATE, MEL_LOW, MEL_HIGH };

static holo_status mel_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 4, 4, 1, 0));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_NUMBER));
    HG_TRY(hg_check_rank(&a->out[0], e, "output", 2, 2));
    for (uint32_t i = 0; i < 4; i++) {
        HG_TRY(hg_check_in_type(a, e, i, i < MEL_LOW ? HG_ELEM_INDEX : HG_TYPES_FLOAT));
        HG_REQUIRE(e, holo_tensor_count(&a->in[i]) == 1, HOLO_E_SHAPE,
                   "input %u has %lld elements, expected 1", i,
                   (long long)holo_tensor_count(&a->in[i]));
    }
    return HOLO_OK;
}

/* One column, a band, after the other. */
static int64_t mel_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : a->out[0].dim[1];
}

/* The mel scale ends at -700 hertz; beyond 1e9 is no sound. */
static bool mel_is_edge(double hertz)
{
    return hertz > -700.0 && hertz < 1e9;
}

/* Where edges lie on the mel scale: evenly. */
typedef struct mel_edges {
    bool is_known;
    double low, step, scale;
} mel_edges;

static mel_edges mel_edges_of(const hg_args *a)
{
    const double lower = hg_number_load(&a->in[MEL_LOW], 0);
    const double upper = hg_number_load(&a->in[MEL_HIGH], 0);
    if (!mel_is_edge(lower) || !mel_is_edge(upper)) return (mel_edges){.is_known = false};
    const double scale = 2595.0 / hg_log_f64(10.0);
    const double low = scale * hg_log_f64(1.0 + lower / 700.0);
    const double high = scale * hg_log_f64(1.0 + upper / 700.0);
    return (mel_edges){true, low, (high - low) / (double)(a->out[0].dim[1] + 2), scale};
}

/* Bin of the spectrum at edge i of the bands, or -1 and a fault. */
static int64_t mel_bin(const hg_args *a, const mel_edges *edges, int64_t i)
{
    double bin = -1.0;
    if (edges->is_known) {
        const double length = hg_number_load(&a->in[MEL_LENGTH], 0);
        const double rate = hg_number_load(&a->in[MEL_RATE], 0);
        const double mel = (double)i * edges->step + edges->low;
        const double hertz = 700.0 * (hg_exp_f64(mel / edges->scale) - 1.0);
        bin = hg_floor_f64((length + 1.0) * hertz / rate);
    }
    if (bin >= 0.0 && bin < (double)a->out[0].dim[0]) return (int64_t)bin;
    hg_fault_range(a->fault, "bin of a band", i, bin > 0.0 && bin < 0x1p62 ? (int64_t)bin : -1, 0,
                   a->out[0].dim[0] - 1);
    return -1;
}

/* One triangle; what is beside it is 0. */
static void mel_band(const holo_tensor *y, int64_t band, int64_t left, int64_t middle,
                     int64_t right)
{
    const int64_t bands = y->dim[1];
    if (left == middle) hg_number_store(y, middle * bands + band, 1.0);
    for (int64_t j = left; left < middle && j <= middle; j++)
        hg_number_store(y, j * bands + band, (double)(j - left) / (double)(middle - left));
    for (int64_t j = middle; j < right; j++)
        hg_number_store(y, j * bands + band, (double)(right - j) / (double)(right - middle));
}

/* Most of it are zeros. */
static void mel_cost(const hg_args *a, hg_cost *cost)
{
    cost->bytes = (double)holo_tensor_count(&a->out[0]) * hg_dtype_bits(a->out[0].dtype) / 8;
}

static void mel_run(const hg_args *a, hg_range r)
{
    const holo_tensor *y = &a->out[0];
    const mel_edges edges = mel_edges_of(a);
    const int64_t size = (int64_t)hg_dtype_bits(y->dtype) / 8, bands = y->dim[1];
    if (r.begin >= r.end) return;
    for (int64_t j = 0; j < y->dim[0]; j++)
        memset((uint8_t *)y->data + (j * bands + r.begin) * size, 0,
               (size_t)((r.end - r.begin) * size));
    int64_t left, middle = mel_bin(a, &edges, r.begin), right = mel_bin(a, &edges, r.begin + 1);
    for (int64_t u = r.begin; u < r.end; u++) {
        left = middle;
        middle = right;
        right = mel_bin(a, &edges, u + 2);
        if (left >= 0 && middle >= 0 && right >= 0) mel_band(y, u, left, middle, right);
    }
}

const hg_kernel hg_kernels_melweightmatrix[] = {
    {.name = "melweightmatrix",
     .check = mel_check,
     .units = mel_units,
     .cost = mel_cost,
     .run = mel_run},
    {0},
};

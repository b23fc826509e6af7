/* hologram.h - the whole public interface of Hologram, and its manual.
 *
 * Hologram turns a model into one file (`.holo`) that a small runtime maps and runs.
 *
 *     compile   model.onnx -> model.holo          holo_compile_*      (libhologram)
 *     open      model.holo -> holo_model          holo_model_open_*   (libhologram_rt and
 * libhologram) session   holo_model -> holo_session        holo_session_new run       bind inputs,
 * run, read outputs    holo_session_*
 *
 * Rules that hold for every function here:
 *   - A function that can fail returns holo_status and, when `error` is not NULL, writes one
 * sentence that names what is wrong. On failure the out parameters are untouched.
 *   - Nothing is global. The library never prints, exits or aborts.
 *   - Option structs start with struct_size; fill them from their _INIT macro. NULL means defaults.
 *   - A model is immutable and may be shared by threads. A session, a graph under construction and
 * a compile call belong to one thread at a time; only holo_session_cancel may come from another.
 *   - Strings are UTF-8. Pointers that a function hands out are borrowed: each comment says until
 * when. */
#ifndef HOLOGRAM_H
#define HOLOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define HOLO_API
#elif defined(__GNUC__)
#define HOLO_API __attribute__((visibility("default")))
#else
#define HOLO_API
#endif

/* ---- version ------------------------------------------------------------------------------- */

#define HOLO_VERSION_MAJOR 0
#define HOLO_VERSION_MINOR 1
#define HOLO_VERSION_PATCH 0
#define HOLO_VERSION_TEXT "0.1.0"

/* Version of the library in use, for instance "0.1.0"; static text. Any thread. */
HOLO_API const char *holo_version(void);

/* ---- status -------------------------------------------------------------------------------- */

/* Numbers are ABI: there are gaps, nothing is renumbered. */
#define HOLO_STATUS_MAP(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(E_NOMEM, 1, "out of memory")                                                                 \
    X(E_ARG, 2, "invalid argument")                                                                \
    X(E_IO, 3, "input or output failed")                                                           \
    X(E_LIMIT, 4, "a limit was exceeded")                                                          \
    X(E_CANCELLED, 5, "cancelled")                                                                 \
    X(E_STATE, 6, "called in the wrong order")                                                     \
    X(E_SHAPE, 10, "shapes do not agree")                                                          \
    X(E_TYPE, 11, "types do not agree")                                                            \
    X(E_MODEL, 12, "the model is malformed")                                                       \
    X(E_UNSUPPORTED, 13, "not supported")                                                          \
    X(E_FORMAT, 20, "not a valid .holo file")                                                      \
    X(E_VERSION, 21, "written by a newer version")                                                 \
    X(E_KERNEL, 22, "a kernel is missing")                                                         \
    X(E_DATA, 30, "input data out of bounds")                                                      \
    X(E_SPACE, 31, "the memory for data-dependent results is too small")                           \
    X(E_BUG, 99, "a bug in Hologram")

typedef enum holo_status {
#define X(name, number, text) HOLO_##name = number,
    HOLO_STATUS_MAP(X)
#undef X
} holo_status;

/* One sentence for a status; static text. Any thread. */
HOLO_API const char *holo_status_text(holo_status status);

/* Filled by the function that failed. The caller owns it; passing NULL is always allowed. */
typedef struct holo_error {
    holo_status status;
    char message[508];
} holo_error;

/* ---- types and tensors --------------------------------------------------------------------- */

/* X(NAME, number, text, bits per element). The numbers are those of ONNX. */
#define HOLO_DTYPE_MAP(X)                                                                          \
    X(F32, 1, "float32", 32)                                                                       \
    X(U8, 2, "uint8", 8)                                                                           \
    X(I8, 3, "int8", 8)                                                                            \
    X(U16, 4, "uint16", 16)                                                                        \
    X(I16, 5, "int16", 16)                                                                         \
    X(I32, 6, "int32", 32)                                                                         \
    X(I64, 7, "int64", 64)                                                                         \
    X(STRING, 8, "string", 128)                                                                    \
    X(BOOL, 9, "bool", 8)                                                                          \
    X(F16, 10, "float16", 16)                                                                      \
    X(F64, 11, "float64", 64)                                                                      \
    X(U32, 12, "uint32", 32)                                                                       \
    X(U64, 13, "uint64", 64)                                                                       \
    X(C64, 14, "complex64", 64)                                                                    \
    X(C128, 15, "complex128", 128)                                                                 \
    X(BF16, 16, "bfloat16", 16)                                                                    \
    X(F8E4M3FN, 17, "float8e4m3fn", 8)                                                             \
    X(F8E4M3FNUZ, 18, "float8e4m3fnuz", 8)                                                         \
    X(F8E5M2, 19, "float8e5m2", 8)                                                                 \
    X(F8E5M2FNUZ, 20, "float8e5m2fnuz", 8)                                                         \
    X(U4, 21, "uint4", 4)                                                                          \
    X(I4, 22, "int4", 4)                                                                           \
    X(F4E2M1, 23, "float4e2m1", 4)                                                                 \
    X(F8E8M0, 24, "float8e8m0", 8)                                                                 \
    X(U2, 25, "uint2", 2)                                                                          \
    X(I2, 26, "int2", 2)                                                                           \
    X(SEQUENCE, 64, "sequence", 0)                                                                 \
    X(OPTIONAL, 65, "optional", 0)                                                                 \
    X(MAP, 66, "map", 0)

typedef enum holo_dtype {
    HOLO_NONE = 0,
#define X(name, number, text, bits) HOLO_##name = number,
    HOLO_DTYPE_MAP(X)
#undef X
} holo_dtype;

/* "float32", "int64", ...; "none" for HOLO_NONE and "unknown" otherwise. Static text. */
HOLO_API const char *holo_dtype_text(holo_dtype dtype);

enum { HOLO_MAX_RANK = 8 };

/* A dense row-major tensor. Elements narrower than a byte are packed, first element in the low
 * bits. STRING: `data` is an array of holo_string. SEQUENCE and OPTIONAL: rank 1, `data` is an
 * array of dim[0] holo_tensor. MAP: rank 1, dim[0] = 2, items are keys and values. */
typedef struct holo_tensor {
    void *data;
    int64_t dim[HOLO_MAX_RANK];
    int32_t rank;
    holo_dtype dtype;
} holo_tensor;

typedef struct holo_string {
    const char *text;
    uint64_t length;
} holo_string;

/* Number of elements (1 for rank 0), or -1 when a dimension is negative or the product overflows.
 */
HOLO_API int64_t holo_tensor_count(const holo_tensor *tensor);
/* Bytes that the elements occupy, or SIZE_MAX when that cannot be represented. */
HOLO_API size_t holo_tensor_bytes(const holo_tensor *tensor);

/* Initial value of an option struct: its size, everything else zero. */
#ifdef __cplusplus
#define HOLO_INIT(type)                                                                            \
    {                                                                                              \
        sizeof(type)                                                                               \
    }
#else
#define HOLO_INIT(type)                                                                            \
    {                                                                                              \
        .struct_size = sizeof(type)                                                                \
    }
#endif

/* ---- memory, log, limits ------------------------------------------------------------------- */

/* Lua's shape: p == NULL allocates, new_size == 0 frees and returns NULL, otherwise resizes. Memory
 * is aligned for any standard type. Must be safe to call from the thread that calls the library. */
typedef struct holo_allocator {
    void *(*resize)(void *user, void *p, size_t old_size, size_t new_size);
    void *user;
} holo_allocator;

typedef enum holo_log_level { HOLO_LOG_INFO = 0, HOLO_LOG_WARNING = 1 } holo_log_level;
typedef void (*holo_log_fn)(void *user, holo_log_level level, const char *sentence);

/* done / total in arbitrary units, with the name of the stage. Return false to stop the compile
 * (HOLO_E_CANCELLED, nothing is left on disk). */
typedef bool (*holo_progress_fn)(void *user, const char *stage, uint64_t done, uint64_t total);

/* Receives text or bytes in order; returns false when it cannot take more. */
typedef bool (*holo_sink_fn)(void *user, const void *bytes, size_t size);

/* What a model may ask for, checked before memory is taken; above it there is E_LIMIT with a
 * sentence. Zero means the default, which is large enough for any honest model. */
typedef struct holo_limits {
    uint64_t memory_bytes;    /* one compile (default: 1 GiB and 4 times the models' size), one open
                                 model or one session (default: none) */
    uint64_t tensor_bytes;    /* one tensor; default 64 GiB */
    uint64_t loop_iterations; /* all loops of one run; default 2^31 */
    uint64_t run_ms;          /* one run or one compile; default none. Looked at between steps and,
                                 inside of long ones, between parts of them */
    uint64_t tensor_elements; /* one tensor; default 2^40 */
    uint64_t steps;           /* one file, bodies included; default 2^24 */
    uint64_t string_bytes;    /* one string of a tensor or attribute; default 1 GiB */
    uint32_t name_bytes;      /* one name; default and at most 64 KiB */
    uint32_t rank;            /* of a tensor of the model; default and at most HOLO_MAX_RANK */
    uint32_t nesting;         /* bodies and functions inside each other; default and at most 64 */
} holo_limits;

/* ---- kernels --------------------------------------------------------------------------------- */

/* A table of kernels. Which kernels a program can run is decided by the table it passes to open, so
 * a program that names a small one links only that. */
typedef struct holo_kernels holo_kernels;

/* Every kernel this library has, tuned ones included. Static. */
HOLO_API const holo_kernels *holo_kernels_all(void);

/* Kernels that need other libraries: image codecs and regular expressions (libhologram_ext, which
 * is linked beside libhologram or libhologram_rt). Static. Pass it as `extra` when compiling and
 * opening models with ImageDecoder or RegexFullMatch. */
HOLO_API const holo_kernels *holo_kernels_ext(void);

/* ---- compile (libhologram) ------------------------------------------------------------------ */

typedef enum holo_numerics { HOLO_FAST = 0, HOLO_EXACT = 1 } holo_numerics;

/* Fixes a symbolic dimension (at_most false) or bounds it (at_most true): batch=1, past<=2048. */
typedef struct holo_dim_setting {
    const char *name;
    int64_t value;
    bool at_most;
} holo_dim_setting;

/* Fixes the whole shape of a graph input. */
typedef struct holo_shape_setting {
    const char *input;
    const int64_t *dim;
    int32_t rank;
} holo_shape_setting;

/* The inputs of one run, in any order; a name that is NULL or "" stands for the only input. */
typedef struct holo_sample {
    const char *const *name; /* count of them; NULL: none is named */
    const holo_tensor *tensor;
    size_t count;
} holo_sample;

enum {
    HOLO_COMPILE_NO_OPTIMIZE = 1 << 0,  /* only what is needed to run: no folding, no fusion */
    HOLO_COMPILE_CHECK_ONLY = 1 << 1,   /* report every unsupported operator; write nothing */
    HOLO_COMPILE_STRIP_SHAPES = 1 << 2, /* forget declared shapes of outputs and intermediates */
    HOLO_COMPILE_KEEP_VALUES =
        1 << 3,                    /* every value stays observable by name in a trace (slower) */
    HOLO_COMPILE_PLAIN = 1 << 4,   /* no weights packed and no layouts chosen for tuned kernels */
    HOLO_COMPILE_PALETTES = 1 << 5 /* weights with few different values are stored as these and
                                      codes, exactly, and decoded in each run: smaller, slower */
};

/* What weights of matrix products and convolutions become. INT8 with calibration is the fast one:
 * weights of a scale per output channel, two neighbours at most 128 together, which every CPU
 * multiplies in pairs; anything up to 127 where that moves the outputs too far. Products are exact
 * either way. */
typedef enum holo_quantize {
    HOLO_QUANTIZE_NONE = 0,
    HOLO_QUANTIZE_INT8 = 1,
    HOLO_QUANTIZE_INT4 = 2,
    HOLO_QUANTIZE_INT2 = 3,
    HOLO_QUANTIZE_TERNARY = 4, /* -1, 0, 1 times a scale */
    HOLO_QUANTIZE_Q96 = 5,     /* 96 levels */
    HOLO_QUANTIZE_INT3 = 6,
    HOLO_QUANTIZE_BINARY = 7,  /* -1, 1 times a scale; this and the next ones without calibration */
    HOLO_QUANTIZE_NF4 = 8,     /* 16 levels of the normal distribution, rounded to 8 bits */
    HOLO_QUANTIZE_MXFP4 = 9,   /* float4e2m1 with a power of two as scale */
    HOLO_QUANTIZE_PALETTE = 10 /* 16 levels, chosen for each layer */
} holo_quantize;

/* One quantised layer, or (node NULL) one output of the model. Errors are those against the float
 * model: of the weights, and of the result over the samples. Text is borrowed during the call. */
typedef struct holo_layer_report {
    const char *node, *op;
    const char *name; /* of the output */
    const char *form; /* what became of the weights */
    uint64_t weights;
    double weight_error; /* root mean square of the difference over that of the weights */
    bool is_measured;    /* there were samples to run */
    double mean, max;    /* |difference| */
    double relative;     /* root mean square of the difference over that of the result */
    double top; /* of an output: the largest relative difference of its 5 largest numbers */
} holo_layer_report;
typedef void (*holo_layer_fn)(void *user, const holo_layer_report *layer);

typedef struct holo_compile_options {
    size_t struct_size;
    uint32_t flags;
    holo_numerics numerics;
    const holo_dim_setting *dims;
    size_t n_dims;
    const holo_shape_setting *shapes;
    size_t n_shapes;
    const char *const *disable; /* names of passes to leave out */
    size_t n_disable;
    const char *dump_after; /* name of a pass; "import" and "all" are allowed */
    holo_sink_fn dump;      /* receives the text form */
    void *dump_user;
    holo_log_fn log;
    void *log_user;
    holo_progress_fn progress;
    void *progress_user;
    const holo_allocator *allocator;
    holo_limits limits;
    const holo_kernels *extra; /* kernels the result may need beside holo_kernels_all(): those of
                                  libhologram_ext; NULL: none */
    const holo_sample *precompute; /* runs whose answers the file carries, see holo_memo_new; of the
                                      only model */
    size_t n_precompute;
    holo_quantize quantize;
    const holo_sample *calibrate; /* runs that show the ranges of activations, of the only model:
                                     activations are quantised too */
    size_t n_calibrate;
    double percentile;   /* of the values that a range must hold, 50 to 100; 0: ranges have the
                            least squared error */
    holo_layer_fn layer; /* called for each quantised layer, then for each output */
    void *layer_user;
    holo_sink_fn emit; /* receives the quantised graph of the only model as an ONNX file */
    void *emit_user;
    double max_error; /* with samples: relative error of the largest outputs above which the layers
                         that cause most of it get finer inputs or stay floats, as many as it takes;
                         0: 0.01 */
} holo_compile_options;

#define HOLO_COMPILE_OPTIONS_INIT HOLO_INIT(holo_compile_options)

/* What a compile did; summed over graphs. */
typedef struct holo_compile_report {
    uint64_t nodes_before;
    uint64_t nodes_after;
    uint64_t steps;
    uint64_t weight_bytes;
    uint64_t arena_bytes;  /* 0 when sizes are symbolic */
    uint64_t arena_bound;  /* largest set of bytes live at once */
    uint64_t moved_before; /* bytes that all nodes read and write, as imported; open dimensions of
                              inputs count as 64 or their bound; 0 when data decide sizes */
    uint64_t moved_after;
    uint64_t tables;
    uint64_t file_bytes;
    uint64_t weight_tensors;  /* stored: equal ones count once */
    uint64_t weight_values;   /* their elements */
    uint64_t distinct_values; /* different elements of each, summed; at most 65536 of one count */
    uint64_t memo_entries;    /* answers that the file carries */
    uint64_t layers;      /* how often the longest repeated part of a graph stands there; 0: nothing
                             repeats */
    uint64_t layer_nodes; /* its nodes */
} holo_compile_report;

typedef struct holo_graph holo_graph;

/* Compiles one or more model files into one .holo at out_path: written to a temporary file beside
 * it, then renamed, so that out_path is never half a file. The graphs are named by the files' stems
 * and share equal weights. report may be NULL. Status: E_IO, E_MODEL, E_UNSUPPORTED, E_SHAPE,
 * E_TYPE, E_LIMIT, E_CANCELLED, E_NOMEM, E_ARG. */
HOLO_API holo_status holo_compile_files(const char *const *paths, size_t n_paths,
                                        const char *out_path, const holo_compile_options *options,
                                        holo_compile_report *report, holo_error *error);

/* Compiles one ONNX model that lies in memory. External data is refused. *out_data comes from
 * options->allocator (libc without one), starts at a multiple of 64 bytes and is owned by the
 * caller: free it with holo_buffer_free. */
HOLO_API holo_status holo_compile_memory(const void *data, size_t size,
                                         const holo_compile_options *options, void **out_data,
                                         size_t *out_size, holo_compile_report *report,
                                         holo_error *error);

/* The same for a model file, result in memory. */
HOLO_API holo_status holo_compile_file_to_memory(const char *path,
                                                 const holo_compile_options *options,
                                                 void **out_data, size_t *out_size,
                                                 holo_compile_report *report, holo_error *error);

/* The same for a graph made with the builder below; the graph stays usable. */
HOLO_API holo_status holo_compile_graph(const holo_graph *graph,
                                        const holo_compile_options *options, void **out_data,
                                        size_t *out_size, holo_compile_report *report,
                                        holo_error *error);

/* Frees what a holo_compile_* call allocated; allocator must be the same. NULL data is fine. */
HOLO_API void holo_buffer_free(const holo_allocator *allocator, void *data, size_t size);

/* Calls visit for each operator the compiler knows, sorted by domain and name. */
typedef struct holo_op_info {
    const char *domain; /* "" is ai.onnx */
    const char *name;
    const char *brief;
    const char *types; /* "float32 float16 ..." of the first input, borrowed during visit */
    const char *tier;  /* "composite", "lane", "kernel", "view", "control" */
    int32_t since;     /* first and current version */
    int32_t version;
} holo_op_info;
HOLO_API void holo_ops_visit(void (*visit)(void *user, const holo_op_info *op), void *user);
/* Name and one line for each pass, in pipeline order. */
HOLO_API void holo_passes_visit(void (*visit)(void *user, const char *name, const char *brief),
                                void *user);

/* ---- graph builder (libhologram) ------------------------------------------------------------ */

typedef enum holo_attr_kind {
    HOLO_ATTR_INT = 1,
    HOLO_ATTR_FLOAT,
    HOLO_ATTR_STRING,
    HOLO_ATTR_INTS,
    HOLO_ATTR_FLOATS,
    HOLO_ATTR_STRINGS,
    HOLO_ATTR_TENSOR
} holo_attr_kind;

typedef struct holo_attr {
    const char *name;
    holo_attr_kind kind;
    int64_t i;
    float f;
    const char *s;
    const int64_t *ints;
    const float *floats;
    const char *const *strings;
    size_t count; /* of ints, floats or strings */
    const holo_tensor *tensor;
} holo_attr;

typedef uint32_t holo_value_id; /* 0: an optional input that is absent */

/* A new empty graph of opset `opset` (0: the newest). Free with holo_graph_free. Everything passed
 * to the functions below is copied. They record the first error; holo_compile_graph reports it, so
 * calls may be chained without checks: a failed call returns 0 and later calls do nothing. */
HOLO_API holo_status holo_graph_new(int32_t opset, const holo_allocator *allocator,
                                    holo_graph **out, holo_error *error);
HOLO_API void holo_graph_free(holo_graph *graph);
/* dims: text like "batch,3,224,224", "" for rank 0; a word is a symbolic dimension, "?" an unnamed
 * one. */
HOLO_API holo_value_id holo_graph_input(holo_graph *graph, const char *name, holo_dtype dtype,
                                        const char *dims);
HOLO_API holo_value_id holo_graph_constant(holo_graph *graph, const holo_tensor *tensor);
/* Adds a node of operator `op` ("Conv", or "com.microsoft:Gelu"); out receives n_out value ids. */
HOLO_API bool holo_graph_node(holo_graph *graph, const char *op, const holo_value_id *in,
                              size_t n_in, const holo_attr *attrs, size_t n_attrs,
                              holo_value_id *out, size_t n_out);
HOLO_API bool holo_graph_output(holo_graph *graph, holo_value_id value, const char *name);

/* ---- open (run side from here on) ------------------------------------------------------------ */

enum {
    HOLO_OPEN_COPY =
        1 << 0, /* read into memory instead of mapping: safe when the file may change */
    HOLO_OPEN_PREFAULT = 1 << 1,      /* touch all weight pages now */
    HOLO_OPEN_CHECK_WEIGHTS = 1 << 2, /* verify the hash of the weights too (reads them all) */
    HOLO_OPEN_REFERENCE = 1 << 3,     /* only portable reference kernels, for comparison */
    HOLO_OPEN_NO_AVX512 = 1 << 4      /* kernels for AVX2 where the CPU has AVX-512 too */
};

typedef struct holo_open_options {
    size_t struct_size;
    uint32_t flags;
    const holo_allocator *allocator;
    holo_limits limits;
    const holo_kernels *extra; /* searched after `kernels`: holo_kernels_ext(); NULL: none */
} holo_open_options;

#define HOLO_OPEN_OPTIONS_INIT HOLO_INIT(holo_open_options)

typedef struct holo_model holo_model;

/* Opens a .holo file, maps it, copies and verifies its program. *out must be freed with
 * holo_model_free after its sessions. Status: E_IO, E_FORMAT, E_VERSION, E_KERNEL, E_LIMIT,
 * E_NOMEM, E_ARG. Any thread. */
HOLO_API holo_status holo_model_open_file(const char *path, const holo_kernels *kernels,
                                          const holo_open_options *options, holo_model **out,
                                          holo_error *error);
/* The same for bytes in memory, which must outlive the model (unless HOLO_OPEN_COPY) and start at
 * an address divisible by 64. */
HOLO_API holo_status holo_model_open_memory(const void *data, size_t size,
                                            const holo_kernels *kernels,
                                            const holo_open_options *options, holo_model **out,
                                            holo_error *error);
/* The same for `size` bytes at `offset` of an open file descriptor (size 0: to its end). The
 * descriptor may be closed afterwards. */
HOLO_API holo_status holo_model_open_fd(int fd, uint64_t offset, uint64_t size,
                                        const holo_kernels *kernels,
                                        const holo_open_options *options, holo_model **out,
                                        holo_error *error);
HOLO_API void holo_model_free(holo_model *model);

/* What a graph takes or gives. dim[i] >= 0 is fixed; -1 is symbolic, dim_name[i] then holds its
 * name
 * ("" when unnamed). Text is borrowed from the model. */
typedef struct holo_port {
    const char *name;
    holo_dtype dtype;
    int32_t rank; /* -1: known only at run time */
    int64_t dim[HOLO_MAX_RANK];
    const char *dim_name[HOLO_MAX_RANK];
} holo_port;

HOLO_API uint32_t holo_model_graph_count(const holo_model *model);
/* Borrowed from the model; NULL when graph is out of range. */
HOLO_API const char *holo_model_graph_name(const holo_model *model, uint32_t graph);
HOLO_API uint32_t holo_model_input_count(const holo_model *model, uint32_t graph);
HOLO_API uint32_t holo_model_output_count(const holo_model *model, uint32_t graph);
HOLO_API holo_status holo_model_input(const holo_model *model, uint32_t graph, uint32_t index,
                                      holo_port *out);
HOLO_API holo_status holo_model_output(const holo_model *model, uint32_t graph, uint32_t index,
                                       holo_port *out);
/* Metadata kept from the model: visits "producer", "doc", "license", ... Text is borrowed. */
HOLO_API void holo_model_metadata(const holo_model *model,
                                  void (*visit)(void *user, const char *key, const char *value),
                                  void *user);

/* ---- inspect (libhologram) ------------------------------------------------------------------- */

typedef enum holo_inspect_form {
    HOLO_INSPECT_TEXT = 0,    /* a page for a person */
    HOLO_INSPECT_JSON = 1,    /* one object */
    HOLO_INSPECT_PROGRAM = 2, /* disassembly, a step a line */
    HOLO_INSPECT_HTML = 3     /* one self-contained page with pictures */
} holo_inspect_form;

HOLO_API holo_status holo_model_inspect(const holo_model *model, holo_inspect_form form,
                                        holo_sink_fn sink, void *user, holo_error *error);

/* Writes one graph, whose sizes are all fixed, as a C99 file that needs nothing but libm: a
 * function `name` that takes the inputs and outputs in order, weights as constant arrays, memory as
 * one static array. The model should come from a compile with HOLO_COMPILE_PLAIN. Status: E_SHAPE
 * for an open size, E_UNSUPPORTED naming every step that has no C, E_LIMIT, E_NOMEM, E_IO, E_ARG.
 */
HOLO_API holo_status holo_model_emit_c(const holo_model *model, uint32_t graph, const char *name,
                                       holo_sink_fn sink, void *user, holo_error *error);

/* ---- proofs (libhologram) -------------------------------------------------------------------- */

/* One certificate of a file, or a table that has none. Texts are borrowed during the call. */
typedef struct holo_proof {
    const char *name;  /* of the node */
    const char *claim; /* "table uint8 -> uint8 base 0 entries 256 rows 1 classes 0" */
    const char *why;   /* NULL when it holds, otherwise the reason why not */
} holo_proof;

typedef struct holo_prove_report {
    uint64_t proved, failed;
} holo_prove_report;

/* Re-derives from the text that the file carries what every table must say, code by code, and every
 * bound, and compares with the bytes of the file. visit and report may be NULL. A claim that does
 * not hold is counted, not an error. Status: E_IO, E_FORMAT, E_VERSION, E_NOMEM, E_ARG. */
HOLO_API holo_status holo_prove_file(const char *path,
                                     void (*visit)(void *user, const holo_proof *proof), void *user,
                                     holo_prove_report *report, holo_error *error);

/* ---- run ------------------------------------------------------------------------------------- */

/* Threads that sessions share. A pool of n threads uses the calling thread and n - 1 others,
 * started at the first use. Free after the sessions that use it. One run at a time uses it; others
 * wait. A process that was forked off while no run used it goes on with one thread. */
typedef struct holo_pool holo_pool;
HOLO_API holo_status holo_pool_new(uint32_t threads, const holo_allocator *allocator,
                                   holo_pool **out, holo_error *error);
HOLO_API void holo_pool_free(holo_pool *pool);

/* Answers that are known already: those that the file carries (holo_compile_options.precompute),
 * and those of earlier runs as far as `memory_bytes` holds them; the one used longest ago makes
 * room. A session with a memo looks its inputs up before it runs: they are hashed, then compared as
 * a whole, so an answer is never that of other inputs. A memo belongs to one graph of a model,
 * which must outlive it; sessions of that graph may share it on one thread at a time. Graphs with
 * strings, containers or outputs whose size depends on data have none (E_UNSUPPORTED).
 *
 * Where the inputs as a whole are new, parts of the run that depend on some of them only (the
 * encoder of a text beside a picture, an embedding of the time step) are looked up by those: the
 * memo keeps what such a part gives to the rest when that is cheaper than its steps, and the run
 * leaves the steps out. */
enum {
    HOLO_MEMO_WHOLE = 1 << 0 /* whole runs only, no parts of them */
};

typedef struct holo_memo_options {
    size_t struct_size;
    uint32_t graph;
    uint32_t flags;
    void *memory;        /* NULL: from the allocator. 64-byte aligned */
    size_t memory_bytes; /* for the memo as a whole; 0: only what the file carries */
    const holo_allocator *allocator;
} holo_memo_options;

#define HOLO_MEMO_OPTIONS_INIT HOLO_INIT(holo_memo_options)

typedef struct holo_memo holo_memo;

/* Free after the sessions that use it. Status: E_ARG, E_NOMEM, E_UNSUPPORTED, E_FORMAT. */
HOLO_API holo_status holo_memo_new(const holo_model *model, const holo_memo_options *options,
                                   holo_memo **out, holo_error *error);
HOLO_API void holo_memo_free(holo_memo *memo);

typedef struct holo_memo_stats {
    uint64_t hits, misses;
    uint64_t precomputed; /* answers in the file */
    uint64_t stored;      /* runs kept so far */
    uint64_t evicted;     /* of those, how many had to go */
    uint64_t too_large;   /* runs that did not fit at all */
    uint64_t entries;     /* in memory now, those of parts included */
    uint64_t prefixes;    /* parts of a run that pay with the sizes of the last one */
    uint64_t prefix_hits, prefix_misses; /* of those, over all runs */
    uint64_t bytes, capacity;
} holo_memo_stats;
HOLO_API void holo_memo_get_stats(const holo_memo *memo, holo_memo_stats *out);

/* Called after each step of a traced run, in the order of the steps. */
typedef struct holo_step_info {
    uint32_t index;
    const char *node; /* name of the node(s) it came from */
    const char *kernel;
    double seconds; /* without those of the steps of its bodies */
    double flops;   /* 0 when not known */
    double bytes;   /* read and written */
    const holo_tensor *outputs;
    const char *const *output_names;
    uint32_t n_outputs;
} holo_step_info;
typedef void (*holo_trace_fn)(void *user, const holo_step_info *step);

enum {
    HOLO_SESSION_GROW =
        1 << 0, /* data-dependent results may allocate during run instead of E_SPACE */
    HOLO_SESSION_POISON = 1 << 1, /* fill the arena with NaN-like bytes before each run (tests) */
    HOLO_SESSION_SPLIT = 1 << 2,  /* give the pool every step, however small (tests) */
    HOLO_SESSION_MEASURE = 1 << 3 /* prepare settles sizes for holo_session_get_stats and takes no
                                     memory for them; run fails with E_STATE */
};

typedef struct holo_session_options {
    size_t struct_size;
    uint32_t flags;
    uint32_t graph;
    holo_pool *pool; /* NULL: the calling thread alone */
    void *memory;    /* for what prepare lays out, bodies of If and Loop included; NULL: from the
                        allocator. 64-byte aligned. A session with HOLO_SESSION_MEASURE says how
                        much it takes: arena_bytes and scratch_bytes. Data-dependent results come
                        from the allocator even so (late_bytes); limits.memory_bytes counts those */
    size_t memory_bytes;
    size_t late_bytes; /* reserve for data-dependent results; 0: 1 MiB if the graph has any */
    const holo_allocator *allocator;
    holo_limits limits;
    holo_trace_fn trace;
    void *trace_user;
    holo_memo *memo; /* of the same graph; NULL: every run computes */
} holo_session_options;

#define HOLO_SESSION_OPTIONS_INIT HOLO_INIT(holo_session_options)

typedef struct holo_session holo_session;

/* A session runs one graph of a model, which must outlive it. Status: E_ARG, E_NOMEM, E_LIMIT. */
HOLO_API holo_status holo_session_new(const holo_model *model, const holo_session_options *options,
                                      holo_session **out, holo_error *error);
HOLO_API void holo_session_free(holo_session *session);

/* Index of a named input or output, or -1. */
HOLO_API int32_t holo_session_find_input(const holo_session *session, const char *name);
HOLO_API int32_t holo_session_find_output(const holo_session *session, const char *name);

/* Binds the caller's buffer: no copy. tensor->data must stay valid and unchanged until it is bound
 * anew or the session is freed; its contents may change between runs. Strings and containers are
 * checked when they are bound: bind them anew after changing what they point to. Status: E_ARG,
 * E_TYPE, E_SHAPE. */
HOLO_API holo_status holo_session_set_input(holo_session *session, uint32_t index,
                                            const holo_tensor *tensor, holo_error *error);
/* Binds a buffer of `bytes` bytes that receives output `index` (NULL: the session's own memory
 * again). It may overlap inputs, which then hold the result after the run, but no other output's.
 */
HOLO_API holo_status holo_session_set_output(holo_session *session, uint32_t index, void *data,
                                             size_t bytes, holo_error *error);

/* Binds one buffer as an input and as the output that continues it, as decoders have them for keys
 * and values: output = Concat(input, new rows) along `axis`. buffer->dim[axis] is its capacity, the
 * first `length` rows of it are the input. A run writes the new rows behind them and copies nothing
 * else; bind it again with the new length for the next. holo_session_output gives the whole buffer.
 * Nothing else may lie in it; set_input or set_output on either of the two ends it. Besides Concat
 * only attention may read the output: prepare says E_UNSUPPORTED and names the node otherwise.
 * Status: E_ARG, E_TYPE, E_SHAPE, E_UNSUPPORTED, E_NOMEM. */
HOLO_API holo_status holo_session_set_cache(holo_session *session, uint32_t input, uint32_t output,
                                            const holo_tensor *buffer, int32_t axis, int64_t length,
                                            holo_error *error);

/* Rows of the cache of an output after a run: the length to bind next. -1: it has not run, or the
 * output is no cache. */
HOLO_API int64_t holo_session_cache_length(const holo_session *session, uint32_t output);

/* Settles sizes for the bound inputs: evaluates dimensions, lays out memory, checks every step. Run
 * does it when input shapes changed; call it to pay at a time of your choice. The only call that
 * grows memory. Status: E_STATE (an input is not bound), E_SHAPE, E_LIMIT, E_NOMEM, E_FORMAT. */
HOLO_API holo_status holo_session_prepare(holo_session *session, holo_error *error);

/* Runs the graph once. Allocates nothing when prepared. Status: what prepare returns, E_DATA,
 * E_SPACE, E_CANCELLED, E_LIMIT. After any failure the session can be used again. */
HOLO_API holo_status holo_session_run(holo_session *session, holo_error *error);

/* View of an output after a run; the data is valid until the next prepare, run or free. */
HOLO_API holo_status holo_session_output(const holo_session *session, uint32_t index,
                                         holo_tensor *out, holo_error *error);

/* Makes the current or next run of this session stop soon with E_CANCELLED. Any thread. */
HOLO_API void holo_session_cancel(holo_session *session);

typedef struct holo_session_stats {
    uint64_t arena_bytes;  /* planned region */
    uint64_t arena_bound;  /* largest set of bytes live at once: no layout can be smaller */
    uint64_t late_bytes;   /* region for data-dependent results */
    uint64_t weight_bytes; /* of the file, mapped */
    uint64_t scratch_bytes;
    uint32_t steps;
    uint32_t threads;
} holo_session_stats;
HOLO_API void holo_session_get_stats(const holo_session *session, holo_session_stats *out);

/* ---- Atlas: 96 classes of bytes -------------------------------------------------------------- */

/* A byte has three coordinates: h2 (bits 7 and 6; 0 to 3), d (bits 5 and 4, where 11 counts as 00;
 * 0 to 2) and l (bits 3 to 1; 0 to 7). Its class is 24 h2 + 8 d + l, below 96. Class and residual
 * (bit 0: the byte's; bit 1: bits 5 and 4 were 11) together are the byte again. A function of bytes
 * that is constant on every class is a map of 96 entries. `hologram atlas` prints and checks the
 * laws. All functions are pure; any thread. A class of 96 or more is taken modulo 96. */
enum { HOLO_ATLAS_CLASSES = 96, HOLO_ATLAS_PAGES = 48, HOLO_ATLAS_WIDE_PAGES = 480 };

HOLO_API uint8_t holo_atlas_class(uint8_t byte);
HOLO_API uint8_t holo_atlas_residual(uint8_t byte);
/* The byte of a class and a residual; residual 0 gives the class's representative. Bit 1 of the
 * residual counts only where d is 0. */
HOLO_API uint8_t holo_atlas_byte(uint8_t number, uint8_t residual);
HOLO_API void holo_atlas_coordinates(uint8_t number, uint8_t *h2, uint8_t *d, uint8_t *l);

/* Maps from class to class. A word of R (h2 + 1 mod 4), D (d + 1 mod 3), T (l + 1 mod 8) and M
 * (d to -d mod 3) is a map; the last letter acts first, and "" is the identity. False, and the map
 * untouched, when the word has another letter. */
HOLO_API bool holo_atlas_map(const char *word, uint8_t map[96]);
/* out[i] = g[f[i]]; out may be g or f. False when an entry is not below 96. */
HOLO_API bool holo_atlas_compose(const uint8_t *g, const uint8_t *f, uint8_t *out);
/* The word of a map as R.., D.., T.., M with as few letters as possible, at most 13 and the end;
 * false when no word gives this map. Maps are equal exactly when their words are. */
HOLO_API bool holo_atlas_word(const uint8_t map[96], char word[16]);
/* Whether a function of bytes is constant on every class; then map[c] is its value there. */
HOLO_API bool holo_atlas_factors(const uint8_t function[256], uint8_t map[96]);

/* Q96, a quantiser with 96 levels: code = clamp(round((x - low) / step), 0, 95), ties to even, NaN
 * to 0; value = low + code step. */
typedef struct holo_q96 {
    float low, step;
} holo_q96;
/* Levels spread over [low, high]; low < high, both finite. */
HOLO_API holo_q96 holo_q96_make(float low, float high);
HOLO_API uint8_t holo_q96_code(const holo_q96 *q, float x);
HOLO_API float holo_q96_value(const holo_q96 *q, uint8_t code);

/* Addresses, assigned to entries of a store: a cell is 256 page + byte with page below 48; with a
 * class and wide pages below 480, ((class 480 + page) 256 + byte) 65536 + sub. What is out of
 * range gives UINT64_MAX. */
typedef struct holo_atlas_address {
    uint8_t number; /* class */
    uint16_t page;
    uint8_t byte;
    uint16_t sub;
} holo_atlas_address;
HOLO_API uint64_t holo_atlas_cell(uint16_t page, uint8_t byte);
HOLO_API uint64_t holo_atlas_class_cell(uint8_t number, uint16_t page, uint8_t byte);
HOLO_API uint64_t holo_atlas_address_number(const holo_atlas_address *address);
/* False when the number is above the last address. */
HOLO_API bool holo_atlas_address_of(uint64_t number, holo_atlas_address *out);
/* A hash as a slot below `slots`, without the bias of a remainder: high bits decide. */
HOLO_API uint32_t holo_atlas_slot(uint64_t hash, uint32_t slots);

/* Integers modulo 96 or 48 (any modulus from 1 on): sum, product, n-fold sum. */
HOLO_API uint32_t holo_ring_add(uint32_t modulus, uint32_t a, uint32_t b);
HOLO_API uint32_t holo_ring_multiply(uint32_t modulus, uint32_t a, uint32_t b);
HOLO_API uint32_t holo_ring_times(uint32_t modulus, int64_t n, uint32_t a);

#ifdef __cplusplus
}
#endif

#endif

/* kernel.h - what a kernel is: the contract between the planner, the runtime and the code that
 * computes.
 *
 * A kernel works on dense row-major tensors. Everything it needs to know at run time comes in
 * hg_args: tensors with their dimensions, integer parameters (evaluated dimension expressions; a
 * float parameter is the bit pattern of a double) and, for some, lane code.
 *
 * - check: pure; refuses every argument for which run could read or write outside its tensors or
 *   behave in an undefined way. Called whenever sizes are settled, before the first run. Like
 *   units, scratch and cost it looks at types, dims, parameters and lane code but for its
 *   constants, never at data (unless the kernel has size): of steps that have these in common, one
 *   is asked.
 * - size: only for kernels whose output sizes depend on data: sets rank and dims of the outputs
 *   from the input data. check has accepted everything but the outputs before and is called again
 *   after. May ask for bytes behind the elements of an output with a->extra, for text and items.
 * - units: number of independent units of work (rows, tiles ...); a unit is never part of a
 *   reduction that another unit shares, so results do not depend on how units are split.
 * - scratch: bytes of private scratch each concurrent call of run needs, 64-byte aligned.
 * - work: units and scratch at once, where both follow from one plan; those two are absent then.
 * - run: computes units [begin, end). Never allocates, locks, logs or fails. What only data can
 *   break (an index out of range) it reports with hg_fault_* and skips the access.
 *
 * Numerics: the reference kernel (src/kernel) defines the exact profile. A tuned variant (same
 * name, src/backend/cpu/<isa>) without HG_KERNEL_FAST gives the same bits; with it, results may
 * differ in rounding and it is used only under --numerics fast. */
#ifndef HG_ISA_KERNEL_H
#define HG_ISA_KERNEL_H

#include "base/dtype.h"
#include "base/error.h"
#include "base/thread.h"
#include "isa/lane.h"

#include <string.h>

/* Limits of one call; verify refuses programs above them. */
enum { HG_MAX_IN = 4096, HG_MAX_OUT = 1024, HG_MAX_PARAM = 4096 };

typedef struct hg_fault hg_fault;

typedef struct hg_args {
    const holo_tensor *in; /* an absent optional input has dtype HOLO_NONE and data NULL */
    holo_tensor *out;
    const int64_t *param;
    const hg_lane_code *code; /* verified; NULL when the step has none */
    hg_fault *fault;
    uint32_t n_in, n_out, n_param;
    const uint64_t *turn; /* of the loops around the step; random numbers depend on it; NULL: 0 */
    size_t *extra; /* per output: bytes behind its elements (isa/deep.h); 0 unless set by size */
    bool (*stop)(const void *user); /* see hg_args_stopped; NULL: never */
    const void *stop_user;
    holo_pool *team; /* see hg_args_team; NULL: the calling thread works alone */
    uint32_t cpu;    /* HG_CPU_*: what may be used beside what the variant needs; whether it is
                        must not change the bits of a result */
} hg_args;

/* The run is cancelled or out of time: what the kernel gives does not matter any more. A kernel
 * whose units may take long asks every millisecond or so and returns. */
static inline bool hg_args_stopped(const hg_args *a)
{
    return a->stop != NULL && a->stop(a->stop_user);
}

/* Threads that wait while this call of run, the only one of its step, works: for kernels whose
 * units are long chains of work that can be shared link by link, with hg_pool_run(a->team, ...).
 * How a link is shared must not change its bits. Sharing costs about half a microsecond. */
static inline int64_t hg_args_team(const hg_args *a)
{
    return (int64_t)hg_pool_swift(a->team);
}

typedef struct hg_range {
    int64_t begin, end; /* units */
    void *scratch;      /* private to this call */
} hg_range;

enum {
    HG_KERNEL_FAST = 1 << 0, /* rounding may differ from the reference kernel */
    HG_KERNEL_INPLACE =
        1 << 1,              /* out[0] may be the same memory as any input of the same size in bytes
                                and shape: run reads element i of it before it writes element i */
    HG_KERNEL_LATE = 1 << 2, /* has .size: output dims are known only after reading data */
    HG_KERNEL_APPEND = 1 << 3, /* out[0] is in[0], then in[1] and so on along dimension param[0] */
    HG_KERNEL_KEYS = 1 << 4,   /* reads keys and values through strides, kernel/attention.h */
    HG_KERNEL_ASKS = 1 << 5    /* asks whether to stop: long work needs no parts for that */
};

/* CPU features a tuned variant needs (base/cpu.h has the same bits). */
enum {
    HG_CPU_AVX2 = 1 << 0,
    HG_CPU_AVX512 = 1 << 1,
    HG_CPU_NEON = 1 << 2,
    HG_CPU_WASM = 1 << 3,
    HG_CPU_VNNI = 1 << 4,
    HG_CPU_DOTPROD = 1 << 5,
    HG_CPU_WIDE = 1 << 6 /* 512 bits are multiplied at once, not in two halves */
};

typedef struct hg_cost {
    double flops;
    double bytes; /* 0: the runtime sums the operands */
} hg_cost;

typedef struct hg_work {
    int64_t units;
    size_t scratch;
} hg_work;

typedef struct hg_kernel {
    const char *name; /* "<stem>[.<types>][.<layout>]"; what a .holo file refers to */
    uint32_t flags;
    uint32_t cpu; /* features needed; 0 for reference kernels */
    holo_status (*check)(const hg_args *a, holo_error *e);
    holo_status (*size)(const hg_args *a, holo_error *e);
    int64_t (*units)(const hg_args *a);
    size_t (*scratch)(const hg_args *a);
    hg_work (*work)(const hg_args *a);
    void (*cost)(const hg_args *a, hg_cost *cost);
    void (*run)(const hg_args *a, hg_range r);
} hg_kernel;

/* How the work of checked arguments is cut, and what each part needs. */
static inline hg_work hg_kernel_work(const hg_kernel *k, const hg_args *a)
{
    if (k->work != NULL) return k->work(a);
    return (hg_work){k->units(a), k->scratch == NULL ? 0 : k->scratch(a)};
}

/* The table a program passes to open; sorted by name, the most demanding variant of a name last. */
struct holo_kernels {
    size_t struct_size;
    const hg_kernel *const *list; /* each a {0}-terminated array of kernels */
    size_t count;
};

/* A kernel of that name, any variant; NULL when there is none. A NULL table is empty. */
const hg_kernel *hg_kernel_lookup(const holo_kernels *kernels, const char *name);

/* ---- faults: what only data can break ------------------------------------------------------- */

typedef enum hg_fault_kind {
    HG_FAULT_NONE = 0,
    HG_FAULT_RANGE,  /* value is outside [low, high] */
    HG_FAULT_DIVIDE, /* integer division by zero */
    HG_FAULT_VALUE   /* value is not allowed; `what` says why */
} hg_fault_kind;

/* The fault with the lowest element index wins, so that the message does not depend on threads. */
struct hg_fault {
    volatile int32_t lock; /* touched by isa/kernel.c alone */
    hg_fault_kind kind;
    const char *what; /* static text: "index", "trip count", ... */
    int64_t element, value, low, high;
};

void hg_fault_range(hg_fault *fault, const char *what, int64_t element, int64_t value, int64_t low,
                    int64_t high);
void hg_fault_divide(hg_fault *fault, int64_t element);
void hg_fault_value(hg_fault *fault, const char *what, int64_t element, int64_t value);
/* The sentence of a fault, without the node. */
holo_status hg_fault_fail(const hg_fault *fault, holo_error *e);

/* ---- helpers for check and run ----------------------------------------------------------------
 */

/* One rule of a check: a sentence with actual and expected values. The runtime puts node and kernel
 * in front. Every use must be reached by a test that breaks exactly this rule. */
#ifndef HG_RULES
#define HG_REQUIRE(e, condition, status, ...)                                                      \
    do {                                                                                           \
        if (HG_UNLIKELY(!(condition))) return hg_fail((e), (status), __VA_ARGS__);                 \
    } while (0)
#else
/* Test builds list the rules and note which were broken; test/fault/checks.c wants each to be. */
typedef struct hg_rule {
    _Alignas(32) const char *file;
    const char *text;
    int32_t line, broken;
} hg_rule;
#define HG_REQUIRE(e, condition, status, ...)                                                      \
    do {                                                                                           \
        static HG_SECTION("hg_rules") hg_rule hg_rule_here = {__FILE__, #condition, __LINE__, 0};  \
        if (HG_UNLIKELY(!(condition))) {                                                           \
            hg_rule_here.broken = 1;                                                               \
            return hg_fail((e), (status), __VA_ARGS__);                                            \
        }                                                                                          \
    } while (0)
/* A call of one of the functions below is a rule too. */
#define HG_RULE_CALL(call)                                                                         \
    __extension__({                                                                                \
        static HG_SECTION("hg_rules") hg_rule hg_rule_here = {__FILE__, #call, __LINE__, 0};       \
        holo_status hg_rule_status = call;                                                         \
        if (hg_rule_status != HOLO_OK) hg_rule_here.broken = 1;                                    \
        hg_rule_status;                                                                            \
    })
#endif

/* Number of operands and parameters; `max` of -1 means no upper bound. */
holo_status hg_check_counts(const hg_args *a, holo_error *e, int in_min, int in_max, int n_out,
                            int n_param);
/* in[i] is present and has one of the types; likewise for out. */
holo_status hg_check_in_type(const hg_args *a, holo_error *e, uint32_t i, hg_types types);
holo_status hg_check_out_type(const hg_args *a, holo_error *e, uint32_t i, hg_types types);
holo_status hg_check_rank(const holo_tensor *t, holo_error *e, const char *what, int rank_min,
                          int rank_max);
holo_status hg_check_same_shape(const holo_tensor *a, const holo_tensor *b, holo_error *e,
                                const char *what);
holo_status hg_check_same_type(const holo_tensor *a, const holo_tensor *b, holo_error *e,
                               const char *what);
/* A product: x has a last dimension, out has its rank and its sizes but for the last. */
holo_status hg_check_rows(const holo_tensor *x, const holo_tensor *out, holo_error *e);
/* param[i] in [low, high]. */
holo_status hg_check_param(const hg_args *a, holo_error *e, uint32_t i, const char *what,
                           int64_t low, int64_t high);
/* in[i] broadcasts (numpy rules, right aligned) to shape `to`. */
holo_status hg_check_broadcast(const holo_tensor *from, const holo_tensor *to, holo_error *e,
                               const char *what);

#if defined(HG_RULES) && !defined(HG_RULES_INSIDE)
#define hg_check_counts(...) HG_RULE_CALL((hg_check_counts)(__VA_ARGS__))
#define hg_check_in_type(...) HG_RULE_CALL((hg_check_in_type)(__VA_ARGS__))
#define hg_check_out_type(...) HG_RULE_CALL((hg_check_out_type)(__VA_ARGS__))
#define hg_check_rank(...) HG_RULE_CALL((hg_check_rank)(__VA_ARGS__))
#define hg_check_same_shape(...) HG_RULE_CALL((hg_check_same_shape)(__VA_ARGS__))
#define hg_check_same_type(...) HG_RULE_CALL((hg_check_same_type)(__VA_ARGS__))
#define hg_check_rows(...) HG_RULE_CALL((hg_check_rows)(__VA_ARGS__))
#define hg_check_param(...) HG_RULE_CALL((hg_check_param)(__VA_ARGS__))
#define hg_check_broadcast(...) HG_RULE_CALL((hg_check_broadcast)(__VA_ARGS__))
#endif

static inline bool hg_args_has(const hg_args *a, uint32_t i)
{
    return i < a->n_in && a->in[i].dtype != HOLO_NONE;
}

/* A float parameter travels as the bits of a double. */
static inline double hg_param_f64(const hg_args *a, uint32_t i)
{
    double x;
    memcpy(&x, &a->param[i], sizeof x);
    return x;
}

/* Product of dim[begin, end); check has established that it does not overflow. */
static inline int64_t hg_dims_product(const holo_tensor *t, int begin, int end)
{
    int64_t n = 1;
    for (int i = begin; i < end; i++)
        n *= t->dim[i];
    return n;
}

/* Element strides of `from` when it is broadcast to `to`: 0 along broadcast dims; to->rank entries.
 */
void hg_broadcast_strides(const holo_tensor *from, const holo_tensor *to, int64_t *stride);

#endif

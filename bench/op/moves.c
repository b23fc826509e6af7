/* moves.c - transpositions of bytes and of floats, one thread: the reference and the tuned kernel,
 * and a table of 256 entries on the way (table.copy) against two steps. */
#include "bench.h"

extern const hg_kernel hg_kernels_copy_bytes[], hg_kernels_copy_bytes_avx2[];
extern const hg_kernel hg_kernels_copy_words[], hg_kernels_copy_words_avx2[];
extern const hg_kernel hg_kernels_table_avx2[], hg_kernels_table_copy_avx2[];

typedef struct shape {
    const char *name;
    int64_t rows, cols; /* of the input */
} shape;

static const shape shapes[] = {
    {"12544 pixels of 64 bytes to planes", 12544, 64},
    {"200704 pixels of 64 bytes to planes", 200704, 64},
    {"64 planes to 12544 pixels", 64, 12544},
    {"50176 pixels of 3 bytes to planes", 50176, 3},
    {"8294400 pixels of 3 bytes to planes", 8294400, 3},
    {"3 planes to 8294400 pixels", 3, 8294400},
};

static const shape words[] = {
    {"300 x 200 floats", 300, 200},
    {"3000 x 2000 floats", 3000, 2000},
    {"784 pixels of 64 floats to planes", 784, 64},
    {"64 planes of 784 floats to pixels", 64, 784},
    {"262144 pixels of 3 floats to planes", 262144, 3},
};

static void moves_words(const shape *s)
{
    holo_tensor x = bench_tensor(HOLO_F32, 2, (int64_t[]){s->rows, s->cols});
    holo_tensor y = bench_tensor(HOLO_F32, 2, (int64_t[]){s->cols, s->rows});
    const int64_t param[] = {0, s->cols, 1, s->rows, s->cols};
    const hg_args move = {.in = &x, .out = &y, .param = param, .n_in = 1, .n_out = 1, .n_param = 5};
    const double slow = bench_run(s->name, hg_kernels_copy_words, &move, 0, 0.2);
    const double fast = bench_run("  tuned", hg_kernels_copy_words_avx2, &move, 0, 0.2);
    printf("  reference / tuned %.1f\n", slow / fast);
    free(x.data);
    free(y.data);
}

int main(void)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        moves_words(&words[i]);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const shape *s = &shapes[i];
        holo_tensor x[2] = {bench_tensor(HOLO_U8, 2, (int64_t[]){s->rows, s->cols}),
                            bench_tensor(HOLO_U8, 1, (int64_t[]){256})};
        holo_tensor y = bench_tensor(HOLO_U8, 2, (int64_t[]){s->cols, s->rows}), z = y;
        z.data = bench_alloc(holo_tensor_bytes(&z));
        const int64_t param[] = {0, 0, 0, 0, s->cols, 1, s->rows, s->cols};
        const holo_tensor looked[2] = {y, x[1]};
        const hg_args move = {
            .in = x, .out = &y, .param = param + 3, .n_in = 1, .n_out = 1, .n_param = 5};
        const hg_args look = {
            .in = looked, .out = &z, .param = param, .n_in = 2, .n_out = 1, .n_param = 3};
        const hg_args both = {
            .in = x, .out = &y, .param = param, .n_in = 2, .n_out = 1, .n_param = 8};
        const double slow = bench_run(s->name, hg_kernels_copy_bytes, &move, 0, 0.2);
        const double fast = bench_run("  tuned", hg_kernels_copy_bytes_avx2, &move, 0, 0.2);
        const double table = bench_run("  table", hg_kernels_table_avx2, &look, 0, 0.2);
        const double one = bench_run("  in one step", hg_kernels_table_copy_avx2, &both, 0, 0.2);
        printf("  reference / tuned %.1f, two steps / one %.2f\n", slow / fast,
               (fast + table) / one);
        free(x[0].data);
        free(x[1].data);
        free(y.data);
        free(z.data);
    }
    return 0;
}

/* recur.c - recur.p16 with AVX-512: the gates of avx2/recur.h sixteen wide. */
#include "backend/cpu/avx512/vec16.h"

#include "backend/cpu/avx2/recur.h"

void hg_recur_usual_avx512(const hg_recur_gates *g, const hg_recur_row *r)
{
    gates_usual(g, r);
}

void hg_recur_reset_avx512(const hg_recur_gates *g, const hg_recur_row *r)
{
    gates_reset(HG_RNN_SIGMOID, INFINITY, g->n, r);
}

/* choose_layout.c - groups of channels that are computed together; layout.c has the rest. */
#include "rewrite.h"
#include "test.h"

#include <stdio.h>

enum { PAIR_WEIGHTS = 16 * 16 * 9 };

/* Weights of two groups of eight channels: as they are, or as those of one group of sixteen. */
static const char *choose_pair_weights(bool joined, char *text)
{
    char *at = text;
    for (int o = 0; o < 16; o++)
        for (int c = 0; c < (joined ? 16 : 8); c++)
            for (int t = 0; t < 9; t++) {
                const int own = joined ? c - o / 8 * 8 : c;
                const int number = own < 0 || own > 7 ? 0 : 1 + (o + own + t) % 9;
                at += sprintf(at, "%s%d.0", at == text ? "" : ", ", number);
            }
    return text;
}

#define PAIR_GRAPH(text, size, name, dims, room, nodes)                                            \
    snprintf(text, sizeof(text),                                                                   \
             "graph g(%%x: float32[1,16,%d,20]) {\n  %s = const float32[16,%d,3,3] {%s}\n%s",      \
             size, name, dims, room, nodes)

/* Two groups that make a panel, where Winograd's algorithm makes good for the zeros: on a map of
 * some size, in steps of one pixel. */
static void choose_pairs(void)
{
    static char in[8 * PAIR_WEIGHTS], out[8 * PAIR_WEIGHTS], apart[6 * PAIR_WEIGHTS],
        joined[6 * PAIR_WEIGHTS];
    choose_pair_weights(false, apart);
    choose_pair_weights(true, joined);
    PAIR_GRAPH(in, 20, "%w", 8, apart,
               "  %y = Conv(%x, %w) {group=2, pads=[1,1,1,1]}\n  return %y\n}\n");
    PAIR_GRAPH(out, 20, "%2", 16, joined,
               "  %1 = Transpose(%x) {perm=[0,2,3,1]}\n"
               "  %3 = holo:PackConv(%2) {group=1}\n"
               "  %4 = holo:ConvNhwc(%1, %3) {group=1, pads=[1,1,1,1], kernel_shape=[3,3], "
               "out_channels=dims[16]}\n"
               "  %y = Transpose(%4) {perm=[0,3,1,2]}\n  return %y\n}\n");
    CHECK_PASS("choose_layout", in, out);
    static const struct {
        int high;
        const char *attrs;
    } alone[] = {{12, "pads=[1,1,1,1]"}, {20, "strides=[2,2]"}, {20, "dilations=[2,2]"}};
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        char nodes[400];
        snprintf(nodes, sizeof nodes, "  %%y = Conv(%%x, %%w) {group=2, %s}\n  return %%y\n}\n",
                 alone[i].attrs);
        PAIR_GRAPH(in, alone[i].high, "%w", 8, apart, nodes);
        snprintf(nodes, sizeof nodes,
                 "  %%1 = Transpose(%%x) {perm=[0,2,3,1]}\n"
                 "  %%3 = holo:PackConv(%%w) {group=2}\n"
                 "  %%4 = holo:ConvNhwc(%%1, %%3) {group=2, %s, kernel_shape=[3,3], "
                 "out_channels=dims[16]}\n"
                 "  %%y = Transpose(%%4) {perm=[0,3,1,2]}\n  return %%y\n}\n",
                 alone[i].attrs);
        PAIR_GRAPH(out, alone[i].high, "%w", 8, apart, nodes);
        CHECK_PASS("choose_layout", in, out);
    }
}
#undef PAIR_GRAPH

const hg_test_case hg_tests_pass_choose_layout[] = {
    {"pairs", choose_pairs},
    {0},
};

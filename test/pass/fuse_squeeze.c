/* fuse_squeeze.c - means made by depthwise convolutions. */
#include "rewrite.h"
#include "test.h"

#define SQUEEZE_MEAN "graph g(%x: float32[n,h,9,24], %d: float32[9,24]) {\n"

static void squeeze_means(void)
{
    CHECK_PASS("fuse_squeeze",
               SQUEEZE_MEAN "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3], pads=[1,1,1,1]}\n"
                            "  %s = const int64[2] {2, 1}\n"
                            "  %m = ReduceMean(%a, %s)\n"
                            "  return %a, %m\n}\n",
               SQUEEZE_MEAN "  %a, %1 = holo:ConvDw(%x, %d) {kernel_shape=[3,3], pads=[1,1,1,1]}\n"
                            "  %s = const int64[2] {2, 1}\n"
                            "  %m = ReduceMean(%1, %s)\n"
                            "  return %a, %m\n}\n");
    /* Two that read the same map, one without kept dimensions. */
    CHECK_PASS("fuse_squeeze",
               SQUEEZE_MEAN "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
                            "  %s = const int64[2] {1, 2}\n"
                            "  %m = ReduceMean(%a, %s) {keepdims=0}\n"
                            "  %k = ReduceMean(%a, %s)\n"
                            "  return %a, %m, %k\n}\n",
               SQUEEZE_MEAN "  %a, %1 = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
                            "  %s = const int64[2] {1, 2}\n"
                            "  %m = ReduceMean(%1, %s) {keepdims=0}\n"
                            "  %k = ReduceMean(%1, %s)\n"
                            "  return %a, %m, %k\n}\n");
    /* Other axes, another operator, rows that may have no pixels. */
    static const char *const kept[] = {
        SQUEEZE_MEAN "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
                     "  %s = const int64[2] {2, 3}\n"
                     "  %m = ReduceMean(%a, %s)\n"
                     "  return %a, %m\n}\n",
        SQUEEZE_MEAN "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
                     "  %s = const int64[2] {1, 2}\n"
                     "  %m = ReduceMax(%a, %s)\n"
                     "  return %a, %m\n}\n",
        "graph g(%x: float32[n,8,w,24], %d: float32[9,24]) {\n"
        "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
        "  %s = const int64[2] {1, 2}\n"
        "  %m = ReduceMean(%a, %s)\n"
        "  return %a, %m\n}\n",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("fuse_squeeze", kept[i], kept[i]);
}

const hg_test_case hg_tests_pass_fuse_squeeze[] = {
    {"means", squeeze_means},
    {0},
};

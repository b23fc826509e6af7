/* pb.c - any bytes as one value of a test data set, and as a model to look at. */
#include "io/pb.h"

#include "fuzz.h"
#include "io/tensor.h"

static void pb_visit(void *user, const hg_pb_node *node)
{
    FUZZ_REQUIRE(node->op.length == 0 || node->op.text != NULL);
    ++*(size_t *)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const holo_dtype kind[] = {HOLO_F32, HOLO_SEQUENCE, HOLO_OPTIONAL, HOLO_MAP};
    for (size_t i = 0; i < HG_COUNT(kind); i++) {
        holo_tensor t = {0};
        holo_error error = {0};
        holo_status status = hg_pb_read(data, size, kind[i], &t, &error);
        FUZZ_REQUIRE(status == HOLO_OK || error.message[0] != 0);
        if (status == HOLO_OK) hg_io_tensor_free(&t);
    }
    size_t nodes = 0;
    holo_error error = {0};
    (void)!hg_pb_visit_nodes(data, size, pb_visit, &nodes, &error);
    return 0;
}

/* graph_diff.c - any bytes as the choices of a random graph: however it is compiled and run, it
 * gives what its nodes give alone. Eight bytes are a seed of test/random. */
#include "fuzz.h"
#include "random/random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rnd_stats stats = {0};
    FUZZ_REQUIRE(rnd_try(rnd_from_bytes(data, size), NULL, &stats, "these bytes"));
    return 0;
}

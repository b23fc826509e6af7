/* prove.c - any bytes as a .holo file whose certificates are proved. Each is counted, and says why
 * when it does not hold. */
#include "fuzz.h"
#include "holo.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void prove_visit(void *user, const holo_proof *proof)
{
    uint64_t *count = user;
    FUZZ_REQUIRE(proof->name != NULL && proof->claim != NULL);
    FUZZ_REQUIRE(proof->why == NULL || proof->why[0] != 0);
    (*count)++;
}

/* The bytes as a file that is nowhere on disk. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    uint64_t count = 0;
    holo_error error = {0};
    holo_prove_report report = {0};
    uint8_t *copy = holo_sealed(data, size);
    int fd = memfd_create("prove", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && write(fd, copy, size) == (ssize_t)size) {
        holo_status status = holo_prove_file(path, prove_visit, &count, &report, &error);
        FUZZ_REQUIRE(status == HOLO_OK || error.message[0] != 0);
        FUZZ_REQUIRE(status != HOLO_OK || count == report.proved + report.failed);
    }
    if (fd >= 0) close(fd);
    free(copy);
    return 0;
}

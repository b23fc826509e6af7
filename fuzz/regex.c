/* regex.c - a pattern, a line break, a text: any pattern is refused or matches in bounded time. */
#include "kernel/regex_syntax.h"

#include "fuzz.h"
#include "isa/kernel.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const hg_kernel *k = hg_kernel_lookup(holo_kernels_ext(), "regex.match");
    const uint8_t *end = size == 0 ? NULL : memchr(data, '\n', size);
    const size_t length = end == NULL ? size : (size_t)(end - data);
    const size_t rest = end == NULL ? 0 : size - length - 1;
    hg_regex_flaw flaw;
    (void)hg_regex_translate((const char *)data, length, NULL, 0, &flaw);
    FUZZ_REQUIRE(flaw.what == NULL || flaw.at <= length);
    if (k == NULL || flaw.what != NULL) return 0;
    holo_string text[2] = {{(const char *)data + (size - rest), rest},
                           {(const char *)data, length}};
    bool result = false;
    hg_fault fault = {0};
    holo_error e = {0};
    holo_tensor in[2] = {{.data = &text[0], .dtype = HOLO_STRING},
                         {.data = &text[1], .dtype = HOLO_STRING}};
    holo_tensor out = {.data = &result, .dtype = HOLO_BOOL};
    hg_args a = {.in = in, .out = &out, .fault = &fault, .n_in = 2, .n_out = 1};
    FUZZ_REQUIRE(k->check(&a, &e) == HOLO_OK);
    void *scratch = malloc(k->scratch(&a));
    k->run(&a, (hg_range){0, 1, scratch});
    free(scratch);
    return 0;
}

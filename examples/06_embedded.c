/* 06_embedded.c - one program with its model inside: no file is opened, nothing else is needed.
 *
 *     hologram embed model.holo -o model.o --symbol model
 *     hologram embed model.holo -o model.h --symbol model
 *     tools/amalgamate --kernels model.holo -o .
 *     cc -O2 06_embedded.c hologram_rt.c model.o -lm -lpthread -o 06_embedded && ./06_embedded
 *
 * Inputs are zeros, a dimension that the model leaves open is 1; prints the first numbers of each
 * output. */
#include "hologram.h"
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_INPUTS = 16 };

/* Memory of zeros for one input, bound to the session; the session only borrows it. */
static holo_status bind_zeros(const holo_model *opened, holo_session *session, uint32_t index,
                              void **data, holo_error *error)
{
    holo_port port;
    holo_status status = holo_model_input(opened, 0, index, &port);
    if (status != HOLO_OK) return status;
    holo_tensor tensor = {.rank = port.rank < 0 ? 0 : port.rank, .dtype = port.dtype};
    for (int32_t i = 0; i < tensor.rank; i++)
        tensor.dim[i] = port.dim[i] < 0 ? 1 : port.dim[i];
    const size_t bytes = holo_tensor_bytes(&tensor);
    tensor.data = *data = bytes < SIZE_MAX ? calloc(bytes + 1, 1) : NULL;
    if (tensor.data == NULL) return HOLO_E_NOMEM;
    return holo_session_set_input(session, index, &tensor, error);
}

static holo_status print_output(const holo_session *session, uint32_t index, holo_error *error)
{
    holo_tensor tensor;
    holo_status status = holo_session_output(session, index, &tensor, error);
    if (status != HOLO_OK) return status;
    const int64_t count = holo_tensor_count(&tensor);
    printf("output %u: %lld of %s", (unsigned)index, (long long)count,
           holo_dtype_text(tensor.dtype));
    for (int64_t i = 0; tensor.dtype == HOLO_F32 && i < count && i < 8; i++)
        printf(" %g", (double)((const float *)tensor.data)[i]);
    printf("\n");
    return HOLO_OK;
}

static holo_status run(holo_error *error)
{
    holo_model *opened = NULL;
    holo_session *session = NULL;
    void *data[MAX_INPUTS] = {NULL};
    /* The bytes stay where the linker put them. */
    holo_status status =
        holo_model_open_memory(model, model_size, holo_kernels_all(), NULL, &opened, error);
    if (status == HOLO_OK) status = holo_session_new(opened, NULL, &session, error);
    const uint32_t inputs = status == HOLO_OK ? holo_model_input_count(opened, 0) : 0;
    if (inputs > MAX_INPUTS) status = HOLO_E_LIMIT;
    for (uint32_t i = 0; status == HOLO_OK && i < inputs; i++)
        status = bind_zeros(opened, session, i, &data[i], error);
    if (status == HOLO_OK) status = holo_session_run(session, error);
    const uint32_t outputs = status == HOLO_OK ? holo_model_output_count(opened, 0) : 0;
    for (uint32_t i = 0; status == HOLO_OK && i < outputs; i++)
        status = print_output(session, i, error);
    holo_session_free(session);
    holo_model_free(opened);
    for (uint32_t i = 0; i < MAX_INPUTS; i++)
        free(data[i]);
    return status;
}

int main(void)
{
    holo_error error = {HOLO_OK, ""};
    const holo_status status = run(&error);
    if (status == HOLO_OK) return 0;
    fprintf(stderr, "06_embedded: %s\n",
            error.message[0] ? error.message : holo_status_text(status));
    return 1;
}

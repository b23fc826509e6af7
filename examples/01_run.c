/* 01_run.c - opens a compiled model, runs it on zeros and prints what comes out.
 *
 *     hologram compile model.onnx -o model.holo
 *     cc 01_run.c -lhologram -o 01_run && ./01_run model.holo
 *
 * A dimension that the model leaves open becomes 1. */
#include <hologram.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_INPUTS = 16 };

/* Memory of zeros for one input, bound to the session; the session only borrows it. */
static holo_status bind_zeros(const holo_model *model, holo_session *session, uint32_t index,
                              void **data, holo_error *error)
{
    holo_port port;
    holo_status status = holo_model_input(model, 0, index, &port);
    if (status != HOLO_OK) return status;
    holo_tensor tensor = {.rank = port.rank < 0 ? 0 : port.rank, .dtype = port.dtype};
    for (int32_t i = 0; i < tensor.rank; i++)
        tensor.dim[i] = port.dim[i] < 0 ? 1 : port.dim[i];
    const size_t bytes = holo_tensor_bytes(&tensor);
    tensor.data = *data = bytes < SIZE_MAX ? calloc(bytes + 1, 1) : NULL;
    if (tensor.data == NULL) return HOLO_E_NOMEM;
    return holo_session_set_input(session, index, &tensor, error);
}

static holo_status print_output(const holo_model *model, const holo_session *session,
                                uint32_t index, holo_error *error)
{
    holo_port port;
    holo_tensor tensor;
    holo_status status = holo_model_output(model, 0, index, &port);
    if (status == HOLO_OK) status = holo_session_output(session, index, &tensor, error);
    if (status != HOLO_OK) return status;
    printf("%s: %s [", port.name, holo_dtype_text(tensor.dtype));
    for (int32_t i = 0; i < tensor.rank; i++)
        printf("%s%" PRId64, i == 0 ? "" : ", ", tensor.dim[i]);
    printf("]");
    const float *values = tensor.data;
    const int64_t count = tensor.dtype == HOLO_F32 ? holo_tensor_count(&tensor) : 0;
    for (int64_t i = 0; i < count && i < 8; i++)
        printf(" %g", (double)values[i]);
    printf("%s\n", count > 8 ? " ..." : "");
    return HOLO_OK;
}

static holo_status run(const char *path, holo_error *error)
{
    holo_model *model = NULL;
    holo_session *session = NULL;
    void *data[MAX_INPUTS] = {NULL};
    holo_status status = holo_model_open_file(path, holo_kernels_all(), NULL, &model, error);
    if (status == HOLO_OK) status = holo_session_new(model, NULL, &session, error);

    const uint32_t inputs = status == HOLO_OK ? holo_model_input_count(model, 0) : 0;
    if (inputs > MAX_INPUTS) status = HOLO_E_LIMIT;
    for (uint32_t i = 0; status == HOLO_OK && i < inputs; i++)
        status = bind_zeros(model, session, i, &data[i], error);

    if (status == HOLO_OK) status = holo_session_run(session, error);
    const uint32_t outputs = status == HOLO_OK ? holo_model_output_count(model, 0) : 0;
    for (uint32_t i = 0; status == HOLO_OK && i < outputs; i++)
        status = print_output(model, session, i, error);

    holo_session_free(session);
    holo_model_free(model);
    for (uint32_t i = 0; i < MAX_INPUTS; i++)
        free(data[i]);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: 01_run MODEL.holo\n");
        return 2;
    }
    holo_error error = {HOLO_OK, ""};
    const holo_status status = run(argv[1], &error);
    if (status == HOLO_OK) return 0;
    fprintf(stderr, "01_run: %s\n", error.message[0] ? error.message : holo_status_text(status));
    return 1;
}

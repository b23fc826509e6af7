/* one_model.c - the smallest program that runs one model: a kernel table with that model's kernels,
 * and nothing else of the library. size.py generates the table, links the two and measures the
 * result.
 *
 *     one_model FILE.holo        runs on zeros, prints the first number of the first output */
#include <hologram.h>

#include <stdio.h>
#include <stdlib.h>

extern const holo_kernels one_model_kernels;

static holo_status bind(const holo_model *model, holo_session *session, uint32_t i,
                        holo_error *error)
{
    holo_port port;
    holo_status status = holo_model_input(model, 0, i, &port);
    if (status != HOLO_OK) return status;
    holo_tensor t = {.rank = port.rank, .dtype = port.dtype};
    for (int32_t k = 0; k < port.rank; k++)
        t.dim[k] = port.dim[k] < 0 ? 32 : port.dim[k];
    t.data = calloc(holo_tensor_bytes(&t) + 1, 1);
    if (t.data == NULL) return HOLO_E_NOMEM;
    return holo_session_set_input(session, i, &t, error); /* lives as long as the process */
}

static holo_status run(const char *path, holo_error *error)
{
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_tensor out = {0};
    holo_status status = holo_model_open_file(path, &one_model_kernels, NULL, &model, error);
    if (status == HOLO_OK) status = holo_session_new(model, NULL, &session, error);
    for (uint32_t i = 0; status == HOLO_OK && i < holo_model_input_count(model, 0); i++)
        status = bind(model, session, i, error);
    if (status == HOLO_OK) status = holo_session_run(session, error);
    if (status == HOLO_OK) status = holo_session_output(session, 0, &out, error);
    if (status == HOLO_OK && out.dtype == HOLO_F32 && holo_tensor_count(&out) > 0)
        printf("%g\n", (double)*(const float *)out.data);
    holo_session_free(session);
    holo_model_free(model);
    return status;
}

int main(int argc, char **argv)
{
    holo_error error = {HOLO_OK, ""};
    if (argc != 2 || run(argv[1], &error) != HOLO_OK) {
        fprintf(stderr, "one_model: %s\n",
                error.message[0] ? error.message : "usage: one_model FILE.holo");
        return 1;
    }
    return 0;
}

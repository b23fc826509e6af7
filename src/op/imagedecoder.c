/* imagedecoder.c - ImageDecoder: the pixels of a picture in a file format. */
#include "op/op.h"

static const char *const imagedecoder_formats[] = {"RGB", "BGR", "Grayscale"};

static holo_status imagedecoder_format(const hg_infer *n, size_t *out)
{
    hg_str format;
    HG_TRY(hg_attr_string(n, "pixel_format", "RGB", &format));
    for (*out = 0; *out < HG_COUNT(imagedecoder_formats); ++*out)
        if (hg_str_is(format, imagedecoder_formats[*out])) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL,
                         "pixel_format is \"%.*s\", expected RGB, BGR or Grayscale",
                         HG_STR_ARG(format));
}

static holo_status imagedecoder_infer(hg_infer *n)
{
    size_t format;
    HG_TRY(hg_infer_rank(n, 0, 1, 1));
    HG_TRY(imagedecoder_format(n, &format));
    n->out[0] = (hg_type){.dtype = HOLO_U8, .rank = 3};
    n->out[0].dim[0] = hg_infer_late_dim(n, 0, 0);
    n->out[0].dim[1] = hg_infer_late_dim(n, 0, 1);
    n->out[0].dim[2] = hg_dim_const(n->dims, format == 2 ? 1 : 3);
    return HOLO_OK;
}

static holo_status imagedecoder_emit(hg_emit *e)
{
    hg_str format = hg_node_string(e->node, "pixel_format", "RGB");
    for (size_t i = 0; i < HG_COUNT(imagedecoder_formats); i++)
        if (hg_str_is(format, imagedecoder_formats[i])) return hg_emit_int(e, (int64_t)i);
    return hg_emit_fail(e, HOLO_E_BUG, "pixel_format changed");
}

const hg_op hg_op_imagedecoder = {
    .name = "ImageDecoder",
    .brief = "the pixels of a JPEG, JPEG 2000, PNG, WebP, TIFF, BMP or PNM file",
    .since = 20,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_U8),
    .infer = imagedecoder_infer,
    .kernel = "image.decode",
    .library = "libhologram_ext: link it and pass holo_kernels_ext() as extra",
    .emit = imagedecoder_emit,
};

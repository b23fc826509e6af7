/* uhd.c - twelve operations on every byte of a picture, each with its own constants for red, green
 * and blue, as one table lookup: what they cost does not depend on how many there are.
 *
 *     cc uhd.c -lhologram -lpng -o uhd
 *     ./uhd                            a made-up frame of 3840 x 2160, frames per second
 *     ./uhd in.png out.png             a picture of any size
 *     ./uhd --frames 500 --threads 2   how many, on how many cores
 *
 * The graph is made with the builder: bytes [height, width, 3] become floats, pass the chain below
 * and become bytes again. The compiler evaluates the chain for all 256 bytes of each channel. */
#include <hologram.h>

#include <png.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct frame {
    uint8_t *pixels; /* [height, width, 3] */
    int64_t width, height;
} frame;

/* ---- the chain ------------------------------------------------------------------------------ */

/* Per channel: red, green, blue. */
static const float gain_of[3] = {1.06f, 1.0f, 0.95f}, gamma_of[3] = {0.92f, 1.04f, 1.11f};
static const float contrast_of[3] = {1.12f, 1.08f, 1.17f},
                   brightness_of[3] = {0.021f, 0.013f, -0.017f};
static const float knee_of[3] = {1.31f, 1.24f, 1.43f}, solar_of[3] = {0.913f, 0.927f, 0.941f};
static const float levels_of[3] = {24.3f, 28.7f, 20.9f}, tone_of[3] = {0.55f, 0.45f, 0.65f};
static const float lift_of[3] = {0.012f, 0.004f, 0.031f}, fade_of[3] = {0.06f, 0.05f, 0.09f};

typedef struct chain {
    holo_graph *graph;
    holo_value_id x;
} chain;

static holo_value_id one_op(const chain *c, const char *op, const holo_value_id *in, size_t n)
{
    holo_value_id out = 0;
    holo_graph_node(c->graph, op, in, n, NULL, 0, &out, 1);
    return out;
}

static holo_value_id two(const chain *c, const char *op, holo_value_id a, holo_value_id b)
{
    const holo_value_id in[] = {a, b};
    return one_op(c, op, in, 2);
}

/* A constant for each channel, or the same for all. */
static holo_value_id each(const chain *c, const float *values)
{
    float copy[3];
    memcpy(copy, values, sizeof copy);
    const holo_tensor t = {.data = copy, .dim = {3}, .rank = 1, .dtype = HOLO_F32};
    return holo_graph_constant(c->graph, &t);
}

static holo_value_id all(const chain *c, float value)
{
    const holo_tensor t = {.data = &value, .rank = 0, .dtype = HOLO_F32};
    return holo_graph_constant(c->graph, &t);
}

static void apply(chain *c, const char *op, holo_value_id operand)
{
    c->x = two(c, op, c->x, operand);
}

static void apply_clip(chain *c)
{
    const holo_value_id in[] = {c->x, all(c, 0), all(c, 1)};
    c->x = one_op(c, "Clip", in, 3);
}

static void apply_cast(chain *c, holo_dtype to)
{
    const holo_attr attr = {.name = "to", .kind = HOLO_ATTR_INT, .i = to};
    const holo_value_id in = c->x;
    holo_graph_node(c->graph, "Cast", &in, 1, &attr, 1, &c->x, 1);
}

/* x tanh: bends what is bright, keeps 1 below 1. */
static void apply_soft_clip(chain *c)
{
    apply(c, "Mul", each(c, knee_of));
    c->x = one_op(c, "Tanh", &c->x, 1);
}

/* What is brighter than the limit is turned over. */
static void apply_solarise(chain *c)
{
    const holo_value_id limit = each(c, solar_of);
    const holo_value_id in[] = {two(c, "Greater", c->x, limit),
                                two(c, "Sub", two(c, "Add", limit, limit), c->x), c->x};
    c->x = one_op(c, "Where", in, 3);
}

static void apply_posterise(chain *c)
{
    const holo_value_id levels = each(c, levels_of);
    apply(c, "Mul", levels);
    c->x = one_op(c, "Floor", &c->x, 1);
    apply(c, "Div", levels);
}

/* Between x and the curve x x (3 - 2 x). */
static void apply_tone(chain *c)
{
    const holo_value_id x = c->x, square = two(c, "Mul", x, x);
    const holo_value_id curve =
        two(c, "Mul", square, two(c, "Sub", all(c, 3), two(c, "Mul", all(c, 2), x)));
    c->x = two(c, "Add", x, two(c, "Mul", two(c, "Sub", curve, x), each(c, tone_of)));
}

static void build(holo_graph *graph)
{
    chain c = {.graph = graph, .x = holo_graph_input(graph, "pixels", HOLO_U8, "height,width,3")};
    apply_cast(&c, HOLO_F32);
    apply(&c, "Mul", all(&c, 1.0f / 255));
    apply(&c, "Mul", each(&c, gain_of));  /*  1 gain */
    apply(&c, "Pow", each(&c, gamma_of)); /*  2 gamma */
    apply(&c, "Sub", all(&c, 0.5f));      /*  3 contrast around the middle */
    apply(&c, "Mul", each(&c, contrast_of));
    apply(&c, "Add", all(&c, 0.5f));
    apply(&c, "Add", each(&c, brightness_of)); /*  4 brightness */
    apply_clip(&c);                            /*  5 limits */
    apply_soft_clip(&c);                       /*  6 soft clip */
    apply_solarise(&c);                        /*  7 solarise */
    apply_posterise(&c);                       /*  8 posterise */
    apply_tone(&c);                            /*  9 tone curve */
    apply(&c, "Add", each(&c, lift_of));       /* 10 lift */
    apply(&c, "Mul", each(&c, (const float[3]){1 - fade_of[0], 1 - fade_of[1], 1 - fade_of[2]}));
    apply(&c, "Add", each(&c, fade_of)); /* 11 fade */
    apply_clip(&c);                      /* 12 limits, and bytes again */
    apply(&c, "Mul", all(&c, 255));
    c.x = one_op(&c, "Round", &c.x, 1);
    apply_cast(&c, HOLO_U8);
    holo_graph_output(graph, c.x, "graded");
}

static holo_status compile(void **out, size_t *out_size, holo_error *error)
{
    holo_graph *graph;
    holo_status status = holo_graph_new(0, NULL, &graph, error);
    if (status != HOLO_OK) return status;
    build(graph);
    void *bytes;
    size_t size;
    status = holo_compile_graph(graph, NULL, &bytes, &size, NULL, error);
    holo_graph_free(graph);
    if (status != HOLO_OK) return status;
    *out = aligned_alloc(64, (size + 63) / 64 * 64);
    if (*out != NULL) memcpy(*out, bytes, size);
    holo_buffer_free(NULL, bytes, size);
    *out_size = size;
    return *out == NULL ? HOLO_E_NOMEM : HOLO_OK;
}

/* ---- pictures ------------------------------------------------------------------------------- */

static uint8_t *pixels_alloc(const frame *f)
{
    return malloc((size_t)f->width * (size_t)f->height * 3);
}

static bool frame_read(const char *path, frame *f)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) return false;
    image.format = PNG_FORMAT_RGB;
    *f = (frame){.width = image.width, .height = image.height};
    f->pixels = pixels_alloc(f);
    if (f->pixels != NULL && png_image_finish_read(&image, NULL, f->pixels, 0, NULL)) return true;
    png_image_free(&image);
    return false;
}

static bool frame_write(const char *path, const frame *f)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)f->width,
                       .height = (png_uint_32)f->height,
                       .format = PNG_FORMAT_RGB};
    return png_image_write_to_file(&image, path, 0, f->pixels, 0, NULL) != 0;
}

/* A sky of gradients. */
static bool frame_make(frame *f)
{
    *f = (frame){.width = 3840, .height = 2160};
    f->pixels = pixels_alloc(f);
    for (int64_t i = 0; f->pixels != NULL && i < f->width * f->height; i++) {
        const int64_t x = i % f->width, y = i / f->width;
        f->pixels[3 * i] = (uint8_t)(x * 255 / f->width);
        f->pixels[3 * i + 1] = (uint8_t)(y * 255 / f->height);
        f->pixels[3 * i + 2] = (uint8_t)(255 - (x + y) * 255 / (f->width + f->height));
    }
    return f->pixels != NULL;
}

/* ---- running -------------------------------------------------------------------------------- */

typedef struct options {
    const char *in, *out;
    int frames, threads;
} options;

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The frame's own memory is input and output: nothing is copied. */
static holo_status run_frames(holo_session *session, const frame *from, const frame *to, int frames,
                              holo_error *error)
{
    const holo_tensor input = {
        .data = from->pixels, .dim = {from->height, from->width, 3}, .rank = 3, .dtype = HOLO_U8};
    const size_t bytes = (size_t)from->width * (size_t)from->height * 3;
    holo_status status = holo_session_set_input(session, 0, &input, error);
    if (status == HOLO_OK) status = holo_session_set_output(session, 0, to->pixels, bytes, error);
    if (status == HOLO_OK) status = holo_session_run(session, error); /* the first plans memory */
    const double start = now();
    for (int i = 0; status == HOLO_OK && i < frames; i++)
        status = holo_session_run(session, error);
    const double seconds = now() - start;
    if (status == HOLO_OK)
        printf("%lld x %lld: %.1f frames per second, %.2f GB/s\n", (long long)from->width,
               (long long)from->height, frames / seconds, (double)bytes * frames / seconds / 1e9);
    return status;
}

static holo_status run(const options *o, const frame *from, const frame *to, holo_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    holo_model *model = NULL;
    holo_pool *pool = NULL;
    holo_session *session = NULL;
    holo_session_options settings = HOLO_SESSION_OPTIONS_INIT;
    holo_status status = compile(&bytes, &size, error);
    if (status == HOLO_OK)
        status = holo_model_open_memory(bytes, size, holo_kernels_all(), NULL, &model, error);
    if (status == HOLO_OK && o->threads > 1)
        status = holo_pool_new((uint32_t)o->threads, NULL, &pool, error);
    settings.pool = pool;
    if (status == HOLO_OK) status = holo_session_new(model, &settings, &session, error);
    if (status == HOLO_OK) status = run_frames(session, from, to, o->frames, error);
    holo_session_free(session);
    holo_pool_free(pool);
    holo_model_free(model);
    free(bytes);
    return status;
}

static bool options_read(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        const bool frames = strcmp(argv[i], "--frames") == 0;
        if ((frames || strcmp(argv[i], "--threads") == 0) && i + 1 < argc) {
            const int value = atoi(argv[++i]);
            if (value < 1) return false;
            *(frames ? &o->frames : &o->threads) = value;
        } else if (o->out == NULL && argv[i][0] != '-') {
            *(o->in == NULL ? &o->in : &o->out) = argv[i];
        } else {
            return false;
        }
    }
    return (o->in == NULL) == (o->out == NULL);
}

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "uhd: %s: %s\n", what, why);
    return 1;
}

int main(int argc, char **argv)
{
    options o = {.frames = 100, .threads = 1};
    frame from = {0}, to = {0};
    holo_error error = {HOLO_OK, ""};
    int code = 0;
    if (!options_read(argc, argv, &o)) {
        fputs("usage: uhd [--frames N] [--threads N] [IN.png OUT.png]\n", stderr);
        return 2;
    }
    if (!(o.in == NULL ? frame_make(&from) : frame_read(o.in, &from)))
        code = complain(o.in == NULL ? "the frame" : o.in, "cannot be read");
    to = from;
    to.pixels = code == 0 ? pixels_alloc(&to) : NULL;
    if (code == 0 && to.pixels == NULL) code = complain("the result", "out of memory");
    if (code == 0 && run(&o, &from, &to, &error) != HOLO_OK)
        code = complain("the chain", error.message);
    if (code == 0 && o.out != NULL && !frame_write(o.out, &to))
        code = complain(o.out, "cannot be written");
    free(from.pixels);
    free(to.pixels);
    return code;
}

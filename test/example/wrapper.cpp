// wrapper.cpp - hologram.hpp: what is computed, what is thrown, what moves. Takes the dense model of the tests.
#include <hologram.hpp>

#include <cstdio>
#include <cstring>
#include <utility>

static int failures;

static void expect(bool ok, const char *what)
{
    if (ok) return;
    std::printf("wrapper.cpp: %s\n", what);
    failures++;
}

template <typename F> static void expect_error(F f, holo_status status, const char *part)
{
    try {
        f();
        expect(false, part);
    } catch (const holo::Error &error) {
        expect(error.status() == status && std::strstr(error.what(), part) != nullptr, error.what());
    }
}

static_assert(!std::is_copy_constructible_v<holo::Model> && !std::is_copy_constructible_v<holo::Session> &&
                  !std::is_copy_constructible_v<holo::Pool>,
              "one owner");
static_assert(std::is_nothrow_move_constructible_v<holo::Model> && std::is_nothrow_move_assignable_v<holo::Session>,
              "which can be passed on");
static_assert(holo::dtype_of<const float>() == HOLO_F32 && holo::dtype_of<std::int64_t>() == HOLO_I64 &&
                  holo::dtype_of<unsigned char>() == HOLO_U8 && holo::dtype_of<bool>() == HOLO_BOOL,
              "types of C++");

static void check_run(const char *path)
{
    holo::Model first = holo::Model::open(std::string(path));
    holo::Model model = std::move(first);
    expect(first.get() == nullptr && model.get() != nullptr, "a moved model leaves nothing behind");
    expect(model.graph_count() == 1 && model.input_count() == 1 && model.output_count() == 1, "counts");
    expect(std::strcmp(model.input(0).name, "x") == 0 && model.output(0).rank == 2, "ports");

    holo::Pool pool(2);
    holo::Session made(model, pool);
    holo::Session session = std::move(made);
    const float x[] = {1, 2, 3, 4};
    float y[6] = {};
    session.set_input("x", holo::tensor(x, {2, 2}));
    session.set_output(0, y, sizeof y);
    session.prepare();
    session.run();
    const float expected[] = {0, 1, 6, 0, 5, 14};
    holo::View<float> view = session.output<float>("y");
    expect(view.size() == 6 && view.data() == y && view.dims() == std::vector<std::int64_t>{2, 3}, "the view");
    expect(std::memcmp(y, expected, sizeof y) == 0 && view[5] == 14, "the numbers");
    expect(session.stats().steps > 0, "stats");

    expect_error([&] { session.output<double>(0); }, HOLO_E_TYPE, "holds float32, not float64");
    expect_error([&] { session.set_input("z", holo::tensor(x, {2, 2})); }, HOLO_E_ARG, "no input 'z'");
    expect_error([&] { session.set_input(0, holo::tensor(y, {2, 2}, HOLO_I32)); }, HOLO_E_TYPE, "");
    expect_error([&] { session.set_input(0, holo::tensor(x, {4})); }, HOLO_E_SHAPE, "");
    expect_error([&] { holo::tensor(x, {1, 1, 1, 1, 1, 1, 1, 1, 1}); }, HOLO_E_ARG, "rank 9");
    expect_error([&] { model.input(7); }, HOLO_E_ARG, "");
    session.cancel();
    expect_error([&] { session.run(); }, HOLO_E_CANCELLED, "");
    session.run();
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    check_run(argv[1]);
    expect_error([] { holo::Model::open("missing.holo"); }, HOLO_E_IO, "missing.holo");
    alignas(64) static const char text[64] = "not a model";
    expect_error([] { holo::Model::open(text, sizeof text); }, HOLO_E_FORMAT, "");
    return failures == 0 ? 0 : 1;
}

// 07_run.cpp - the C++ wrapper: opens a model with one float input, runs it on two threads, prints the outputs.
//
//     c++ -std=c++17 07_run.cpp -lhologram -o 07_run && ./07_run model.holo
//
// A dimension that the model leaves open becomes 2; the input is 1, 2, 3, ...
#include <hologram.hpp>

#include <cstdio>
#include <numeric>

static void run(const char *path)
{
    holo::Model model = holo::Model::open(path);
    holo::Pool pool(2);
    holo::Session session(model, pool);

    const holo_port port = model.input(0);
    std::vector<std::int64_t> dims(port.dim, port.dim + port.rank);
    std::size_t count = 1;
    for (std::int64_t &d : dims) {
        if (d < 0) d = 2;
        count *= static_cast<std::size_t>(d);
    }
    std::vector<float> x(count);
    std::iota(x.begin(), x.end(), 1.0f);

    session.set_input(port.name, holo::tensor(x.data(), dims));
    session.run();
    for (std::uint32_t i = 0; i < model.output_count(); i++) {
        std::printf("%s:", model.output(i).name);
        for (float y : session.output<float>(i))
            std::printf(" %g", static_cast<double>(y));
        std::printf("\n");
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: 07_run MODEL.holo\n");
        return 2;
    }
    try {
        run(argv[1]);
    } catch (const holo::Error &error) {
        std::fprintf(stderr, "07_run: %s\n", error.what());
        return 1;
    }
    return 0;
}

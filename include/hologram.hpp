// hologram.hpp - C++17 over hologram.h: objects that free themselves, errors as exceptions. Header only.
//
//     holo::Model model = holo::Model::open("model.holo");
//     holo::Session session(model);
//     std::vector<float> x(224 * 224 * 3);
//     session.set_input(0, holo::tensor(x.data(), {1, 3, 224, 224}));
//     session.run();
//     holo::View<float> y = session.output<float>(0);
//
// What holds for hologram.h holds here: buffers are borrowed, views end with the next run, a model outlives its
// sessions and a pool the sessions that use it. Everything is move-only; a moved-from object may only be destroyed or
// assigned. Functions throw holo::Error with the library's sentence unless they are noexcept.
#ifndef HOLOGRAM_HPP
#define HOLOGRAM_HPP

#include "hologram.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace holo {

class Error : public std::runtime_error {
public:
    Error(holo_status status, const char *sentence)
        : std::runtime_error(sentence[0] != '\0' ? sentence : holo_status_text(status)), status_(status)
    {
    }
    holo_status status() const noexcept { return status_; }

private:
    holo_status status_;
};

inline void check(holo_status status, const holo_error &error)
{
    if (status != HOLO_OK) throw Error(status, error.message);
}

// ---- types and tensors ---------------------------------------------------------------------------

// The dtype of a C++ type; types whose bits have several meanings (half floats, narrow integers) are passed by
// their storage and named: tensor(data, dims, HOLO_F16).
template <typename T> constexpr holo_dtype dtype_of() noexcept
{
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, float>) return HOLO_F32;
    else if constexpr (std::is_same_v<U, double>) return HOLO_F64;
    else if constexpr (std::is_same_v<U, bool>) return HOLO_BOOL;
    else if constexpr (std::is_same_v<U, holo_string>) return HOLO_STRING;
    else if constexpr (std::is_integral_v<U> && std::is_signed_v<U>)
        return sizeof(U) == 1 ? HOLO_I8 : sizeof(U) == 2 ? HOLO_I16 : sizeof(U) == 4 ? HOLO_I32 : HOLO_I64;
    else if constexpr (std::is_integral_v<U>)
        return sizeof(U) == 1 ? HOLO_U8 : sizeof(U) == 2 ? HOLO_U16 : sizeof(U) == 4 ? HOLO_U32 : HOLO_U64;
    else
        return HOLO_NONE;
}

using Dims = std::initializer_list<std::int64_t>;

namespace detail {
template <typename Range> holo_tensor make(const void *data, const Range &dims, holo_dtype dtype)
{
    if (dims.size() > HOLO_MAX_RANK)
        throw Error(HOLO_E_ARG, ("a tensor of rank " + std::to_string(dims.size()) + ", expected at most " +
                                 std::to_string(+HOLO_MAX_RANK)).c_str());
    holo_tensor t{};
    t.data = const_cast<void *>(data); // inputs are only read
    for (std::int64_t d : dims)
        t.dim[t.rank++] = d;
    t.dtype = dtype;
    return t;
}
} // namespace detail

// A tensor over the caller's memory.
template <typename T> holo_tensor tensor(T *data, Dims dims, holo_dtype dtype = dtype_of<T>())
{
    return detail::make(data, dims, dtype);
}
template <typename T>
holo_tensor tensor(T *data, const std::vector<std::int64_t> &dims, holo_dtype dtype = dtype_of<T>())
{
    return detail::make(data, dims, dtype);
}

// Elements of a tensor, borrowed.
template <typename T> class View {
public:
    explicit View(const holo_tensor &t) : tensor_(t)
    {
        if (t.dtype != dtype_of<T>())
            throw Error(HOLO_E_TYPE, (std::string("the tensor holds ") + holo_dtype_text(t.dtype) + ", not " +
                                      holo_dtype_text(dtype_of<T>())).c_str());
    }
    const T *data() const noexcept { return static_cast<const T *>(tensor_.data); }
    std::size_t size() const noexcept { return static_cast<std::size_t>(holo_tensor_count(&tensor_)); }
    const T *begin() const noexcept { return data(); }
    const T *end() const noexcept { return data() + size(); }
    const T &operator[](std::size_t i) const noexcept { return data()[i]; }
    std::vector<std::int64_t> dims() const { return {tensor_.dim, tensor_.dim + tensor_.rank}; }
    const holo_tensor &tensor() const noexcept { return tensor_; }

private:
    holo_tensor tensor_;
};

// ---- objects -------------------------------------------------------------------------------------

namespace detail {
template <typename T, void (*release)(T *)> struct Release {
    void operator()(T *p) const noexcept { release(p); }
};
template <typename T, void (*release)(T *)> using Handle = std::unique_ptr<T, Release<T, release>>;
} // namespace detail

class Model {
public:
    static Model open(const char *path, const holo_kernels *kernels = holo_kernels_all(),
                      const holo_open_options *options = nullptr)
    {
        holo_error error{};
        holo_model *model = nullptr;
        check(holo_model_open_file(path, kernels, options, &model, &error), error);
        return Model(model);
    }
    static Model open(const std::string &path) { return open(path.c_str()); }
    // Bytes at an address divisible by 64, which outlive the model: those of `hologram embed`, for instance.
    static Model open(const void *data, std::size_t size, const holo_kernels *kernels = holo_kernels_all(),
                      const holo_open_options *options = nullptr)
    {
        holo_error error{};
        holo_model *model = nullptr;
        check(holo_model_open_memory(data, size, kernels, options, &model, &error), error);
        return Model(model);
    }

    std::uint32_t graph_count() const noexcept { return holo_model_graph_count(get()); }
    const char *graph_name(std::uint32_t graph) const noexcept { return holo_model_graph_name(get(), graph); }
    std::uint32_t input_count(std::uint32_t graph = 0) const noexcept { return holo_model_input_count(get(), graph); }
    std::uint32_t output_count(std::uint32_t graph = 0) const noexcept
    {
        return holo_model_output_count(get(), graph);
    }
    holo_port input(std::uint32_t index, std::uint32_t graph = 0) const
    {
        holo_port port;
        check(holo_model_input(get(), graph, index, &port), holo_error{});
        return port;
    }
    holo_port output(std::uint32_t index, std::uint32_t graph = 0) const
    {
        holo_port port;
        check(holo_model_output(get(), graph, index, &port), holo_error{});
        return port;
    }
    const holo_model *get() const noexcept { return handle_.get(); }

private:
    explicit Model(holo_model *model) noexcept : handle_(model) {}
    detail::Handle<holo_model, holo_model_free> handle_;
};

// Threads that sessions share.
class Pool {
public:
    explicit Pool(std::uint32_t threads, const holo_allocator *allocator = nullptr)
    {
        holo_error error{};
        holo_pool *pool = nullptr;
        check(holo_pool_new(threads, allocator, &pool, &error), error);
        handle_.reset(pool);
    }
    holo_pool *get() const noexcept { return handle_.get(); }

private:
    detail::Handle<holo_pool, holo_pool_free> handle_;
};

class Session {
public:
    explicit Session(const Model &model, const holo_session_options *options = nullptr) { create(model, options); }
    Session(const Model &model, const Pool &pool, std::uint32_t graph = 0)
    {
        holo_session_options options{};
        options.struct_size = sizeof options;
        options.pool = pool.get();
        options.graph = graph;
        create(model, &options);
    }

    // The tensor's memory is borrowed until it is bound anew.
    void set_input(std::uint32_t index, const holo_tensor &tensor)
    {
        holo_error error{};
        check(holo_session_set_input(get(), index, &tensor, &error), error);
    }
    void set_input(const std::string &name, const holo_tensor &tensor) { set_input(find(name, true), tensor); }
    void set_output(std::uint32_t index, void *data, std::size_t bytes)
    {
        holo_error error{};
        check(holo_session_set_output(get(), index, data, bytes, &error), error);
    }
    void prepare()
    {
        holo_error error{};
        check(holo_session_prepare(get(), &error), error);
    }
    void run()
    {
        holo_error error{};
        check(holo_session_run(get(), &error), error);
    }
    // Valid until the next prepare or run.
    holo_tensor output(std::uint32_t index) const
    {
        holo_error error{};
        holo_tensor tensor;
        check(holo_session_output(get(), index, &tensor, &error), error);
        return tensor;
    }
    template <typename T> View<T> output(std::uint32_t index) const { return View<T>(output(index)); }
    template <typename T> View<T> output(const std::string &name) const { return View<T>(output(find(name, false))); }
    // From any thread.
    void cancel() noexcept { holo_session_cancel(get()); }
    holo_session_stats stats() const noexcept
    {
        holo_session_stats stats;
        holo_session_get_stats(get(), &stats);
        return stats;
    }
    holo_session *get() const noexcept { return handle_.get(); }

private:
    void create(const Model &model, const holo_session_options *options)
    {
        holo_error error{};
        holo_session *session = nullptr;
        check(holo_session_new(model.get(), options, &session, &error), error);
        handle_.reset(session);
    }
    std::uint32_t find(const std::string &name, bool is_input) const
    {
        const std::int32_t i = is_input ? holo_session_find_input(get(), name.c_str())
                                        : holo_session_find_output(get(), name.c_str());
        if (i < 0)
            throw Error(HOLO_E_ARG,
                        (std::string("the graph has no ") + (is_input ? "input" : "output") + " '" + name + "'")
                            .c_str());
        return static_cast<std::uint32_t>(i);
    }
    detail::Handle<holo_session, holo_session_free> handle_;
};

} // namespace holo

#endif

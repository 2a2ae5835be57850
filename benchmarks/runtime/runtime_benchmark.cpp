// SPDX-License-Identifier: MIT
// Measures CPU kernels: a JSON line for each operator, with the bytes that it reads and writes (for products: its operations) and the
// minimum seconds of several runs. Results are new tensors, as in PyTorch. With --models a.onnx,b.onnx it measures models instead, with
// float32 inputs whose dynamic dimensions are 1.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#if !__has_include(<omp.h>)
#define EIGEN_DONT_PARALLELIZE
#endif
#include <Eigen/Core>

#include "runtime/compute/spatial.hpp"
#include <aton/core/error.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/runtime/kernels.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace {

using namespace aton::runtime;
using aton::dtype;

struct settings {
    std::int64_t elements = std::int64_t{1} << 24;
    double seconds = 0.2; ///< per operator
    std::string only;
    std::string models;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Function>
void measure(settings const& s, char const* name, double bytes, Function const& f) {
    if (!s.only.empty() && ("," + s.only + ",").find("," + std::string(name) + ",") == std::string::npos) return;
    f();
    double best = 1e30;
    double const end = now() + s.seconds;
    for (int runs = 0; runs < 3 || now() < end; ++runs) {
        double const start = now();
        f();
        best = std::min(best, now() - start);
    }
    std::printf("{\"operator\": \"%s\", \"bytes\": %.0f, \"seconds\": %.9f}\n", name, bytes, best);
    std::fflush(stdout);
}

/// Float32 in [-4, 4).
tensor numbers(sizes const& of) {
    device_kernels const& k = cpu_kernels();
    tensor const bits = k.random_bits(count_of(of), 1);
    tensor out = tensor::empty(dtype::float32, of);
    for (std::int64_t i = 0; i != out.count(); ++i)
        out.data<float>()[i] = static_cast<float>(bits.data<std::uint32_t>()[i] >> 8U) / 2097152.0F - 4.0F;
    return out;
}

void elementwise(settings const& s) {
    device_kernels const& k = cpu_kernels();
    auto const bytes = static_cast<double>(s.elements) * 4;
    tensor const x = numbers({s.elements});
    tensor const y = numbers({s.elements});
    measure(
        s, "memcpy", 2 * bytes, [&] { std::memcpy(x.bytes(), y.bytes(), static_cast<std::size_t>(s.elements) * 4); });
    measure(s, "add", 3 * bytes, [&] { (void)k.binary(binary_op::add, x, y); });
    measure(s, "mul", 3 * bytes, [&] { (void)k.binary(binary_op::mul, x, y); });
    struct named {
        char const* name = "";
        unary_op op = unary_op::abs;
        unary_parameters p = {};
    };
    for (named const& f : std::initializer_list<named>{{"relu", unary_op::relu},
                                                       {"exp", unary_op::exp},
                                                       {"log", unary_op::log},
                                                       {"tanh", unary_op::tanh},
                                                       {"sigmoid", unary_op::sigmoid},
                                                       {"erf", unary_op::erf},
                                                       {"gelu", unary_op::gelu},
                                                       {"silu", unary_op::swish, {1, 0, 0}},
                                                       {"sqrt", unary_op::sqrt},
                                                       {"sin", unary_op::sin}})
        measure(s, f.name, 2 * bytes, [&] { (void)k.unary(f.op, x, f.p); });
    measure(s, "to_float16", 1.5 * bytes, [&] { (void)k.cast(x, dtype::float16); });
    tensor const half = k.cast(x, dtype::float16);
    measure(s, "from_float16", 1.5 * bytes, [&] { (void)k.cast(half, dtype::float32); });
    measure(s, "to_int64", 3 * bytes, [&] { (void)k.cast(x, dtype::int64); });
}

void along_axes(settings const& s) {
    device_kernels const& k = cpu_kernels();
    constexpr std::int64_t columns = 1024;
    std::int64_t const rows = std::max<std::int64_t>(1, s.elements / columns);
    auto const bytes = static_cast<double>(rows * columns) * 4;
    tensor const x = numbers({rows, columns});
    std::vector<std::size_t> const both{0, 1};
    std::vector<std::size_t> const first{0};
    std::vector<std::size_t> const last{1};
    measure(s, "sum", bytes, [&] { (void)k.reduce(reduce_op::sum, x, both); });
    measure(s, "max", bytes, [&] { (void)k.reduce(reduce_op::max, x, both); });
    measure(s, "sum_rows", bytes, [&] { (void)k.reduce(reduce_op::sum, x, last); });
    measure(s, "sum_columns", bytes, [&] { (void)k.reduce(reduce_op::sum, x, first); });
    measure(s, "max_rows", bytes, [&] { (void)k.reduce(reduce_op::max, x, last); });
    measure(s, "argmax", bytes, [&] { (void)k.arg_reduce(reduce_op::max, x, 1, false); });
    measure(s, "softmax", 2 * bytes, [&] { (void)k.softmax(x, 1, false); });
    measure(s, "softmax_columns", 2 * bytes, [&] { (void)k.softmax(x, 0, false); });
    measure(s, "log_softmax", 2 * bytes, [&] { (void)k.softmax(x, 1, true); });
    measure(s, "cumsum", 2 * bytes, [&] { (void)k.scan(scan_op::sum, x, 1); });
    std::vector<std::size_t> const turned{1, 0};
    measure(s, "transpose", 2 * bytes, [&] { (void)k.contiguous(x.permuted(turned)); });
    tensor const few = x.sliced(0, 0, std::max<std::int64_t>(1, rows / 16));
    measure(s, "sort", bytes / 16 * 4, [&] { (void)k.sort(few, 1, false); });
    tensor const at = tensor::empty(dtype::int64, few.sizes());
    tensor const bits = k.random_bits(at.count(), 2);
    for (std::int64_t i = 0; i != at.count(); ++i)
        at.data<std::int64_t>()[i] = bits.data<std::uint32_t>()[i] % x.count();
    measure(s, "take", bytes / 16 * 4, [&] { (void)k.take(x, at); });
}

void products(settings const& s) {
    device_kernels const& k = cpu_kernels();
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    std::vector<std::size_t> const turned{1, 0};
    for (std::int64_t n : {128, 1024}) {
        tensor const a = numbers({n, n});
        tensor const b = numbers({n, n});
        double const operations = 2.0 * static_cast<double>(n * n * n);
        std::string const name = "matmul_" + std::to_string(n);
        measure(s, name.c_str(), operations, [&] { (void)k.matmul(a, b); });
        measure(s, (name + "_transposed").c_str(), operations, [&] { (void)k.matmul(a, b.permuted(turned)); });
        measure(s, ("eigen_" + name).c_str(), operations, [&] {
            matrix c(n, n);
            c.noalias() = Eigen::Map<matrix>(a.data<float>(), n, n) * Eigen::Map<matrix>(b.data<float>(), n, n);
        });
    }
    tensor const a = numbers({256, 64, 64});
    measure(s, "matmul_batched", 2.0 * 256 * 64 * 64 * 64, [&] { (void)k.matmul(a, a); });
}

void over_windows(settings const& s) {
    tensor const x = numbers({1, 96, 112, 112});
    tensor const weight = numbers({96, 1, 3, 3});
    window w{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    double const operations = 2.0 * static_cast<double>(x.count()) * 9;
    measure(s, "conv_depthwise", operations, [&] { (void)convolution(x, weight, {}, w, 96); });
    tensor const y = numbers({1, 64, 56, 56});
    tensor const full = numbers({64, 64, 3, 3});
    measure(
        s, "conv_3x3", 2.0 * static_cast<double>(y.count()) * 9 * 64, [&] { (void)convolution(y, full, {}, w, 1); });
    tensor const point = numbers({256, 64, 1, 1});
    window const one = window::of({1, 1});
    measure(
        s, "conv_1x1", 2.0 * static_cast<double>(y.count()) * 256, [&] { (void)convolution(y, point, {}, one, 1); });
    tensor const z = numbers({1, 64, 112, 112});
    w.strides = {2, 2};
    double const bytes = static_cast<double>(z.count()) * 4 * 1.25;
    measure(s, "max_pool", bytes, [&] { (void)max_pool(z, w); });
    measure(s, "max_pool_indices", bytes, [&] { (void)max_pool_with_indices(z, w); });
}

void models(settings const& s) {
    for (std::string left = s.models; !left.empty();) {
        std::size_t const comma = std::min(left.find(','), left.size());
        std::string const path = left.substr(0, comma);
        left.erase(0, comma + 1);
        onnx_model const model(aton::read_model(path).graph);
        std::vector<value> inputs;
        for (aton::value_id const id : model.graph().inputs) {
            aton::graph_value const& input = model.graph().values[static_cast<std::size_t>(id)];
            inputs.emplace_back();
            if (input.initializer >= 0) continue;
            sizes of;
            for (aton::dim const& d : input.type.shape.dims()) of.push_back(d.is_static() ? d.size() : 1);
            inputs.back() = numbers(of);
        }
        measure(s, path.c_str(), 0, [&] { (void)model.run(inputs); });
    }
}

} // namespace

int main(int count, char** words) {
    settings s;
    std::span const arguments(words, static_cast<std::size_t>(count));
    for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
        std::string_view const name = arguments[i];
        char const* const value = arguments[i + 1];
        if (name == "--elements") s.elements = std::strtoll(value, nullptr, 10);
        if (name == "--seconds") s.seconds = std::strtod(value, nullptr);
        if (name == "--only") s.only = value;
        if (name == "--models") s.models = value;
    }
    try {
        if (!s.models.empty()) {
            models(s);
            return 0;
        }
        elementwise(s);
        along_axes(s);
        products(s);
        over_windows(s);
    } catch (aton::error const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}

// SPDX-License-Identifier: MIT
// Measures the memory bandwidth of GPU kernels: the bytes that each must read and write, divided by the minimum time of several runs,
// compared with a device-to-device copy of one operand. Prints a Markdown table.
//
//   cuda_benchmark [--elements 268435456] [--runs 20] [--peer FILE] [--check]
//
// --peer: the times of another implementation, as torch_cuda.py prints them, for a column with its time per time of Aton.
// --check: exits with 1 if an elementwise kernel has less than 85 % of the copy's bandwidth, or a reduction less than 80 %. Exits with 77 if
// there is no GPU.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/cuda.hpp>

namespace {

using namespace aton::runtime;
using aton::dtype;

struct settings {
    std::int64_t elements = std::int64_t{1} << 28;
    int runs = 20;
    bool check = false;
    std::map<std::string, double, std::less<>> peer; ///< milliseconds by the names of the rows
};

/// Lines of a name, a tab and milliseconds.
std::map<std::string, double, std::less<>> times_of(char const* file) {
    std::map<std::string, double, std::less<>> out;
    std::ifstream in(file);
    if (!in) throw aton::error(std::string("cannot read ") + file);
    for (std::string name, number; std::getline(in, name, '\t') && std::getline(in, number);)
        out[name] = std::strtod(number.c_str(), nullptr);
    return out;
}

void require(cudaError_t status) {
    if (status != cudaSuccess) throw aton::error(cudaGetErrorString(status));
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Measured with the CPU's clock, after synchronization; accurate enough for kernels that take milliseconds.
double min_seconds(int runs, std::function<void()> const& f) {
    double best = 1e30;
    for (int i = -2; i < runs; ++i) { // two runs to warm up
        cuda_wait();
        double const start = now();
        f();
        cuda_wait();
        if (i >= 0) best = std::min(best, now() - start);
    }
    return best;
}

class table {
public:
    explicit table(settings const& s) : settings_(s) {
        bool const has_peer = !s.peer.empty();
        std::printf("| kernel | time | bandwidth | of the copy |%s\n", has_peer ? " PyTorch's time per Aton's |" : "");
        std::printf("|---|--:|--:|--:|%s\n", has_peer ? "--:|" : "");
    }

    /// `required`: the minimum share of the copy's bandwidth.
    void row(char const* name, double bytes, double required, std::function<void()> const& f) {
        double const seconds = min_seconds(settings_.runs, f);
        double const bandwidth = bytes / seconds;
        if (copy_ == 0) copy_ = bandwidth;
        bool const is_slow = bandwidth < required * copy_;
        slow_ += is_slow ? 1 : 0;
        std::printf("| %s | %.3f ms | %.0f GB/s | %.0f %%%s |%s\n",
                    name,
                    seconds * 1e3,
                    bandwidth / 1e9,
                    100 * bandwidth / copy_,
                    is_slow ? " (below the limit)" : "",
                    beside(name, seconds).c_str());
        std::fflush(stdout);
    }
    void product(char const* name, double operations, std::function<void()> const& f) const {
        double const seconds = min_seconds(5, f);
        std::printf("| %s | %.3f ms | %.1f TFLOP/s | |%s\n",
                    name,
                    seconds * 1e3,
                    operations / seconds / 1e12,
                    beside(name, seconds).c_str());
        std::fflush(stdout);
    }
    [[nodiscard]] int slow() const { return slow_; }

private:
    [[nodiscard]] std::string beside(char const* name, double seconds) const {
        if (settings_.peer.empty()) return "";
        auto const at = settings_.peer.find(name);
        if (at == settings_.peer.end()) return " |";
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), " %.2f |", at->second / (seconds * 1e3));
        return text.data();
    }

    settings settings_;
    double copy_ = 0;
    int slow_ = 0;
};

/// Float32 in [-4, 4).
tensor numbers(sizes const& of, std::uint64_t seed) {
    device_kernels const& k = cuda_kernels();
    tensor const bits = k.cast(k.random_bits(count_of(of), seed), dtype::float32);
    tensor const scaled =
        k.binary(binary_op::mul, bits, k.from_host(tensor::of_scalar(1.0 / 536870912.0, dtype::float32)));
    return reshape(k.binary(binary_op::sub, scaled, k.from_host(tensor::of_scalar(4.0, dtype::float32))), of);
}

int run(settings const& s) {
    device_kernels const& k = cuda_kernels();
    constexpr std::int64_t columns = 1024;
    std::int64_t const rows = std::max<std::int64_t>(1, s.elements / columns);
    tensor const x = numbers({rows, columns}, 1);
    tensor const y = numbers({rows, columns}, 2);
    auto const bytes = static_cast<double>(x.count()) * 4;
    constexpr double elementwise = 0.85;
    constexpr double reduction = 0.80;
    std::printf("%s; float32 [%lld, %lld]\n\n",
                cuda_description().c_str(),
                static_cast<long long>(rows),
                static_cast<long long>(columns));
    table t(s);
    tensor const to = tensor::empty(dtype::float32, x.sizes(), k.memory());
    t.row("copy, device to device", 2 * bytes, 0, [&] {
        require(
            cudaMemcpyAsync(to.bytes(), x.bytes(), static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, nullptr));
        require(cudaStreamSynchronize(nullptr));
    });
    t.row("add", 3 * bytes, elementwise, [&] { (void)k.binary(binary_op::add, x, y); });
    t.row("mul", 3 * bytes, elementwise, [&] { (void)k.binary(binary_op::mul, x, y); });
    t.row("relu", 2 * bytes, elementwise, [&] { (void)k.unary(unary_op::relu, x); });
    t.row("exp", 2 * bytes, elementwise, [&] { (void)k.unary(unary_op::exp, x); });
    t.row("tanh", 2 * bytes, elementwise, [&] { (void)k.unary(unary_op::tanh, x); });
    t.row("to float16", 1.5 * bytes, elementwise, [&] { (void)k.cast(x, dtype::float16); });
    std::vector<std::size_t> const both{0, 1};
    std::vector<std::size_t> const first{0};
    std::vector<std::size_t> const last{1};
    t.row("sum of all", bytes, reduction, [&] { (void)k.reduce(reduce_op::sum, x, both); });
    t.row("sum of rows", bytes, reduction, [&] { (void)k.reduce(reduce_op::sum, x, last); });
    t.row("sum of columns", bytes, reduction, [&] { (void)k.reduce(reduce_op::sum, x, first); });
    t.row("max of all", bytes, reduction, [&] { (void)k.reduce(reduce_op::max, x, both); });
    t.row("argmax of rows", bytes, reduction, [&] { (void)k.arg_reduce(reduce_op::max, x, 1, false); });
    t.row("softmax of rows", 2 * bytes, 0, [&] { (void)k.softmax(x, 1, false); });
    t.row("cumulative sum of rows", 2 * bytes, 0, [&] { (void)k.scan(scan_op::sum, x, 1); });
    t.row("transpose", 2 * bytes, 0, [&] { (void)k.contiguous(x.permuted(std::vector<std::size_t>{1, 0})); });
    t.row("add a row to each row", 2 * bytes, 0, [&] { (void)k.binary(binary_op::add, x, y.sliced(0, 0, 1)); });
    constexpr std::int64_t side = 8192;
    constexpr double operations = 2.0 * static_cast<double>(side) * side * side;
    tensor const a = numbers({side, side}, 3);
    t.product("product of float32 matrices", operations, [&] { (void)k.matmul(a, a); });
    tensor const half = k.cast(a, dtype::float16);
    t.product("product of float16 matrices", operations, [&] { (void)k.matmul(half, half); });
    return s.check && t.slow() != 0 ? 1 : 0;
}

} // namespace

int main(int count, char** words) {
    settings s;
    char const* peer = nullptr;
    std::span const arguments(words, static_cast<std::size_t>(count));
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        std::string_view const name = arguments[i];
        if (name == "--check") s.check = true;
        else if (name == "--peer" && i + 1 < arguments.size()) peer = arguments[++i];
        else if (name == "--elements" && i + 1 < arguments.size())
            s.elements = std::strtoll(arguments[++i], nullptr, 10);
        else if (name == "--runs" && i + 1 < arguments.size())
            s.runs = static_cast<int>(std::strtol(arguments[++i], nullptr, 10));
        else {
            std::fprintf(stderr, "cuda_benchmark: unknown option %s\n", arguments[i]);
            return 2;
        }
    }
    try {
        (void)cuda_kernels();
    } catch (aton::error const& e) {
        std::printf("skipped: %s\n", e.what());
        return 77;
    }
    try {
        if (peer != nullptr) s.peer = times_of(peer);
        return run(s);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "cuda_benchmark: %s\n", e.what());
        return 2;
    }
}

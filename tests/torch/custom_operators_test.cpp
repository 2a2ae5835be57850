// SPDX-License-Identifier: MIT
// Operators of the program's own, registered with TORCH_LIBRARY, with a table that maps them.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <aton/aton.hpp>
#include <aton/torch.hpp>

namespace {

using torch::Tensor;

Tensor shifted_relu(Tensor const& x, double shift, at::IntArrayRef counts) {
    return torch::relu(x - shift) * static_cast<double>(counts[1]);
}

void add_to(Tensor& to, Tensor const& x) { to.add_(x, 2); }

TORCH_LIBRARY(aton_torch_test, m) {
    m.def("shifted_relu(Tensor x, float shift=0.5, int[] counts=[1, 2]) -> Tensor", &shifted_relu);
    m.def("add_to(Tensor(a!) to, Tensor x) -> ()", &add_to);
}

using namespace aton::dsl;

inline constexpr auto rows =
    table(symbolic<"aton_torch_test::shifted_relu(Tensor x, float shift=0.5, int[] counts=[1, 2]) -> Tensor">(
              [](graph<13> g, value x, double shift, std::span<std::int64_t const> counts) {
                  return g.op<"Mul">(g.op<"Relu">(g.op<"Sub">(x, shift)), counts[1]);
              }),
          symbolic<"aton_torch_test::add_to(Tensor(a!) to, Tensor x) -> ()">(
              [](graph<13> g, value to, value x) { return g.op<"Add">(to, g.op<"Mul">(x, 2)); }));

template <class... Arguments>
Tensor call(char const* name, Arguments const&... arguments) {
    c10::OperatorHandle const op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
    std::vector<c10::IValue> stack{arguments...};
    op.callBoxed(stack);
    return stack.empty() ? Tensor() : stack[0].toTensor();
}

Tensor shifted(Tensor const& x, double shift, std::int64_t count) {
    return call("aton_torch_test::shifted_relu", x, shift, std::vector<std::int64_t>{9, count});
}

} // namespace

TEST_CASE("operators of the program's own are converted by its tables") {
    auto const path = (std::filesystem::temp_directory_path() / "aton_torch_custom.onnx").string();
    aton::torch::export_options options;
    options.dims = {{"input", 0, "batch"}};
    auto const f = [](Tensor const& x) {
        Tensor y = shifted(x, 0.25, 3).clone();
        call("aton_torch_test::add_to", y.select(1, 1), x.select(1, 0));
        return y;
    };
    CHECK_THROWS_WITH_AS(aton::torch::export_module(f, {torch::randn({4, 3})}, path, options),
                         doctest::Contains("aton_torch_test::shifted_relu"),
                         aton::error);
    options.tables = {rows};
    aton::torch::export_module(f, {torch::randn({4, 3})}, path, options);
    for (std::int64_t const batch : {1, 6}) CHECK_NOTHROW(aton::torch::check(f, {torch::randn({batch, 3})}, path));
    auto const counts_rows = [](Tensor const& x) { return shifted(x, 1, x.size(0)); };
    CHECK_THROWS_WITH_AS(aton::torch::export_module(counts_rows, {torch::randn({4, 3})}, path, options),
                         doctest::Contains("argument 'counts' is computed by the program"),
                         aton::error);
    std::filesystem::remove(path);
}

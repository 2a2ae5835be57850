// SPDX-License-Identifier: MIT
// Complex tensors: parts without nodes between rows, rows by parts and with a second body, refusals, and lowering to reals.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aton.hpp>

#include "../faults.hpp"

namespace complex_test {

using namespace aton::dsl;
using aton::tests::refusal_of;

namespace {

inline constexpr auto rows = table(
    symbolic<"aten::neg(self)">([](graph<13> g, value x) { return g.op<"Neg">(x); }).by_parts<"self">(),
    symbolic<"aten::cat(tensors, dim)">([](graph<13> g, std::span<value const> tensors, std::int64_t dim) {
        return g.op<"Concat">(tensors, attr::axis_i(dim));
    }).by_parts<"tensors">(),
    symbolic<"aten::gather(self, dim, index)">([](graph<13> g, value x, std::int64_t dim, value index) {
        return g.op<"GatherElements">(x, index, attr::axis_i(dim));
    }).by_parts<"self">(),
    symbolic<"aten::full(size, fill_value, dtype)">([](graph<13> g, std::span<size const> sizes, number n,
                                                       std::optional<dtype> type) {
        return g.op<"Expand">(g.scalar(n, type.value_or(dtype::float32)), g.ints(sizes));
    }).by_parts<"fill_value">(),
    symbolic<"aten::sum(self, dtype)">([](graph<13> g, value x, std::optional<dtype> type) {
        return g.op<"ReduceSum">(g.cast(x, type.value_or(x.dtype())), attr::keepdims_i(0));
    }).by_parts<"self">(),
    symbolic<"aten::square(self)">([](graph<13> g, value x) {
        return g.op<"Mul">(x, x);
    }).for_complex([](graph<13> g, complex_value z) {
        value const re = g.real(z);
        value const im = g.imag(z);
        return g.complex(g.op<"Sub">(g.op<"Mul">(re, re), g.op<"Mul">(im, im)), g.op<"Mul">(g.op<"Mul">(re, im), 2));
    }),
    symbolic<"aten::relu(self)">([](graph<13> g, value x) { return g.op<"Relu">(x); }),
    symbolic<"aten::conj(self)">([](graph<1>, value x) { return x; }).for_complex([](graph<13, 16> g, complex_value z) {
        return g.complex(g.real(z), g.op<"Neg">(g.imag(z)));
    }),
    symbolic<"aten::alias(self)">([](graph<1>, value x) { return x; }).by_parts<"self">(),
    symbolic<"aten::_conj(self)">(
        [](graph<13> g, complex_value z) { return g.complex(g.real(z), g.op<"Neg">(g.imag(z))); }),
    symbolic<"aten::view_as_real(self)">([](graph<13> g, complex_value z) { return g.as_real(z); }),
    symbolic<"aten::view_as_complex(self)">([](graph<13> g, value x) { return g.as_complex(x); }));

struct fixture {
    graph_data data;
    value z{data, data.add_input("z", {dtype::complex64, aton::shape{3, "n"}})};
    value x{data, data.add_input("x", {dtype::float32, aton::shape{3, "n"}})};

    value call(std::string_view overload, std::vector<argument> arguments, int opset = 17) {
        entry const* const row = find(rows, overload, opset);
        REQUIRE(row != nullptr);
        std::vector<result> const all = convert(data, *row, opset, std::move(arguments));
        return *all.at(0).single;
    }
    std::string refusal(std::string_view overload, std::vector<argument> arguments, int opset = 17) {
        return refusal_of([&] { call(overload, std::move(arguments), opset); });
    }
    [[nodiscard]] std::vector<std::string> ops() const {
        std::vector<std::string> out;
        for (aton::graph_node const& n : data.nodes) out.push_back(n.op);
        return out;
    }
};

argument tensor_of(value const& v) { return argument::of_tensor(v); }

using names = std::vector<std::string>;

} // namespace

TEST_CASE("a complex argument has a complex type and the shape of ATen's tensor") {
    fixture f;
    value const y = f.call("aten::_conj", {tensor_of(f.z)});
    CHECK(y.dtype() == dtype::complex64);
    CHECK(y.shape() == f.z.shape());
    names const ops = f.ops();
    CHECK(std::count(ops.begin(), ops.end(), "Gather") == 2);
    CHECK(std::count(ops.begin(), ops.end(), "Neg") == 1);
    CHECK(ops.back() == "AsComplex");
}

TEST_CASE("between rows, parts pass without a node") {
    fixture f;
    value const once = f.call("aten::_conj", {tensor_of(f.z)});
    std::size_t const before = f.data.nodes.size();
    value const twice = f.call("aten::square", {tensor_of(once)});
    names const all = f.ops();
    CHECK(std::count(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(), "Gather") == 0);
    CHECK(std::count(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(), "AsReal") == 0);
    value const reals = f.call("aten::view_as_real", {tensor_of(twice)});
    CHECK(reals.dtype() == dtype::float32);
    CHECK(reals.shape().rank() == 3);
    CHECK(f.data.nodes.back().op == "AsComplex"); // view_as_real is the Concat before it
    value const back = f.call("aten::view_as_complex", {tensor_of(reals)});
    CHECK(back.dtype() == dtype::complex64);
    CHECK(back.shape() == f.z.shape());
}

TEST_CASE("by_parts calls the body with the real and with the imaginary parts") {
    fixture f;
    value const y = f.call("aten::neg", {tensor_of(f.z)});
    CHECK(y.dtype() == dtype::complex64);
    names const ops = f.ops();
    CHECK(std::count(ops.begin(), ops.end(), "Neg") == 2);
    CHECK(f.call("aten::neg", {tensor_of(f.x)}).dtype() == dtype::float32);
}

TEST_CASE("by_parts promotes real tensors of a list, and passes other arguments as they are") {
    fixture f;
    value const joined = f.call("aten::cat", {argument::of_tensors({f.x, f.z}), argument::of_number(0)});
    CHECK(joined.dtype() == dtype::complex64);
    CHECK(joined.shape()[0] == aton::dim(6));
    value const index(f.data, f.data.add_input("index", {dtype::int64, aton::shape{3, 1}}));
    value const picked =
        f.call("aten::gather", {tensor_of(f.z), argument::of_number(1), tensor_of(index), argument::of_number(false)});
    CHECK(picked.shape() == aton::shape{3, 1});
}

TEST_CASE("by_parts takes the parts of numbers and of dtypes") {
    fixture f;
    value const y = f.call("aten::full",
                           {argument::of_numbers({2, 5}),
                            argument::of_number(aton::scalar::complex(1.5, -2)),
                            argument::of_type(dtype::complex128)});
    CHECK(y.dtype() == dtype::complex128);
    CHECK(y.shape() == aton::shape{2, 5});
    std::vector<double> numbers;
    for (aton::graph_node const& n : f.data.nodes)
        if (n.op == "Constant" && n.attributes[0].tensors[0].type == dtype::float64)
            numbers.push_back(n.attributes[0].tensors[0].at(0).to<double>());
    CHECK(numbers == std::vector<double>{1.5, -2});
    CHECK(f.refusal("aten::sum", {tensor_of(f.z), argument::of_type(dtype::float32)}) ==
          "aten::sum (opset 17): a conversion of complex numbers to float32");
    CHECK(f.call("aten::sum", {tensor_of(f.z), argument::of_type(dtype::complex128)}).dtype() == dtype::complex128);
}

TEST_CASE("a second body converts calls with complex tensors only") {
    fixture f;
    CHECK(f.call("aten::square", {tensor_of(f.x)}).dtype() == dtype::float32);
    CHECK(f.ops() == names{"Mul"});
    CHECK(f.call("aten::square", {tensor_of(f.z)}).dtype() == dtype::complex64);
}

TEST_CASE("complex tensors are refused at opsets that only the body for reals covers") {
    fixture f;
    CHECK(f.call("aten::conj", {tensor_of(f.x)}, 1).dtype() == dtype::float32);
    CHECK(f.call("aten::alias", {tensor_of(f.x)}, 1).dtype() == dtype::float32);
    fixture at_12;
    CHECK(at_12.refusal("aten::conj", {tensor_of(at_12.z)}, 12) ==
          "aten::conj (opset 12): complex tensors need opset 13");
    fixture at_6;
    CHECK(at_6.refusal("aten::alias", {tensor_of(at_6.z)}, 6) == "aten::alias (opset 6): complex tensors need opset 7");
    fixture at_17;
    CHECK(at_17.refusal("aten::conj", {tensor_of(at_17.z)}, 17) ==
          "aten::conj (opset 17): complex tensors are converted only up to opset 16");
}

TEST_CASE("a row for reals refuses a complex tensor by the argument's name") {
    fixture f;
    CHECK(f.refusal("aten::relu", {tensor_of(f.z)}) ==
          "aten::relu (opset 17): argument 'self' is complex64; the mapping takes real tensors only");
    CHECK(f.data.nodes.empty());
}

TEST_CASE("arguments that by_parts does not name must be real") {
    fixture f;
    CHECK(f.refusal("aten::gather",
                    {tensor_of(f.z), argument::of_number(1), tensor_of(f.z), argument::of_number(false)}) ==
          "aten::gather (opset 17): argument 'index' is complex64; the mapping takes real numbers there");
}

TEST_CASE("no operator takes a complex tensor as an operand") {
    fixture f;
    graph<13> const g(f.data, 17);
    CHECK_THROWS_WITH((void)g.op<"Neg">(f.z),
                      "onnx::Neg (opset 17): operand 1 is complex64; take the argument as complex_value, and use its "
                      "parts");
    CHECK_THROWS((void)g.op<"Identity">(f.z));
}

TEST_CASE("parts have one dtype, float16, float32 or float64") {
    fixture f;
    graph<13> const g(f.data, 17);
    value const half(f.data, f.data.add_input("half", {dtype::float16, aton::shape{3}}));
    value const brain(f.data, f.data.add_input("brain", {dtype::bfloat16, aton::shape{3}}));
    value const wide(f.data, f.data.add_input("wide", {dtype::float64, aton::shape{3}}));
    CHECK(g.to_value(g.complex(half, half)).dtype() == dtype::complex32);
    CHECK(refusal_of([&] { (void)g.complex(brain, brain); }) ==
          "a complex tensor has parts of float16, float32 or float64, not of bfloat16");
    CHECK(refusal_of([&] { (void)g.complex(f.x, wide); }) ==
          "the parts of a complex tensor are float32 and float64; cast one of them");
    value const single(f.data, f.data.add_input("single", {dtype::float32, aton::shape(std::vector<aton::dim>())}));
    CHECK(refusal_of([&] { (void)g.as_complex(single); }) == "a 0-d tensor cannot be viewed as complex");
    value const triples(f.data, f.data.add_input("triples", {dtype::float32, aton::shape{2, 3}}));
    CHECK(refusal_of([&] { (void)g.as_complex(triples); }) ==
          "a tensor whose last dimension is 3 cannot be viewed as complex");
}

TEST_CASE("a real tensor is promoted, integers exactly") {
    fixture f;
    graph<13> const g(f.data, 17);
    value const n(f.data, f.data.add_input("n", {dtype::int64, aton::shape{3}}));
    complex_value const wide = g.cast(complex_value(n), dtype::complex128);
    CHECK(wide.dtype() == dtype::complex128);
    REQUIRE(f.data.nodes.size() >= 1);
    CHECK(f.data.nodes[0].op == "Cast");
    CHECK(g.real(wide).dtype() == dtype::float64); // not through float32
    CHECK(complex_value(f.x).dtype() == dtype::complex64);
}

TEST_CASE("sizes of a complex tensor are those of its reals") {
    fixture f;
    graph<13> const g(f.data, 17);
    CHECK(g.size(f.z, 0).constant() == 3);
    CHECK_FALSE(g.size(f.z, -1).is_constant());
    names const ops = f.ops();
    CHECK(std::count(ops.begin(), ops.end(), "Shape") == 1);
    CHECK(std::count(ops.begin(), ops.end(), "AsReal") == 1);
}

TEST_CASE("lowering leaves reals with a trailing axis of 2, also in nested graphs") {
    fixture f;
    value const y = f.call("aten::_conj", {tensor_of(f.z)});
    f.data.outputs = {y.id()};
    aton::graph_node& branch = f.data.nodes.emplace_back();
    branch.op = "If";
    branch.attributes.emplace_back().graphs.emplace_back();
    aton::graph_data& inner = branch.attributes[0].graphs[0];
    inner.outputs = {inner.add_value({dtype::complex128, aton::shape(std::vector<aton::dim>())})};
    aton::complex_ir::lower(f.data);
    CHECK(f.data.values[f.z.id()].type == aton::value_type{dtype::float32, aton::shape{3, "n", 2}});
    CHECK(f.data.values[y.id()].type == aton::value_type{dtype::float32, aton::shape{3, "n", 2}});
    aton::graph_data const& lowered = f.data.nodes.back().attributes[0].graphs[0];
    CHECK(lowered.values[0].type == aton::value_type{dtype::float64, aton::shape{2}});
    for (aton::graph_node const& n : f.data.nodes) CHECK(n.domain.empty());
}

TEST_CASE("a row for reals leaves complex tensors to the row below") {
    fixture f;
    constexpr auto above =
        table(override_<"aten::neg(self)">([](graph<13> g, value x) { return g.op<"Sub">(g.scalar_like(0, x), x); }));
    table_view const tables[] = {above, rows};
    value const y = *convert(f.data, tables, "aten::neg", 17, {tensor_of(f.z)}).at(0).single;
    CHECK(y.dtype() == dtype::complex64);
    value const x = *convert(f.data, tables, "aten::neg", 17, {tensor_of(f.x)}).at(0).single;
    CHECK(f.data.nodes.back().op == "Sub");
    CHECK(x.dtype() == dtype::float32);
}

} // namespace complex_test

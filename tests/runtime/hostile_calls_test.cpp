// SPDX-License-Identifier: MIT
// Calls of ATen operators that ended the program once, or did not end: each is refused.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/dsl/error.hpp>
#include <aton/program/program.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/runtime/aten_program.hpp>

using aton::dtype;
using aton::runtime::aten_argument;
using aton::runtime::sizes;
using aton::runtime::tensor;

namespace {

aten_argument ones(std::string name, sizes const& of) {
    aten_argument a;
    a.name = std::move(name);
    a.is = aten_argument::kind::tensor;
    a.tensor = tensor::of_scalar(1, dtype::float32).expanded(of);
    return a;
}
aten_argument lists(std::string name, std::vector<sizes> const& of) {
    aten_argument a;
    a.name = std::move(name);
    a.is = aten_argument::kind::tensors;
    for (sizes const& each : of) a.tensors.push_back(ones({}, each).tensor);
    return a;
}
aten_argument numbers(std::string name, std::vector<aton::scalar> all) {
    aten_argument a;
    a.name = std::move(name);
    a.is = aten_argument::kind::numbers;
    a.numbers = std::move(all);
    return a;
}
aten_argument nothing(std::string name) {
    aten_argument a;
    a.name = std::move(name);
    return a;
}
aten_argument number(std::string name, aton::scalar const& one) {
    aten_argument a;
    a.name = std::move(name);
    a.is = aten_argument::kind::number;
    a.number = one;
    return a;
}

std::string refusal(std::string_view overload, std::vector<aten_argument> arguments) {
    try {
        (void)aton::runtime::call_aten(overload, std::move(arguments));
    } catch (aton::error const& e) {
        return e.what();
    }
    return {};
}

} // namespace

TEST_CASE("adaptive pooling of a tensor with fewer dimensions than it pools is refused") {
    for (std::string_view const overload : {"aten::adaptive_avg_pool3d", "aten::adaptive_max_pool3d"})
        CHECK_FALSE(refusal(overload, {ones("self", {2}), numbers("output_size", {1, 1, 1})}).empty());
}

TEST_CASE("a recurrent cell of a 0-d input or state is refused") {
    for (std::string_view const overload : {"aten::rnn_tanh_cell", "aten::gru_cell"}) {
        CHECK_FALSE(
            refusal(overload, {ones("input", {}), ones("hx", {1, 2}), ones("w_ih", {2, 3}), ones("w_hh", {2, 2})})
                .empty());
        CHECK_FALSE(
            refusal(overload, {ones("input", {1, 3}), ones("hx", {}), ones("w_ih", {2, 3}), ones("w_hh", {2, 2})})
                .empty());
    }
}

TEST_CASE("a recurrent layer of states that are matrices is refused") {
    CHECK(refusal("aten::lstm.input",
                  {ones("input", {4, 2, 3}),
                   lists("hx", {{2, 2}, {2, 2}}),
                   lists("params", {{8, 3}, {8, 2}}),
                   number("has_biases", false),
                   number("num_layers", 1),
                   number("dropout", 0.),
                   number("train", false),
                   number("bidirectional", false),
                   number("batch_first", false)})
              .find("layers, sequences and elements") != std::string::npos);
}

TEST_CASE("a weight norm of a 0-d tensor is refused") {
    CHECK_FALSE(refusal("aten::_weight_norm_interface", {ones("v", {}), ones("g", {}), number("dim", 0)}).empty());
}

TEST_CASE("a depthwise convolution of a tensor without channels is refused") {
    CHECK_FALSE(refusal("aten::conv_depthwise3d",
                        {ones("self", {}),
                         ones("weight", {1, 1, 1, 1, 1}),
                         numbers("kernel_size", {1, 1, 1}),
                         nothing("bias"),
                         numbers("stride", {1, 1, 1}),
                         numbers("padding", {0, 0, 0}),
                         numbers("dilation", {1, 1, 1})})
                    .empty());
}

TEST_CASE("attention to a value without dimensions is refused") {
    CHECK_FALSE(refusal("aten::_scaled_dot_product_attention_math",
                        {ones("query", {3, 2, 4, 8}), ones("key", {3, 2, 7, 8}), ones("value", {})})
                    .empty());
}

TEST_CASE("strings have no strides") {
    aten_argument text = ones("self", {2});
    text.tensor = tensor::of_strings({"a", "b"}, {2});
    CHECK(refusal("aten::as_strided_copy", {text, numbers("size", {1}), numbers("stride", {1})}).find("strings") !=
          std::string::npos);
}

TEST_CASE("a diagonal beside every matrix is refused") {
    for (std::int64_t const offset : {INT64_MIN, INT64_MAX})
        CHECK_FALSE(refusal("aten::diag_embed", {ones("self", {2}), number("offset", offset)}).empty());
}

TEST_CASE("a multivariate gamma function of more factors than memory holds is refused") {
    CHECK_FALSE(refusal("aten::special_multigammaln", {ones("self", {2}), number("p", std::int64_t{1} << 61)}).empty());
}

TEST_CASE("resizing to more than memory holds is refused at once") {
    aten_argument corners = number("align_corners", true);
    CHECK(refusal("aten::upsample_bilinear2d",
                  {ones("self", {1, 1, 1, 1}), numbers("output_size", {5, std::int64_t{1} << 61}), corners})
              .find("too large") != std::string::npos);
}

TEST_CASE("a loop that goes on for ever ends when its steps are used up") {
    aton::program::program p;
    p.origins.resize(1);
    for (char const* name : {"x", "y", "in_condition", "in_body"}) p.values.emplace_back().name = name;
    aton::program::input in;
    in.value = 0;
    p.inputs = {in};
    p.outputs.resize(1);
    using kind = aton::program::argument_kind;
    auto const argument = [](kind is, std::int64_t integer, std::vector<aton::program::value_index> of) {
        aton::program::argument a;
        a.kind = is;
        a.integer = integer;
        a.values = std::move(of);
        return a;
    };
    p.subgraphs = {{{2}, {}, {argument(kind::boolean, 1, {})}}, {{3}, {}, {argument(kind::value, 0, {3})}}};
    aton::program::node loop;
    loop.kind = aton::program::node_kind::higher_order;
    loop.op = "higher_order::while_loop";
    loop.arguments = {argument(kind::graph, 0, {}),
                      argument(kind::graph, 1, {}),
                      argument(kind::values, 0, {0}),
                      argument(kind::values, 0, {})};
    loop.results = {{{1}, false}};
    p.main = {{0}, {loop}, {argument(kind::value, 0, {1})}};
    aton::runtime::aten_options options;
    options.most_steps = 1000;
    aton::runtime::aten_program const runs(std::move(p), options);
    std::vector<aton::runtime::value> const inputs = {tensor::of_scalar(1, dtype::float32)};
    std::string why;
    try {
        (void)runs.run(inputs);
    } catch (aton::error const& e) {
        why = e.what();
    }
    CHECK(why.find("the run takes more than 1000 steps") != std::string::npos);
}

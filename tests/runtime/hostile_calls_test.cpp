// SPDX-License-Identifier: MIT
// Calls of ATen operators that once crashed or hung, and calls that ATen refuses: each is refused.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/program/program.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/runtime/aten_program.hpp>

namespace hostile_calls_test {

using aton::dtype;
using aton::runtime::aten_argument;
using aton::runtime::sizes;
using aton::runtime::tensor;

namespace {

tensor ones_of(sizes const& of) { return tensor::of_scalar(1, dtype::float32).expanded(of); }
aten_argument ones(std::string name, sizes const& of) {
    return aten_argument::of_tensor(ones_of(of)).named(std::move(name));
}
aten_argument lists(std::string name, std::vector<sizes> const& of) {
    std::vector<tensor> all;
    for (sizes const& each : of) all.push_back(ones_of(each));
    return aten_argument::of_tensors(std::move(all)).named(std::move(name));
}
aten_argument numbers(std::string name, std::vector<aton::scalar> all) {
    return aten_argument::of_numbers(std::move(all)).named(std::move(name));
}
aten_argument nothing(std::string name) { return aten_argument::none().named(std::move(name)); }
aten_argument number(std::string name, aton::scalar const& one) {
    return aten_argument::of_number(one).named(std::move(name));
}
aten_argument whole_numbers(std::string name, std::vector<std::int64_t> const& all) {
    return aten_argument::of_tensor(tensor::of_integers(all)).named(std::move(name));
}
aten_argument text(std::string name, std::string all) {
    return aten_argument::of_text(std::move(all)).named(std::move(name));
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
              .find("[layers, batch, hidden_size]") != std::string::npos);
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

TEST_CASE("attention with a 0-d value is refused") {
    CHECK_FALSE(refusal("aten::_scaled_dot_product_attention_math",
                        {ones("query", {3, 2, 4, 8}), ones("key", {3, 2, 7, 8}), ones("value", {})})
                    .empty());
}

TEST_CASE("a contraction over a dimension of a 0-d tensor is refused") {
    for (bool const is_first : {true, false}) {
        auto self = ones("self", {2, 3, 3});
        auto other = ones("other", {2, 3, 3});
        (is_first ? self : other) = ones(is_first ? "self" : "other", {});
        CHECK(refusal("aten::tensordot", {self, other, numbers("dims_self", {-2, -1}), numbers("dims_other", {-1, -2})})
                  .find("0-d") != std::string::npos);
    }
}

TEST_CASE("strings do not have strides") {
    aten_argument words = ones("self", {2});
    words.tensor = tensor::of_strings({"a", "b"}, {2});
    CHECK(refusal("aten::as_strided_copy", {words, numbers("size", {1}), numbers("stride", {1})}).find("strings") !=
          std::string::npos);
}

TEST_CASE("a diagonal outside of every matrix is refused") {
    for (std::int64_t const offset : {INT64_MIN, INT64_MAX})
        CHECK_FALSE(refusal("aten::diag_embed", {ones("self", {2}), number("offset", offset)}).empty());
}

TEST_CASE("a multivariate gamma function with more factors than fit into memory is refused") {
    CHECK_FALSE(refusal("aten::special_multigammaln", {ones("self", {2}), number("p", std::int64_t{1} << 61)}).empty());
}

TEST_CASE("resizing to more than fits into memory is refused immediately") {
    aten_argument corners = number("align_corners", true);
    CHECK(refusal("aten::upsample_bilinear2d",
                  {ones("self", {1, 1, 1, 1}), numbers("output_size", {5, std::int64_t{1} << 61}), corners})
              .find("too large") != std::string::npos);
}

// These once overflowed int64.

TEST_CASE("windows at the limits of int64 are refused") {
    for (std::int64_t const end : {INT64_MIN, INT64_MAX}) {
        using numbers_of_window = std::array<std::int64_t, 4>;
        for (auto const& [kernel, stride, padding, dilation] :
             {numbers_of_window{end, 1, 0, 1}, {3, end, 0, 1}, {3, 1, end, 1}, {3, 1, 0, end}}) {
            CAPTURE(kernel);
            CAPTURE(stride);
            CAPTURE(padding);
            CAPTURE(dilation);
            std::vector<aten_argument> window = {ones("self", {2, 5, 7}),
                                                 numbers("kernel_size", {kernel, 2}),
                                                 numbers("stride", {stride, 2}),
                                                 numbers("padding", {padding, 0}),
                                                 numbers("dilation", {dilation, 1}),
                                                 number("ceil_mode", false)};
            CHECK(refusal("aten::max_pool2d", window).find("is out of range") != std::string::npos);
            window.pop_back();
            CHECK(refusal("aten::im2col", window).find("is out of range") != std::string::npos);
        }
        CHECK(refusal("aten::conv1d.padding",
                      {ones("input", {2, 3, 7}),
                       ones("weight", {4, 3, 2}),
                       nothing("bias"),
                       numbers("stride", {1}),
                       text("padding", "same"),
                       numbers("dilation", {end}),
                       number("groups", 1)})
                  .find("is out of range") != std::string::npos);
        CHECK_FALSE(refusal("aten::col2im",
                            {ones("self", {6, 4}),
                             numbers("output_size", {end, 3}),
                             numbers("kernel_size", {2, 3}),
                             numbers("dilation", {1, 1}),
                             numbers("padding", {0, 0}),
                             numbers("stride", {1, 1})})
                        .empty());
    }
}

TEST_CASE("a transposed convolution with a result that is too large is refused, even for an empty batch") {
    CHECK(refusal("aten::conv_transpose1d",
                  {ones("input", {0, 3, std::int64_t{1} << 36}),
                   ones("weight", {3, 2, 2}),
                   nothing("bias"),
                   numbers("stride", {std::int64_t{1} << 31}),
                   numbers("padding", {0}),
                   numbers("output_padding", {0}),
                   number("groups", 1),
                   numbers("dilation", {1})})
              .find("are too large") != std::string::npos);
}

TEST_CASE("random windows of the maximum int64 are refused") {
    CHECK(refusal("aten::fractional_max_pool2d",
                  {ones("self", {1, 2, 5, 7}),
                   numbers("kernel_size", {INT64_MAX, 2}),
                   numbers("output_size", {INT64_MAX, 2}),
                   ones("random_samples", {1, 2, 2})})
              .find("do not fit") != std::string::npos);
}

TEST_CASE("a slice with steps that overflow int64 is refused or has one element") {
    auto const refusal_of_step = [](std::int64_t step) {
        return refusal("aten::slice.Tensor",
                       {ones("self", {3, 7}),
                        number("dim", 1),
                        number("start", 1),
                        number("end", INT64_MAX),
                        number("step", step)});
    };
    CHECK(refusal_of_step(INT64_MAX).empty());
    CHECK_FALSE(refusal_of_step(INT64_MIN).empty());
}

TEST_CASE("one_hot of the maximum int64 is refused") {
    CHECK(refusal("aten::one_hot", {whole_numbers("self", {1, INT64_MAX}), number("num_classes", -1)}).find("class") !=
          std::string::npos);
}

TEST_CASE("repeats whose sum overflows int64 are refused") {
    CHECK(refusal("aten::repeat_interleave.Tensor", {whole_numbers("repeats", {INT64_MAX, 3, INT64_MAX})})
              .find("more repeats") != std::string::npos);
}

TEST_CASE("rounding to the minimum int64 of decimals terminates") {
    CHECK(refusal("aten::round.decimals", {ones("self", {3}), number("decimals", INT64_MIN)}).empty());
}

TEST_CASE("groups whose product with the batch overflows int64 are refused, even for an empty tensor") {
    CHECK_FALSE(refusal("aten::native_group_norm",
                        {ones("input", {std::int64_t{1} << 39, 0, 1}),
                         nothing("weight"),
                         nothing("bias"),
                         number("N", std::int64_t{1} << 39),
                         number("C", 0),
                         number("HxW", 1),
                         number("group", std::int64_t{1} << 39),
                         number("eps", 1e-5)})
                    .empty());
}

TEST_CASE("an infinite loop ends at the maximum number of steps") {
    aton::program::program p;
    p.origins.resize(1);
    for (char const* name : {"x", "y", "in_condition", "in_body"}) p.values.emplace_back().name = name;
    aton::program::input in;
    in.value = 0;
    p.inputs = {in};
    p.outputs.resize(1);
    using aton::program::argument;
    p.subgraphs = {{{2}, {}, {argument::of_number(true)}}, {{3}, {}, {argument::of_tensor(3)}}};
    aton::program::node loop;
    loop.kind = aton::program::node_kind::higher_order;
    loop.op = "higher_order::while_loop";
    loop.arguments = {
        argument::of_graph(0, {}), argument::of_graph(1, {}), argument::of_tensors({0}), argument::of_tensors({})};
    loop.results = {{{1}, false}};
    p.main = {{0}, {loop}, {argument::of_tensor(1)}};
    aton::runtime::aten_options options;
    options.max_steps = 1000;
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

TEST_CASE("numbers whose sums or products overflow are refused") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    CHECK_FALSE(refusal("aten::conv_tbc_backward",
                        {ones("self", {2, 3, 4}),
                         ones("input", {2, 3, 5}),
                         ones("weight", {1, 5, 4}),
                         ones("bias", {4}),
                         number("pad", most / 2 + 1)})
                    .empty());
    CHECK_FALSE(refusal("prims::iota",
                        {number("length", most),
                         number("start", 0),
                         number("step", 2),
                         aten_argument::of_type(dtype::int64).named("dtype"),
                         aten_argument::of_tag("cpu").named("device"),
                         number("requires_grad", false)})
                    .empty());
    CHECK_FALSE(refusal("aten::rnn_relu.data",
                        {ones("data", {3, 2}),
                         whole_numbers("batch_sizes", {most, 1020}),
                         ones("hx", {1, 2, 4}),
                         lists("params", {{4, 2}, {4, 4}}),
                         number("has_biases", false),
                         number("num_layers", 1),
                         number("dropout", 0.0),
                         number("train", false),
                         number("bidirectional", false)})
                    .empty());
}

TEST_CASE("a rate without an end of its loop, and a transform along no axis, are refused") {
    aten_argument const rate = aten_argument::of_tensor(tensor::of_scalar(std::nan(""), dtype::float32)).named("self");
    CHECK_FALSE(refusal("aten::poisson", {rate}).empty());
    CHECK_FALSE(refusal("aten::_fft_r2c",
                        {ones("self", {}), numbers("dim", {0}), number("normalization", 0), number("onesided", true)})
                    .empty());
}

TEST_CASE("operands of different dtypes are refused by their names") {
    CHECK(refusal("aten::isclose", {ones("self", {2}), whole_numbers("other", {1, 2})}) ==
          "aten::isclose: 'other' is int64, but 'self' is float32");
    CHECK(refusal("aten::linear", {ones("input", {1, 2}), ones("weight", {2, 2}), whole_numbers("bias", {1, 2})}) ==
          "aten::linear: 'bias' is int64, but 'input' is float32");
    CHECK(refusal("aten::quantile", {ones("self", {2}), whole_numbers("q", {0, 1})}) ==
          "aten::quantile: 'q' is int64, but 'self' is float32");
}

} // namespace hostile_calls_test

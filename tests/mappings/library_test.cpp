// SPDX-License-Identifier: MIT
// The built-in library: exactly one row for each call, no gaps in the opsets of an overload, and rows for the overloads of real models.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aton.hpp>
#ifdef ATON_LIBRARY_AS_HEADER // all rows are compiled here
#include <aton/mappings.hpp>
#else
#include <aton/mappings/built_in.hpp>
#endif

using namespace aton::dsl;

namespace {

std::span<table_view const> library() {
#ifdef ATON_LIBRARY_AS_HEADER
    return aton::mappings::library();
#else
    return aton::mappings::built_in_tables();
#endif
}

std::map<std::string_view, std::vector<entry const*>> rows_by_overload() {
    std::map<std::string_view, std::vector<entry const*>> rows;
    for (table_view const table : library())
        for (entry const& row : table) rows[row.overload].push_back(&row);
    for (auto& [overload, list] : rows)
        std::sort(list.begin(), list.end(), [](entry const* a, entry const* b) { return a->since < b->since; });
    return rows;
}

// The functional and view overloads that 3 or more of 166 exported models use, as exported or decomposed.
constexpr std::string_view used_by_models[] = {
    "aten::linear",
    "aten::add.Tensor",
    "aten::conv2d",
    "aten::mul.Tensor",
    "aten::dropout",
    "aten::flatten.using_ints",
    "aten::view",
    "aten::transpose.int",
    "aten::reshape",
    "aten::adaptive_avg_pool2d",
    "aten::layer_norm",
    "aten::batch_norm",
    "aten::unsqueeze",
    "aten::cat",
    "aten::expand",
    "aten::_assert_tensor_metadata",
    "aten::scaled_dot_product_attention",
    "aten::slice.Tensor",
    "aten::gelu",
    "aten::arange",
    "aten::mean.dim",
    "aten::index.Tensor",
    "aten::embedding",
    "aten::to.dtype_layout",
    "aten::permute",
    "aten::to.dtype",
    "aten::to.device",
    "aten::__and__.Tensor",
    "aten::new_ones",
    "aten::contiguous",
    "aten::select.int",
    "aten::relu",
    "aten::alias",
    "aten::max_pool2d",
    "aten::neg",
    "aten::pow.Tensor_Scalar",
    "aten::le.Tensor",
    "aten::sub.Tensor",
    "aten::softmax.int",
    "aten::sigmoid",
    "aten::cos",
    "aten::sin",
    "aten::silu",
    "aten::div.Tensor",
    "aten::ge.Scalar",
    "aten::rsqrt",
    "aten::matmul",
    "aten::tanh",
    "aten::zeros",
    "aten::avg_pool2d",
    "aten::unbind.int",
    "aten::pad",
    "aten::chunk",
    "aten::split_with_sizes",
    "aten::cumsum",
    "aten::upsample_bilinear2d.vec",
    "aten::hardsigmoid",
    "aten::stack",
    "aten::exp",
    "aten::gather",
    "aten::conv1d",
    "aten::lift_fresh_copy",
    "aten::sum.dim_IntList",
    "aten::abs",
    "aten::expand_as",
    "aten::where.ScalarOther",
    "aten::linalg_vector_norm",
    "aten::repeat",
    "aten::squeeze.dim",
    "aten::type_as",
    "aten::where.self",
    "aten::ne.Scalar",
    "aten::masked_fill.Scalar",
    "aten::split.Tensor",
    "aten::clamp",
    "aten::gt.Scalar",
    "aten::clamp_min",
    "aten::einsum",
    "aten::group_norm",
    "aten::roll",
    "aten::zeros_like",
    "aten::bmm",
    "aten::full_like",
    "aten::lt.Scalar",
    "aten::log",
    "aten::pow.Scalar",
    "aten::rsub.Scalar",
    "aten::addmm",
    "aten::eq.Scalar",
    "aten::div.Tensor_mode",
    "aten::hardtanh",
    "aten::sym_size.int",
    "aten::leaky_relu",
    "aten::bitwise_not",
    "aten::gt.Tensor",
    "aten::sign",
    "aten::sort",
    "aten::topk",
    "aten::upsample_nearest2d.vec",
    "aten::_weight_norm",
    "aten::arange.start",
    "aten::conv_transpose2d.input",
    "aten::floor_divide",
    "aten::instance_norm",
    "aten::meshgrid.indexing",
    "aten::min.other",
    "aten::softplus",
    "aten::unflatten.int",
    "aten::clone",
    "aten::index_select",
    "aten::le.Scalar",
    "aten::elu",
    "aten::sqrt",
    "aten::arange.start_step",
    "aten::any.dim",
    "aten::full",
    "aten::max_pool2d_with_indices",
    "aten::fmod.Scalar",
    "aten::log1p",
    "aten::eq.Tensor",
    "aten::floor",
    "aten::convolution",
    "aten::_softmax",
    "aten::_native_batch_norm_legit_no_training",
    "aten::native_layer_norm",
    "aten::logical_not",
    "aten::mul.Scalar",
    "aten::_to_copy",
    "aten::scalar_tensor",
    "aten::mm",
    "aten::bitwise_and.Tensor",
    "aten::squeeze.dims",
    "aten::constant_pad_nd",
    "aten::as_strided",
    "aten::copy",
    "aten::_adaptive_avg_pool2d",
    "aten::native_group_norm",
    "aten::slice_scatter",
    "aten::_native_batch_norm_legit.no_stats",
    "aten::index_put",
    "aten::minimum",
};

} // namespace

TEST_CASE("the rows of an overload cover all opsets up to the newest, without overlaps or gaps") {
    for (auto const& [overload, rows] : rows_by_overload()) {
        CAPTURE(overload);
        for (std::size_t i = 1; i < rows.size(); ++i) CHECK(rows[i]->since == rows[i - 1]->until + 1);
        CHECK(rows.back()->until == aton::onnx::newest_opset);
    }
}

TEST_CASE("no overload is in two families") {
    std::map<std::string_view, std::set<std::size_t>> families;
    for (std::size_t i = 0; i != library().size(); ++i)
        for (entry const& row : library()[i]) families[row.overload].insert(i);
    for (auto const& [overload, in] : families) {
        CAPTURE(overload);
        CHECK(in.size() == 1);
    }
}

TEST_CASE("a convolution of integers with zero groups, or with stride 0, is refused") {
    for (bool const has_groups : {false, true}) {
        graph_data data;
        value const x(data, data.add_input("x", {dtype::int64, aton::shape{1, 2, 3}}));
        value const w(data, data.add_input("w", {dtype::int64, aton::shape{2, 2, 1}}));
        CHECK_THROWS_AS((void)convert(data,
                                      *find(library(), "aten::conv1d", 17),
                                      17,
                                      {argument::of_tensor(x),
                                       argument::of_tensor(w),
                                       argument::none(),
                                       argument::of_numbers({has_groups ? 0 : 1}),
                                       argument::of_numbers({0}),
                                       argument::of_numbers({1}),
                                       argument::of_number(has_groups ? 1 : 0)}),
                        aton::unsupported_error);
    }
}

TEST_CASE("every overload that real models use has a row from opset 13 on") {
    for (std::string_view overload : used_by_models) {
        CAPTURE(overload);
        CHECK(find(library(), overload, 13) != nullptr);
        CHECK(find(library(), overload, aton::onnx::newest_opset) != nullptr);
    }
}

TEST_CASE("rows are functional: in-place and out variants are not mapped") {
    auto const rows = rows_by_overload();
    CHECK(rows.size() >= 220);
    for (auto const& [overload, list] : rows) {
        CAPTURE(overload);
        aton::aten::argument_cursor cursor(list.front()->schema);
        aton::aten::schema_argument argument;
        while (cursor.next(argument)) CHECK_FALSE(argument.type.mutates);
    }
}

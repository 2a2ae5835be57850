// SPDX-License-Identifier: MIT
// The built-in tables: every family of mappings, and all of them as one library.
// Public header.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

#include <aton/mappings/activation.hpp>
#include <aton/mappings/activation_backward.hpp>
#include <aton/mappings/adaptive_pooling.hpp>
#include <aton/mappings/affine_quantization.hpp>
#include <aton/mappings/attention.hpp>
#include <aton/mappings/bessel_functions.hpp>
#include <aton/mappings/binary_math.hpp>
#include <aton/mappings/bitwise.hpp>
#include <aton/mappings/bucketing.hpp>
#include <aton/mappings/class_loss.hpp>
#include <aton/mappings/comparison.hpp>
#include <aton/mappings/complex_tensors.hpp>
#include <aton/mappings/conversion.hpp>
#include <aton/mappings/convolution.hpp>
#include <aton/mappings/creation.hpp>
#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/decomposed_quantization.hpp>
#include <aton/mappings/decompositions.hpp>
#include <aton/mappings/deformable_convolution.hpp>
#include <aton/mappings/detection.hpp>
#include <aton/mappings/diagonals.hpp>
#include <aton/mappings/distances.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/elementwise_unary.hpp>
#include <aton/mappings/embedding.hpp>
#include <aton/mappings/fake_quantization.hpp>
#include <aton/mappings/gradients.hpp>
#include <aton/mappings/histograms.hpp>
#include <aton/mappings/incomplete_gamma.hpp>
#include <aton/mappings/indexing.hpp>
#include <aton/mappings/joining.hpp>
#include <aton/mappings/library_quantization.hpp>
#include <aton/mappings/linear_algebra.hpp>
#include <aton/mappings/loss.hpp>
#include <aton/mappings/loss_backward.hpp>
#include <aton/mappings/loss_scaling.hpp>
#include <aton/mappings/masked_indexing.hpp>
#include <aton/mappings/matrix_product.hpp>
#include <aton/mappings/norm.hpp>
#include <aton/mappings/normalization.hpp>
#include <aton/mappings/normalization_backward.hpp>
#include <aton/mappings/orthogonal_polynomials.hpp>
#include <aton/mappings/padding.hpp>
#include <aton/mappings/padding_backward.hpp>
#include <aton/mappings/patches.hpp>
#include <aton/mappings/pixels.hpp>
#include <aton/mappings/pooling.hpp>
#include <aton/mappings/pooling_backward.hpp>
#include <aton/mappings/prims_creation.hpp>
#include <aton/mappings/prims_elementwise.hpp>
#include <aton/mappings/prims_reduction.hpp>
#include <aton/mappings/prims_shape.hpp>
#include <aton/mappings/random.hpp>
#include <aton/mappings/ranges.hpp>
#include <aton/mappings/recurrent.hpp>
#include <aton/mappings/reduction.hpp>
#include <aton/mappings/regions.hpp>
#include <aton/mappings/repeating.hpp>
#include <aton/mappings/resize.hpp>
#include <aton/mappings/resize_backward.hpp>
#include <aton/mappings/sampling.hpp>
#include <aton/mappings/scaled_product.hpp>
#include <aton/mappings/scatter.hpp>
#include <aton/mappings/segments.hpp>
#include <aton/mappings/selection.hpp>
#include <aton/mappings/short_time_transforms.hpp>
#include <aton/mappings/slicing.hpp>
#include <aton/mappings/softmax.hpp>
#include <aton/mappings/sorting.hpp>
#include <aton/mappings/special_functions.hpp>
#include <aton/mappings/spectra.hpp>
#include <aton/mappings/splitting.hpp>
#include <aton/mappings/statistics.hpp>
#include <aton/mappings/transforms.hpp>
#include <aton/mappings/unique.hpp>
#include <aton/mappings/view.hpp>
#include <aton/mappings/zeta_functions.hpp>

namespace ATON_NAMESPACE::mappings {

/// A table of the library, with its name, which is also that of its header: `mappings::activation`, <aton/mappings/activation.hpp>.
struct named_family {
    std::string_view name;
    table_view rows;
};

/// The tables with their names.
inline constexpr named_family named_families[] = {
    {"activation", activation},
    {"activation_backward", activation_backward},
    {"adaptive_pooling", adaptive_pooling},
    {"affine_quantization", affine_quantization},
    {"attention", attention},
    {"bessel_functions", bessel_functions},
    {"binary_math", binary_math},
    {"bitwise", bitwise},
    {"bucketing", bucketing},
    {"class_loss", class_loss},
    {"comparison", comparison},
    {"complex_tensors", complex_tensors},
    {"conversion", conversion},
    {"convolution", convolution},
    {"creation", creation},
    {"cumulative", cumulative},
    {"decomposed_quantization", decomposed_quantization},
    {"decompositions", decompositions},
    {"deformable_convolution", deformable_convolution},
    {"detection", detection},
    {"diagonals", diagonals},
    {"distances", distances},
    {"elementwise_binary", elementwise_binary},
    {"elementwise_unary", elementwise_unary},
    {"embedding", embedding},
    {"fake_quantization", fake_quantization},
    {"gradients", gradients},
    {"histograms", histograms},
    {"incomplete_gamma", incomplete_gamma},
    {"indexing", indexing},
    {"joining", joining},
    {"library_quantization", library_quantization},
    {"linear_algebra", linear_algebra},
    {"loss", loss},
    {"loss_backward", loss_backward},
    {"loss_scaling", loss_scaling},
    {"masked_indexing", masked_indexing},
    {"matrix_product", matrix_product},
    {"norm", norm},
    {"normalization", normalization},
    {"normalization_backward", normalization_backward},
    {"orthogonal_polynomials", orthogonal_polynomials},
    {"padding", padding},
    {"padding_backward", padding_backward},
    {"patches", patches},
    {"pixels", pixels},
    {"pooling", pooling},
    {"pooling_backward", pooling_backward},
    {"prims_creation", prims_creation},
    {"prims_elementwise", prims_elementwise},
    {"prims_reduction", prims_reduction},
    {"prims_shape", prims_shape},
    {"random", random},
    {"ranges", ranges},
    {"recurrent", recurrent},
    {"reduction", reduction},
    {"regions", regions},
    {"repeating", repeating},
    {"resize", resize},
    {"resize_backward", resize_backward},
    {"sampling", sampling},
    {"scaled_product", scaled_product},
    {"scatter", scatter},
    {"segments", segments},
    {"selection", selection},
    {"short_time_transforms", short_time_transforms},
    {"slicing", slicing},
    {"softmax", softmax},
    {"sorting", sorting},
    {"special_functions", special_functions},
    {"spectra", spectra},
    {"splitting", splitting},
    {"statistics", statistics},
    {"transforms", transforms},
    {"unique", unique},
    {"view", view},
    {"zeta_functions", zeta_functions},
};

/// The tables, one per family.
inline constexpr auto families = [] {
    std::array<table_view, std::size(named_families)> out{};
    for (std::size_t i = 0; i != out.size(); ++i) out[i] = named_families[i].rows;
    return out;
}();

/// Every built-in row. Look-up: `aton::dsl::find(aton::mappings::library(), "aten::elu", opset)`.
constexpr std::span<table_view const> library() { return families; }

/// Whether a row of your table shadows a built-in row without `override_`; an export with such a table is refused.
/// `static_assert(!aton::mappings::hides_built_in_rows(my_table))`
constexpr bool hides_built_in_rows(table_view rows) {
    for (dsl::entry const& row : rows)
        for (table_view const& family : families)
            if (dsl::hidden_row(row, family) != nullptr) return true;
    return false;
}

} // namespace ATON_NAMESPACE::mappings

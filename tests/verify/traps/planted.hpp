// SPDX-License-Identifier: MIT
// Wrong mappings as exporters have shipped them, numbered as traps. The check must detect each.
//
// Traps that are not planted:
// 34 no row: softcap of Attention and rank 3 of RotaryEmbedding have no ATen operator
// 45 no row: rfft and stft have no mapping
// 51 no row: roi_align is torchvision's, which has no reference here
// 61 no row: it concerns conversions of whole models to another opset
// 59 is not in the list of traps: arguments that are infinite, NaN, or out of the dtype's range.
// Parts of planted traps that are not planted:
// 14 no row: a call's list of indices has no None
// 31 no row: mixed dtypes and float32 constants in float16 graphs are refused before there is a graph
// 48, 57 no row: the inaccuracy of gelu in float16, and of log1p and expm1 near 0, is within the tolerance
#pragma once

#include <span>
#include <string_view>

#include <aton/dsl/table.hpp>

namespace ATON_NAMESPACE::verify::traps {

struct planted {
    int trap;
    char const* name;
    dsl::table_view row;
    int opset = 20;
    std::string_view rule = {}; ///< the sampling rule; empty: that of the operator
    bool runs = true;           ///< false: the bug is a graph that does not run
};

inline constexpr int not_planted[] = {34, 45, 51, 61};

/// One subcase per trap: its row must fail on a call for which the built-in row of the same overload is correct.
void require_found(std::span<planted const> all);

std::span<planted const> resampling_traps();
std::span<planted const> layout_traps();
std::span<planted const> indexing_traps();
std::span<planted const> integer_traps();
std::span<planted const> nan_traps();
std::span<planted const> argument_traps();
std::span<planted const> other_traps();

} // namespace ATON_NAMESPACE::verify::traps

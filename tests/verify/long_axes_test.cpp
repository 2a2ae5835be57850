// SPDX-License-Identifier: MIT
// Rows whose graphs have a Loop where an axis is long: sampling rules with sizes that the built-in rules do not draw.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <aton/mappings/built_in.hpp>
#include <aton/verify/check.hpp>

using aton::verify::check;
using aton::verify::check_options;
using aton::verify::report;
using aton::verify::sampling_rule;

namespace {

constexpr aton::verify::sampling_rule all[] = {
    {"bucketize.Tensor", "self: (n, c); boundaries: (m+130) sorted"},
    {"bucketize.Scalar", "boundaries: (m+130) sorted"},
    {"isin.Tensor_Tensor", "elements: (n, c); test_elements: (m+130)"},
    {"isin.Scalar_Tensor", "element: -3..9 | -2.25 | 0.5 only; test_elements: (n, c+130)"},
    {"repeat_interleave.Tensor", "repeats: (n+130) int64 in 0..3; output_size: default"},
    {"repeat_interleave.self_Tensor",
     "self: (n, c+130, h); repeats: (c+130) int64 in 0..3; dim: {1}; output_size: default"},
    {"embedding_bag.padding_idx",
     "weight: (v, d) in -4.0..4.0; indices: (n*m+200) index v; offsets: (m+130) offsets (n*m+200); mode: 0..2; "
     "sparse: false; per_sample_weights: (n*m+200) in -2.0..2.0 ?; padding_idx: -2..1"},
};

} // namespace

TEST_CASE("rows are right along axes that are so long that a Loop goes over them") {
    std::vector<aton::dsl::entry> rows;
    for (aton::dsl::table_view const table : aton::mappings::built_in_tables())
        rows.insert(rows.end(), table.begin(), table.end());
    for (sampling_rule const& each : all) {
        std::string const name = "aten::" + std::string(each.operators);
        CAPTURE(name);
        check_options options;
        options.only = name;
        options.rules = {&each, 1};
        options.samples = 2;
        report const r = check(rows, options);
        CHECK_MESSAGE(r.passed(), r.to_text());
        REQUIRE_FALSE(r.rows.empty());
        CHECK(r.rows[0].total(&aton::verify::type_report::same) > 30);
    }
}

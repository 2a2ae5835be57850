// SPDX-License-Identifier: MIT
// Rows of operators that are registered with torch: their schemas and numbers against those of the dispatcher.
#include <cstdint>
#include <set>
#include <string>

#include <torch/library.h>
#undef CHECK // torch logs with it; doctest defines its own

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/torch_reference.hpp>

#include "../faults.hpp"
#include "verify/schema_difference.hpp"

namespace {

at::Tensor stretch(at::Tensor const& x, double factor, std::int64_t) { return x * factor; }

} // namespace

TORCH_LIBRARY(aton_test, m) { m.def("stretch(Tensor x, float factor=1e-06, int power=2) -> Tensor", &stretch); }

namespace ATON_NAMESPACE::verify {

namespace {

using namespace dsl;
using tests::contains;

constexpr auto body = [](graph<13> g, value x, double factor, std::int64_t) { return g.op<"Mul">(x, factor); };
constexpr auto right = table(symbolic<"aton_test::stretch(Tensor x, float factor=1e-06, int power=2) -> Tensor">(body));
constexpr auto another_default =
    table(symbolic<"aton_test::stretch(Tensor x, float factor=1e-05, int power=2) -> Tensor">(body));
constexpr auto another_name =
    table(symbolic<"aton_test::stretch(Tensor x, float factor=1e-06, int exponent=2) -> Tensor">(body));
constexpr auto unknown = table(symbolic<"aton_test::unknown(Tensor x, float factor, int power) -> Tensor">(body));

report check_with_torch(table_view rows) {
    static constexpr sampling_rule rules[] = {{"aton_test::stretch", "x: (n, c) float32; factor: 0.5..2.0"}};
    check_options options;
    options.truth = call_torch;
    options.registered_schema = torch_schema;
    options.rules = rules;
    options.samples = 1;
    return check(rows, options);
}

} // namespace

TEST_CASE("a row with the registered schema and torch's numbers passes") {
    report const r = check_with_torch(right);
    CHECK_MESSAGE(r.passed(), r.to_text());
    CHECK(r.rows.at(0).total(&type_report::same) > 10);
}

TEST_CASE("another default or name than the registered one is reported in one sentence") {
    CHECK(contains(check_with_torch(another_default).to_text(),
                   "aton_test::stretch: the argument 'factor' has the default 1e-05 in the row, but the default "));
    CHECK(
        contains(check_with_torch(another_name).to_text(),
                 "aton_test::stretch: argument 3 is 'exponent' in the row, but 'power' in the schema that the operator "
                 "is registered with"));
    CHECK_FALSE(check_with_torch(another_default).passed());
}

TEST_CASE("an operator that is not registered has no schema") {
    CHECK(torch_schema("aton_test::unknown").empty());
    report const r = check_with_torch(unknown);
    CHECK(r.rows.at(0).schema_difference.empty());
    CHECK_FALSE(r.passed()); // torch rejects its calls
}

TEST_CASE("torch 2.13 prints the schemas of ATen as Aton has them, except those that changed") {
    int found = 0;
    std::set<std::string> changed;
    for (std::size_t i = 0; i != aten::schema_count(); ++i) {
        std::string const ours(aten::schema_at(i));
        std::string const theirs = torch_schema(aten::parse_head(ours).qualified);
        if (theirs.empty()) continue;
        ++found;
        if (!schema_difference(ours, theirs).empty()) changed.emplace(aten::parse_head(ours).qualified);
    }
    CHECK(found > 2000);
    CHECK(changed == std::set<std::string>{"aten::_cdist_backward",
                                           "aten::_cdist_backward.out",
                                           "aten::_cudnn_attention_forward",
                                           "aten::_pdist_backward",
                                           "aten::_pdist_backward.out"});
}

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// The traits of operators: one row for each operator of ONNX, sorted, and none for others.
#include <aton/onnx/traits.hpp>

#include <algorithm>
#include <string_view>

#include <doctest/doctest.h>

#include <aton/onnx/registry.hpp>

namespace onnx = aton::onnx;

TEST_CASE("every operator of the default domain has a row of traits") {
    for (int i = 0; i != onnx::op_count(); ++i) {
        onnx::op_schema const newest = onnx::op_versions(i)[onnx::op_versions(i).size() - 1];
        if (!newest.domain().empty()) continue;
        CAPTURE(newest.name());
        CHECK(std::ranges::count(onnx::detail::traits, newest.name(), &onnx::operator_traits::name) == 1);
        CHECK(onnx::traits_of(newest.name()).name == newest.name());
    }
}

TEST_CASE("rows of traits are sorted, and of operators that exist") {
    CHECK(std::ranges::is_sorted(onnx::detail::traits, {}, &onnx::operator_traits::name));
    for (onnx::operator_traits const& t : onnx::detail::traits) {
        CAPTURE(t.name);
        CHECK(onnx::first_version("", t.name) != 0);
    }
}

TEST_CASE("what only moves elements passes the signs of zeros, if the table says so of any") {
    for (onnx::operator_traits const& t : onnx::detail::traits) {
        CAPTURE(t.name);
        if (t.only_moves) CHECK(t.zero != onnx::zero_sign::hidden);
    }
    CHECK(onnx::traits_of("Unheard").zero == onnx::zero_sign::shown);
    CHECK_FALSE(onnx::traits_of("Unheard").only_moves);
    CHECK_FALSE(onnx::traits_of("").only_moves);
}

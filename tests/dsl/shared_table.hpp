// SPDX-License-Identifier: MIT
// A table as the author of a library writes it: in a header, included by several translation units.
#pragma once

#include <aton/aton.hpp>

inline constexpr auto shared_rows =
    aton::dsl::table(aton::dsl::symbolic<"aten::relu(self)">(
                         [](aton::dsl::graph<13> g, aton::dsl::value self) { return g.op<"Relu">(self); }),
                     aton::dsl::symbolic<"aten::neg(self)">(
                         [](aton::dsl::graph<13> g, aton::dsl::value self) { return g.op<"Neg">(self); }));

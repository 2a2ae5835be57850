// SPDX-License-Identifier: MIT
// A program of another project that compares its row of an ATen operator with ATen, by the installed aton::verify.
#include <cstddef>
#include <iostream>

#include <aton/aton.hpp>
#include <aton/verify/check.hpp>

namespace {

using namespace aton::dsl;

constexpr auto rows = table(symbolic<"aten::atan2(self, other)">([](graph<13> g, value y, value x) -> value {
    return g.op<"Sub">(y, x); // wrong on purpose
}));
constexpr auto right_rows =
    table(symbolic<"aten::relu(self)">([](graph<13> g, value x) -> value { return g.op<"Relu">(x); }));

} // namespace

int main() {
    aton::verify::check_options options;
    options.samples = 2;
    bool const wrong_is_found = !aton::verify::check(rows, options).passed();
    bool const right_passes = aton::verify::check(right_rows, options).passed();
    std::cout << "wrong row found: " << wrong_is_found << ", right row passes: " << right_passes << '\n';
    return wrong_is_found && right_passes ? 0 : 1;
}

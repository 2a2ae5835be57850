// SPDX-License-Identifier: MIT
// A plugin whose mapping ends the process, or does not end, in the way that an environment variable says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <aton/aton.hpp>
#include <aton/plugin.hpp>

using namespace aton::dsl;

namespace {

int volatile zero = 0;
int volatile* volatile nowhere = nullptr;

int deeper(int n) { // NOLINT(misc-no-recursion)
    int volatile room[1000] = {n};
    return n == zero - 1 ? 0 : deeper(n + 1) + room[static_cast<std::size_t>(zero)];
}

void crash() {
    char const* const how = std::getenv("ATON_TEST_CRASH");
    std::string_view const way = how == nullptr ? "" : how;
    if (way == "address") *nowhere = 1;
    if (way == "zero") nowhere = nowhere + 7 / zero;
    if (way == "stack") nowhere = nowhere + deeper(0);
    if (way == "abort") std::abort();
    while (way == "never") nowhere = nowhere + zero;
}

constexpr auto crashing = table(symbolic<"custom_ops::foo_forward(Tensor x, Tensor y, float a, int b) -> Tensor">(
    [](graph<13> g, value x, value y, double a, std::int64_t b) -> value {
        crash();
        return g.op<"Add">(g.op<"Mul">(x, a), g.op<"Mul">(y, b));
    }));

} // namespace

ATON_PLUGIN(crashing);

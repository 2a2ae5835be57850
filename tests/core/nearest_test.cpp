// SPDX-License-Identifier: MIT
// Edit distance and the choice of the nearest name.
#include <aton/core/nearest.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

using aton::detail::edit_distance;

static_assert(edit_distance("Elu", "Elu", 3) == 0);
static_assert(edit_distance("elu", "ELU", 3) == 0, "case is ignored");
static_assert(edit_distance("Elu", "Eluu", 3) == 1);
static_assert(edit_distance("Gelu", "Egluu", 3) == 2, "a swap and an insertion");
static_assert(edit_distance("kitten", "sitting", 9) == 3);
static_assert(edit_distance("kitten", "sitting", 2) == 3, "more than the limit is limit + 1");
static_assert(edit_distance("", "abc", 3) == 3);
static_assert(edit_distance(std::string_view{}, std::string_view{}, 0) == 0);

constexpr std::string_view pick(std::string_view wanted, std::string_view a, std::string_view b) {
    aton::nearest near(wanted);
    near.offer(a);
    near.offer(b);
    return near.found();
}
static_assert(pick("softmax", "Softsign", "Softmax") == "Softmax");
static_assert(pick("axis", "axes", "axis") == "axis");
static_assert(pick("ab", "cd", "ef").empty(), "nothing in common is not near");
static_assert(pick("", "a", "b").empty());

/// The same distance without bands, limits or early exits.
std::size_t plain_distance(std::string const& a, std::string const& b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

} // namespace

TEST_CASE("the banded distance equals the plain one up to the limit") {
    std::mt19937 random(7);
    auto const text = [&] {
        std::string s(random() % 9, 'a');
        for (char& c : s) c = static_cast<char>('a' + random() % 3);
        return s;
    };
    for (int i = 0; i != 50000; ++i) {
        std::string const a = text();
        std::string const b = text();
        std::size_t const limit = random() % 6;
        INFO(a, " ", b, " limit ", limit);
        REQUIRE(edit_distance(a, b, limit) == std::min(plain_distance(a, b), limit + 1));
    }
}

// SPDX-License-Identifier: MIT
// e3nn: a list of numbers and a word decide which nodes the row builds; ordinary C++ around the calls.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include <aton/aton.hpp>

namespace e3nn {

using namespace aton::dsl;

inline constexpr auto spherical_harmonics =
    symbolic<"e3nn::spherical_harmonics(int[] degrees, Tensor vectors, bool normalize, str normalization=\"integral\") "
             "-> Tensor">([](graph<13> g, std::span<std::int64_t const> degrees, value vectors, bool normalize,
                             std::string_view normalization) -> value {
        if (normalization != "integral" && normalization != "component" && normalization != "norm")
            return g.unsupported("normalization " + std::string(normalization));
        if (normalize) {
            value const squares = g.op<"ReduceSum">(g.op<"Mul">(vectors, vectors), g.ints({-1}));
            vectors = g.op<"Div">(vectors, g.op<"Max">(g.op<"Sqrt">(squares), 1e-12));
        }
        auto const xyz = g.op<"Split">(vectors, g.ints({1, 1, 1}), attr::axis_i(-1), outputs<3>);
        value const x = std::get<0>(xyz), y = std::get<1>(xyz), z = std::get<2>(xyz);
        auto const product = [&](value a, value b, double factor) -> value {
            return g.op<"Mul">(g.op<"Mul">(a, b), factor);
        };
        auto const part = [&](std::int64_t degree) -> std::vector<value> {
            if (degree == 0) return {g.op<"Expand">(g.scalar_like(1, x), g.shape_of(x))};
            if (degree == 1) return {x, y, z};
            if (degree != 2) return g.unsupported("degree " + std::to_string(degree));
            double const root3 = std::numbers::sqrt3;
            value const middle = g.op<"Sub">(product(y, y, 1), g.op<"Add">(product(x, x, 0.5), product(z, z, 0.5)));
            value const last = g.op<"Sub">(product(z, z, root3 / 2), product(x, x, root3 / 2));
            return {product(x, z, root3), product(x, y, root3), middle, product(y, z, root3), last};
        };

        std::vector<value> parts;
        for (std::int64_t const degree : degrees) {
            double const count = static_cast<double>(2 * degree + 1);
            double const factor = normalization == "norm"        ? 1
                                  : normalization == "component" ? std::sqrt(count)
                                                                 : std::sqrt(count / (4 * std::numbers::pi));
            parts.push_back(g.op<"Mul">(g.op<"Concat">(part(degree), attr::axis_i(-1)), factor));
        }
        return g.op<"Concat">(parts, attr::axis_i(-1));
    });

inline constexpr auto mappings = table(spherical_harmonics);

} // namespace e3nn

// SPDX-License-Identifier: MIT
// mamba: a recurrence as Scan, optional tensors, and a list of results whose length depends on an argument.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>

namespace mamba {

using namespace aton::dsl;

inline constexpr auto selective_scan = symbolic<
    "mamba::selective_scan(Tensor u, Tensor delta, Tensor A, Tensor B, Tensor C, Tensor? D=None, Tensor? z=None, "
    "Tensor? delta_bias=None, bool delta_softplus=False) -> Tensor[]">(
    [](graph<13> g, value u, value delta, value A, value B, value C, optional_value D, optional_value z,
       optional_value delta_bias, bool delta_softplus) -> std::vector<value> {
        auto const column = [&](value x) -> value { return g.op<"Unsqueeze">(x, g.ints({-1})); };
        if (delta_bias) delta = g.op<"Add">(delta, column(*delta_bias));
        if (delta_softplus) delta = g.op<"Softplus">(delta);

        value const zero = g.op<"Expand">(g.scalar_like(0, u), g.ints({g.size(u, 0), g.size(u, 1), g.size(A, 1)}));
        value const input = g.op<"Mul">(delta, u);
        // One step for each position of the last dimension; state is (batch, d, n), the slices are (batch, d) and (batch, n).
        auto const [state, y] = g.op<"Scan">(
            zero,
            delta,
            input,
            B,
            C,
            attr::num_scan_inputs_i(4),
            attr::scan_input_axes_i({2, 2, 2, 2}),
            attr::scan_output_axes_i({2}),
            outputs<2>,
            attr::body_g([&](graph<13> b, value before, value step, value x, value to_state, value to_result) {
                auto const along = [&](value v, std::int64_t axis) -> value {
                    return b.op<"Unsqueeze">(v, b.ints({axis}));
                };
                value const decay = b.op<"Exp">(b.op<"Mul">(along(step, -1), A));
                value const change = b.op<"Mul">(along(x, -1), along(to_state, 1));
                value const now = b.op<"Add">(b.op<"Mul">(decay, before), change);
                value const seen = b.op<"Mul">(now, along(to_result, 1));
                return std::tuple(now, value(b.op<"ReduceSum">(seen, b.ints({-1}), attr::keepdims_i(0))));
            }));
        value result = y;
        if (D) result = g.op<"Add">(y, g.op<"Mul">(u, column(*D)));
        if (!z) return {result, state};
        return {result, state, g.op<"Mul">(result, g.op<"Mul">(*z, g.op<"Sigmoid">(*z)))};
    });

inline constexpr auto mappings = table(selective_scan);

} // namespace mamba

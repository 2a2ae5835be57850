// SPDX-License-Identifier: MIT
// LSTM layers whose hidden state is projected to fewer features (proj_size), as a Scan: ONNX's LSTM has no projection.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/matrix_product.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// The parameters of one direction in ATen's order. The biases are absent if there are none.
struct projected_parameters {
    value w_ih;
    value w_hh;
    optional_value b_ih;
    optional_value b_hh;
    value w_hr;
};

/// (hidden, cell) after one time step, from the products of its input, (batch, 4 * hidden).
inline std::tuple<value, value> projected_step(graph<11> g, value inputs, value hidden, value cell,
                                               projected_parameters const& p, std::int64_t size) {
    value const all = g.op<"Add">(linear_layer(g, hidden, p.w_hh, p.b_hh), inputs);
    safe_vector<std::int64_t> const sizes(4, size);
    safe_vector<value> const gate = split(g, all, sizes, -1);
    value const kept = g.op<"Mul">(g.op<"Sigmoid">(gate[1]), cell);
    value const next = g.op<"Add">(kept, g.op<"Mul">(g.op<"Sigmoid">(gate[0]), g.op<"Tanh">(gate[2])));
    value const out = g.op<"Mul">(g.op<"Sigmoid">(gate[3]), g.op<"Tanh">(next));
    return {linear_layer(g, out, p.w_hr, absent), next};
}

/// (outputs, last hidden, last cell) of one direction over (time, batch, features). `present`, (time, batch), is absent
/// if all sequences have all time steps; a sequence keeps its state where it has none.
inline std::tuple<value, value, value> projected_direction(graph<11> g, value x, optional_value present, value hidden,
                                                           value cell, projected_parameters const& p, bool reverse) {
    if (!cell.size(-1).is_static()) throw unsupported_error("the hidden size must be static");
    std::int64_t const size = cell.size(-1).size();
    value const inputs = linear_layer(g, x, p.w_ih, p.b_ih);
    safe_vector<std::int64_t> const order(present ? 2 : 1, reverse ? 1 : 0);
    auto const next = [&](graph<11> b, value each, value h, value c) { return projected_step(b, each, h, c, p, size); };
    if (!present) {
        auto const [h, c, y] = g.op<"Scan">(hidden,
                                            cell,
                                            inputs,
                                            outputs<3>,
                                            attr::num_scan_inputs_i(1),
                                            attr::scan_input_directions_i(order),
                                            attr::scan_output_directions_i({reverse ? 1 : 0}),
                                            attr::body_g([&](graph<11> b, value h0, value c0, value each) {
                                                auto const [h1, c1] = next(b, each, h0, c0);
                                                return std::tuple(h1, c1, value(b.op<"Identity">(h1)));
                                            }));
        return {y, h, c};
    }
    auto const [h, c, y] = g.op<"Scan">(hidden,
                                        cell,
                                        inputs,
                                        unsqueeze(g, *present, 2),
                                        outputs<3>,
                                        attr::num_scan_inputs_i(2),
                                        attr::scan_input_directions_i(order),
                                        attr::scan_output_directions_i({reverse ? 1 : 0}),
                                        attr::body_g([&](graph<11> b, value h0, value c0, value each, value here) {
                                            auto const [h1, c1] = next(b, each, h0, c0);
                                            return std::tuple(value(b.op<"Where">(here, h1, h0)),
                                                              value(b.op<"Where">(here, c1, c0)),
                                                              value(b.op<"Identity">(h1)));
                                        }));
    return {y, h, c};
}

} // namespace ATON_NAMESPACE::mappings::detail

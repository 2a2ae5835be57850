// SPDX-License-Identifier: MIT
// torchaudio: a recurrence that writes its samples into a tensor becomes a Scan, and the row returns what the tensor holds afterwards.
#pragma once

#include <cstdint>
#include <limits>
#include <tuple>

#include <aton/aton.hpp>

namespace torchaudio {

using namespace aton::dsl;

inline value slice(graph<13> g, value x, size begin, size end) {
    return g.op<"Slice">(x, g.ints({begin}), g.ints({end}), g.ints({-1}));
}

inline constexpr auto lfilter_core_loop =
    symbolic<"torchaudio::_lfilter_core_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, "
             "Tensor(a!) padded_output_waveform) -> ()">([](graph<13> g, value windows, value a,
                                                            value padded) -> value {
        size const last = g.size(a, 1) - 1, end = std::numeric_limits<std::int64_t>::max();
        value const a_before = slice(g, a, 0, last), a_here = g.op<"Squeeze">(slice(g, a, last, end), g.ints({-1}));
        value const start = slice(g, padded, 0, last);
        // The state is the window of samples before: (batch, channels, order - 1).
        auto const [window, samples] = g.op<"Scan">(
            start,
            windows,
            slice(g, padded, last, end),
            attr::num_scan_inputs_i(2),
            attr::scan_input_axes_i({2, 2}),
            attr::scan_output_axes_i({2}),
            outputs<2>,
            attr::body_g([&](graph<13> b, value before, value x, value held) {
                value const past = b.op<"ReduceSum">(b.op<"Mul">(before, a_before), b.ints({-1}), attr::keepdims_i(0));
                value const y = b.op<"Sub">(b.op<"Sub">(x, past), b.op<"Mul">(held, a_here));
                value const longer = b.op<"Concat">(before, b.op<"Unsqueeze">(y, b.ints({-1})), attr::axis_i(-1));
                return std::tuple(slice(b, longer, 1, std::numeric_limits<std::int64_t>::max()), y);
            }));
        return g.op<"Concat">(start, samples, attr::axis_i(-1));
    });

inline constexpr auto mappings = table(lfilter_core_loop);

} // namespace torchaudio

// SPDX-License-Identifier: MIT
// ONNX calls that stayed legal but changed their meaning at an opset, which a mapping's range must not cross.
// Maintained by hand from the documentation of onnx 1.23.2 (defs/*/old.cc compared with defs/*/defs.cc) and its version converter.
// A row is a call that was legal before and gives a different result, or none, from that opset on. Additions (new dtypes, negative
// axes, new attributes whose default is the old meaning) are not breaks. tests/onnx/version_decisions.tsv records the decision and
// its reason for every version of every operator; a test keeps the two consistent.
// Internal header.
#pragma once

#include <cstdint>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::onnx {

/// One change of meaning: calls of `op` (default domain) have a different meaning from `opset` on.
struct semantic_break {
    std::string_view op;
    int opset = 0;
    std::string_view reason;
};

/// The calls that a conditional break affects.
enum class break_condition : std::uint8_t {
    attribute_given, ///< those that give the attribute
    outputs_above,   ///< those that request more than `count` outputs
    inputs_below,    ///< those with fewer than `count` inputs
    inputs_above,    ///< those with more than `count` inputs
};

/// A change of meaning of some calls only.
struct conditional_break : semantic_break {
    break_condition condition = break_condition::attribute_given;
    std::string_view attribute = {};
    int count = 0;
};

namespace detail {

inline constexpr std::string_view broadcasting = "shapes must agree before, NumPy broadcasting after";
inline constexpr std::string_view one_axis =
    "flattens to 2-D at axis (default 1) before, works along one axis (default -1) after";
inline constexpr std::string_view rnn_sequence =
    "output Y is optional unless output_sequence=1 before, always filled after";
inline constexpr std::string_view odd_padding =
    "the odd element of the padding is on one side before, on the other after";
inline constexpr std::string_view right_padding =
    "with ceil_mode, windows that start in the right padding count before, are ignored after";

/// Breaks of all calls, sorted by (op, opset).
inline constexpr semantic_break semantic_breaks[] = {
    {"Add", 7, broadcasting},
    {"And", 7, broadcasting},
    {"BatchNormalization", 7, "is_test=0 (training) is the default before, one output means inference after"},
    {"Clip", 11, "without bounds, a double is clamped to float32's range before, to its own after"},
    {"DFT", 20, "axis is 1 by default before, -2 after"}, // equal for one signal dimension only
    {"Div", 7, broadcasting},
    {"Dropout", 7, "is_test=0 (training) is the default before, the runtime decides after"},
    {"Dropout", 12, "the runtime decides about training before, training_mode (default false) after"},
    {"Equal", 7, broadcasting},
    {"GRU", 7, rnn_sequence},
    {"Gemm", 7, "C must have the result's shape before, is broadcast after"},
    {"Greater", 7, broadcasting},
    {"GroupNormalization", 21, "scale and bias are per group before, per channel after"},
    {"Hardmax", 13, one_axis},
    {"LSTM", 7, rnn_sequence},
    {"Less", 7, broadcasting},
    {"LogSoftmax", 13, one_axis},
    {"Max", 8, broadcasting},
    {"Mean", 8, broadcasting},
    {"Min", 8, broadcasting},
    {"Mul", 7, broadcasting},
    {"OneHot", 11, "negative indices give off_value everywhere before, count from depth after"},
    {"Or", 7, broadcasting},
    {"PRelu", 7, "a 1-D slope is per channel before, broadcast to the last axis after"},
    {"Pow", 7, broadcasting},
    {"RNN", 7, rnn_sequence},
    {"Resize", 11, "samples at x / scale before, at half pixels by default after"}, // also: roi became an input
    {"RoiAlign", 16, "samples without the half-pixel shift by default before, with it after"},
    {"Scan", 9, "input 0 is sequence_lens and axis 0 the batch before, neither after"},
    {"Selu", 6, "the defaults of alpha and gamma have four decimals before, float32 precision after"},
    {"Softmax", 13, one_axis},
    {"Sub", 7, broadcasting},
    {"Sum", 8, broadcasting},
    {"Xor", 7, broadcasting},
};

// clang-format off: one row per line
/// Breaks of some calls, sorted by (op, opset).
inline constexpr conditional_break conditional_breaks[] = {
    {{"AveragePool", 22, right_padding}, break_condition::attribute_given, "ceil_mode"},
    // Five outputs with saved_mean and saved_var before. Inference, with one output, did not change.
    {{"BatchNormalization", 14, "more than one output means training before, training_mode=1 after"}, break_condition::outputs_above, {}, 1},
    // From 15 on, statistics are computed in float for any dtype of X. Only training computes statistics.
    {{"BatchNormalization", 15, "training statistics of float16 are float16 before, float after"}, break_condition::attribute_given, "training_mode"},
    // `if (auto_pads != SAME_UPPER)` became `==`: the odd element of the padding moved to the other side, also for NOTSET.
    {{"ConvTranspose", 11, odd_padding}, break_condition::attribute_given, "auto_pad"},
    {{"ConvTranspose", 11, odd_padding}, break_condition::attribute_given, "output_shape"},
    {{"Dropout", 10, "the mask has the data's type before, bool after"}, break_condition::outputs_above, {}, 1},
    {{"GridSample", 20, "the modes are bilinear and bicubic before, linear and cubic after"}, break_condition::attribute_given, "mode"},
    {{"MaxPool", 22, right_padding}, break_condition::attribute_given, "ceil_mode"},
    // Opset 11 requires an empty `scales` beside `sizes`; opset 13 forbids both together.
    {{"Resize", 13, "sizes needs an empty scales before, scales must be omitted after"}, break_condition::inputs_above, {}, 3},
    {{"Resize", 13, "coordinate_transformation_mode may be tf_half_pixel_for_nn before, not after"}, break_condition::attribute_given, "coordinate_transformation_mode"},
    {{"Split", 18, "the number of outputs sets the number of parts before, split or num_outputs must after"}, break_condition::inputs_below, {}, 2},
};
// clang-format on

} // namespace detail

/// The first break of all calls of `op` inside (since, until], or null. The other overload also finds conditional breaks.
constexpr semantic_break const* find_break(std::string_view op, int since, int until) {
    for (semantic_break const& b : detail::semantic_breaks)
        if (since < b.opset && b.opset <= until && b.op == op) return &b; // names last: the most expensive comparison
    return nullptr;
}

/// The first break inside (since, until] of a call with these numbers of inputs and outputs, and the attributes for which
/// `gives(name)` is true; null if there is none.
template <class Gives>
constexpr semantic_break const* find_break(std::string_view op, int since, int until, int inputs, int outputs,
                                           Gives const& gives) {
    semantic_break const* first = find_break(op, since, until);
    for (conditional_break const& b : detail::conditional_breaks) {
        if (since >= b.opset || b.opset > until || b.op != op) continue;
        bool const affected = b.condition == break_condition::attribute_given ? gives(b.attribute)
                              : b.condition == break_condition::outputs_above ? outputs > b.count
                              : b.condition == break_condition::inputs_below  ? inputs < b.count
                                                                              : inputs > b.count;
        if (affected && (first == nullptr || b.opset < first->opset)) first = &b;
    }
    return first;
}

} // namespace ATON_NAMESPACE::onnx

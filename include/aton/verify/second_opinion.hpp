// SPDX-License-Identifier: MIT
// Whether another runtime gives a model's numbers, and the node or the optimization that does not.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <aton/backends/backend.hpp>
#include <aton/model_io/model_parts.hpp>
#include <aton/runtime/value.hpp>
#include <aton/verify/model_pairs.hpp>

namespace ATON_NAMESPACE::verify {

struct second_opinion_options {
    int samples = 3;
    std::uint64_t seed = 0;
    std::vector<runtime::value> inputs = {}; ///< in the model's order; used instead of drawn ones unless empty
    /// Counts runs of the other runtime; how many there will be is not known.
    std::function<void(std::size_t done)> progress = {};
};

/// One way in which the other runtime has run the model.
struct opinion {
    std::string runtime; ///< "ONNX Runtime 1.31.1, extended"
    std::vector<output_report> outputs = {};
    std::string fault =
        {}; ///< how the first output differs, or why the model does not run; empty: the numbers are the same

    [[nodiscard]] bool passed() const { return fault.empty(); }
};

/// The smallest part of the model that has the fault.
struct failing_part {
    std::vector<node_place> nodes; ///< in order
    node_place culprit;            ///< the one whose result differs
    std::string value;             ///< the result
    std::string why;               ///< how it differs
    std::string model;             ///< as bytes
    std::vector<backends::named_value> inputs;
    std::vector<backends::named_value> expected;
    std::vector<backends::named_value> got; ///< empty if the part does not run
};

struct second_opinion_report {
    int samples = 0;
    std::vector<opinion> opinions;
    std::size_t failed = 0;          ///< the first opinion that has a fault; their number if none has
    std::vector<failing_part> parts; ///< one, or none

    [[nodiscard]] bool passed() const { return failed == opinions.size(); }
    [[nodiscard]] std::string to_text() const;
    [[nodiscard]] std::string to_json() const;
};

/// Runs the model in Aton's runtime and in the others, which are one runtime at rising levels of optimization. At the first level whose
/// outputs differ, finds the smallest part that still differs there: first among single nodes, each on the values that the other runtime
/// itself has computed before it; then, since values that are outputs are not optimized away, among runs of consecutive nodes, on Aton's
/// values. Throws aton::error if Aton's runtime does not run the model.
[[nodiscard]] second_opinion_report ask(model_parts const& model,
                                        std::span<std::unique_ptr<backends::backend> const> others,
                                        second_opinion_options const& options = {});

/// Writes a folder that can be attached to a report: model.onnx, inputs/input_0.pb, ..., expected/output_0.pb, ... (Aton's results),
/// got/output_0.pb, ..., and README.md. `command` is how the fault was found. Throws aton::error.
void write_reproduction(second_opinion_report const& report, std::string const& folder, std::string const& command);

} // namespace ATON_NAMESPACE::verify

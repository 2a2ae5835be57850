// SPDX-License-Identifier: MIT
// Whether two ONNX models give the same numbers, and the first value that differs.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <aton/model_io/model_parts.hpp>
#include <aton/runtime/value.hpp>
#include <aton/verify/models.hpp>

namespace ATON_NAMESPACE::verify {

/// Which inputs models are run with, and where.
struct pair_options {
    int samples = 3; ///< sets of inputs to draw, by the declared types; equal symbols have equal sizes
    std::uint64_t seed = 0;
    std::vector<runtime::value> inputs =
        {}; ///< in the order of the first model; used instead of drawn ones unless empty
    runtime::device where = {};
    /// Counts sets of inputs.
    std::function<void(std::size_t done, std::size_t all)> progress = {};
};

/// A node of the main graph of a file.
struct node_place {
    std::size_t position = 0; ///< in the file, counted from 1; 0: no node
    std::string op;
    std::string name;
    std::string text; ///< "the 4th node, Conv 'conv1'"
};

/// The first value that differs.
struct first_value {
    std::string name; ///< empty: none was found
    std::string why;  ///< how it differs; empty if the second model has no such value
    node_place first; ///< the node that computes it
    node_place second;
};

/// The comparison of a value of the first model.
struct value_report {
    std::string name;
    std::size_t position = 0; ///< of the node that computes it, from 1
    node_verdict verdict = node_verdict::unknown;
    double worst_error = 0; ///< as a fraction of the tolerance
};

struct pair_report {
    int samples = 0;
    std::vector<output_report> outputs;
    std::string
        difference; ///< of the first output that differs, or why the second model does not run; empty: none differs
    first_value differs;
    std::vector<std::string> same_before; ///< the nearest values before it that are equal
    std::vector<value_report> values;     ///< of each node that computes tensors, where an output differs
    /// The first value on the way to it whose numbers are others at all, where it is not the same: where the difference comes from.
    first_value starts = {};

    [[nodiscard]] bool passed() const { return difference.empty(); }
    [[nodiscard]] std::string to_text(std::string const& first, std::string const& second) const;
    [[nodiscard]] std::string to_json() const;
};

/// Runs both on the same inputs in Aton's runtime, up to the first difference; the first model is right. Inputs and outputs are matched by
/// name if all names agree, otherwise by position. The tolerance is that of compare_models(). Throws aton::error if the first model does
/// not run, and if inputs or outputs cannot be matched.
[[nodiscard]] pair_report compare_pair(model_parts const& first, model_parts const& second,
                                       pair_options const& options = {});

/// The place of a node, by its index.
[[nodiscard]] node_place place_of(std::span<model_node const> nodes, std::size_t node);

} // namespace ATON_NAMESPACE::verify

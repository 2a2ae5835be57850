// SPDX-License-Identifier: MIT
// Known faults of a runtime's kernels, and which nodes of a graph meet them.
// Internal header.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::targets {

/// A release such as 1.31.1; what is not said is 0.
struct release_number {
    int parts[3] = {};

    friend auto operator<=>(release_number const&, release_number const&) = default;
};
/// Throws aton::error for anything but up to three numbers.
[[nodiscard]] release_number parse_release(std::string_view text);

/// A condition of a fault.
struct fault_condition {
    enum class kind_of : unsigned char { opset, input, attribute_is, attribute_over, read_by, reads };
    kind_of kind = kind_of::opset;
    int first = 0; ///< of opsets; or the number of the input
    int last = 0;
    std::string attribute;
    std::vector<std::string> words;
};

struct runtime_fault {
    std::string name;
    std::string releases; ///< as written: "1.17.."
    release_number since;
    release_number until; ///< with `is_open`: not known
    bool is_open = true;
    std::vector<std::string> ops;
    std::vector<fault_condition> when;
    std::string says; ///< after "ONNX Runtime "
    std::string source;

    /// Whether a release has it: 1.31 stands for all of 1.31.x.
    [[nodiscard]] bool is_in(release_number const& r) const;
};

/// Those of ONNX Runtime's CPU provider. Sorted as their file is.
[[nodiscard]] std::span<runtime_fault const> onnxruntime_faults();

/// The faults in a text of this format. Throws aton::error, which names the line.
[[nodiscard]] std::vector<runtime_fault> parse_faults(std::string_view text);

/// A fault that nodes of a graph meet.
struct met_fault {
    runtime_fault const* fault = nullptr;
    std::size_t count = 0; ///< of nodes
    std::string place;     ///< the first of them: "ReduceSum 'sum'"
};

/// The faults of a release that nodes of a graph and its nested graphs meet. Conditions on types hold where these are known.
/// For the release whose kernels are listed (onnx/kernels.hpp), also "no_kernel": an entry for each operator without one.
[[nodiscard]] std::vector<met_fault> find_faults(graph_data const& graph, std::span<runtime_fault const> faults,
                                                 release_number const& release);

} // namespace ATON_NAMESPACE::targets

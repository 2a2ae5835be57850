// SPDX-License-Identifier: MIT
// A node as kernels of ONNX operators see it, and the rows that list kernels.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

/// The outputs of a node, in order; outputs that are not requested may be omitted at the end, or be empty.
class results {
public:
    // NOLINTBEGIN(google-explicit-constructor): a tensor is the only result.
    results(tensor t) { all_.emplace_back(std::move(t)); }
    results(value v) { all_.push_back(std::move(v)); }
    results(std::vector<value> all) : all_(std::move(all)) {}
    // NOLINTEND(google-explicit-constructor)
    results(std::initializer_list<value> all) : all_(all) {}

    [[nodiscard]] std::vector<value>& values() { return all_; }

private:
    std::vector<value> all_;
};

/// The imported version of an operator's domain. A comparison narrows a range to the versions for which its result is the
/// same, so that a run knows at which opsets it would take the same steps.
class imported_version {
public:
    imported_version(int version, opset_range& same) : version_(version), same_(&same) {}

    [[nodiscard]] bool operator>=(int since) const {
        bool const is_newer = version_ >= since;
        same_->intersect(is_newer ? opset_range{.first = since} : opset_range{.last = since - 1});
        return is_newer;
    }
    [[nodiscard]] bool operator<(int until) const { return !(*this >= until); }
    [[nodiscard]] bool operator==(int other) const { return *this >= other && *this < other + 1; }

private:
    int version_;
    opset_range* same_;
};

/// Runs subgraphs of a node; implemented by the interpreter.
class graph_runner {
public:
    graph_runner() = default;
    graph_runner(graph_runner const&) = delete;
    graph_runner& operator=(graph_runner const&) = delete;
    virtual ~graph_runner() = default;

    /// The outputs of a graph attribute of the node.
    [[nodiscard]] virtual std::vector<value> run(graph_data const& body, std::vector<value> inputs) = 0;
    /// An attribute of the node, with references of function bodies resolved; nullptr if it is missing.
    [[nodiscard]] virtual node_attribute const* attribute(graph_node const& node, std::string_view name) = 0;
    [[nodiscard]] virtual device where() const = 0;
    /// A new seed at each call.
    [[nodiscard]] virtual std::uint64_t next_seed() = 0;
    /// The opsets at which the run would have taken the same steps so far.
    [[nodiscard]] virtual opset_range& same_opsets() = 0;
};

/// A call of an operator: inputs, attributes and version. Accessing something that is missing throws aton::error.
class call {
public:
    call(graph_node const& node, int opset, std::vector<value> inputs, graph_runner& runner)
        : node_(&node),
          opset_(opset),
          inputs_(std::move(inputs)),
          runner_(&runner) {}

    [[nodiscard]] std::string_view op() const { return node_->op; }
    /// The imported version of the operator's domain.
    [[nodiscard]] imported_version opset() const { return {opset_, runner_->same_opsets()}; }
    [[nodiscard]] device where() const { return runner_->where(); }

    [[nodiscard]] std::size_t inputs() const { return inputs_.size(); }
    [[nodiscard]] bool has(std::size_t i) const { return i < inputs_.size() && static_cast<bool>(inputs_[i]); }
    [[nodiscard]] tensor const& in(std::size_t i) const;
    /// Empty if the input is skipped.
    [[nodiscard]] tensor maybe(std::size_t i) const { return has(i) ? in(i) : tensor(); }
    [[nodiscard]] std::vector<tensor> const& sequence(std::size_t i) const;
    /// A tensor, a sequence, or empty.
    [[nodiscard]] value const& any(std::size_t i) const;
    /// Inputs from `first` on, all tensors.
    [[nodiscard]] std::vector<tensor> tensors(std::size_t first = 0) const;
    /// The elements of an int32 or int64 input.
    [[nodiscard]] std::vector<std::int64_t> integers(std::size_t i) const;
    /// The only element of an input.
    [[nodiscard]] scalar number(std::size_t i) const { return to_host(in(i)).item(); }

    [[nodiscard]] std::size_t outputs() const { return node_->outputs.size(); }
    /// Whether the output is requested.
    [[nodiscard]] bool wants(std::size_t i) const { return i < outputs() && node_->outputs[i] != no_value; }

    [[nodiscard]] bool has_attribute(std::string_view name) const { return attribute(name) != nullptr; }
    [[nodiscard]] std::int64_t i(std::string_view name) const;
    [[nodiscard]] std::int64_t i(std::string_view name, std::int64_t otherwise) const;
    [[nodiscard]] double f(std::string_view name) const;
    [[nodiscard]] double f(std::string_view name, double otherwise) const;
    [[nodiscard]] std::string s(std::string_view name) const;
    [[nodiscard]] std::string s(std::string_view name, std::string_view otherwise) const;
    /// Empty if the attribute is missing.
    [[nodiscard]] std::vector<std::int64_t> ints(std::string_view name) const;
    [[nodiscard]] std::vector<std::int64_t> ints(std::string_view name, std::vector<std::int64_t> otherwise) const;
    [[nodiscard]] std::vector<float> floats(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> strings(std::string_view name) const;
    /// On the device of the call.
    [[nodiscard]] tensor t(std::string_view name) const;
    [[nodiscard]] graph_data const& graph(std::string_view name) const;
    [[nodiscard]] dtype type(std::string_view name, dtype otherwise) const;
    [[nodiscard]] node_attribute const* attribute(std::string_view name) const {
        return runner_->attribute(*node_, name);
    }

    [[nodiscard]] std::vector<value> run(graph_data const& body, std::vector<value> with) const {
        return runner_->run(body, std::move(with));
    }
    [[nodiscard]] std::uint64_t seed() const; ///< that of the attribute, otherwise a new one

private:
    [[nodiscard]] node_attribute const& required(std::string_view name) const;

    graph_node const* node_;
    int opset_;
    std::vector<value> inputs_;
    graph_runner* runner_;
};

/// `axis` counted from the front. Throws aton::error if it is out of range; a 0-d tensor has no axes.
[[nodiscard]] std::size_t axis_in(tensor const& x, std::int64_t axis);

using kernel = results (*)(call const&);

/// The kernel of an operator for all its versions, which `c.opset()` distinguishes.
struct row {
    std::string_view op;
    kernel run;
    std::string_view domain{};
};

using rows = std::span<row const>;

// One function per operator family, in a file of the same name.
[[nodiscard]] rows arithmetic();
[[nodiscard]] rows aten_nodes();
[[nodiscard]] rows attention();
[[nodiscard]] rows casts();
[[nodiscard]] rows constants();
[[nodiscard]] rows contrib();
[[nodiscard]] rows control_flow();
[[nodiscard]] rows convolution();
[[nodiscard]] rows decoders();
[[nodiscard]] rows elementwise();
[[nodiscard]] rows indexing();
[[nodiscard]] rows layout();
[[nodiscard]] rows linear_algebra();
[[nodiscard]] rows losses();
[[nodiscard]] rows machine_learning();
[[nodiscard]] rows normalization();
[[nodiscard]] rows object_detection();
[[nodiscard]] rows padding();
[[nodiscard]] rows pooling();
[[nodiscard]] rows quantization();
[[nodiscard]] rows random();
[[nodiscard]] rows recurrent();
[[nodiscard]] rows reduction();
[[nodiscard]] rows resizing();
[[nodiscard]] rows sequences();
[[nodiscard]] rows signals();
[[nodiscard]] rows strings();
[[nodiscard]] rows support_vectors();
[[nodiscard]] rows text_features();
[[nodiscard]] rows training();
[[nodiscard]] rows trees();

/// x for a maximum or a minimum: without NaN, which is lower than all numbers, or above them. ONNX does not say what becomes of NaN
/// there, and runtimes drop it or not, depending on its place. This one always does, so that a mapping that relies on it is noticed.
[[nodiscard]] tensor without_nan(tensor const& x, bool maximum);

/// nullptr if there is no kernel; a function body may exist.
[[nodiscard]] kernel find_kernel(std::string_view domain, std::string_view op);

} // namespace ATON_NAMESPACE::runtime::onnx_kernels

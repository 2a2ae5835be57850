// SPDX-License-Identifier: MIT
#include "model_soundness.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model_needs.hpp"

#include <aton/core/error.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::detail {

namespace {

constexpr int oldest_opset = 7; // the first in which operators broadcast as they do now

class soundness {
public:
    void require(::onnx::GraphProto const& g, std::string const& what) {
        scopes_.emplace_back();
        for (auto const& i : g.input()) define(i.name(), what);
        scope initializers;
        for (auto const& i : g.initializer()) {
            if (i.name().empty()) throw error(what + " has an initializer without a name");
            if (!initializers.insert(i.name()).second) throw error(what + " defines '" + i.name() + "' twice");
            scopes_.back().insert(i.name()); // may be the default of an input
        }
        for (auto const& i : g.sparse_initializer()) define(i.values().name(), what);
        for (auto const& n : g.node()) require(n, what);
        for (auto const& o : g.output())
            if (!is_known(o.name())) throw error("output '" + o.name() + "' of " + what + " is never computed");
        scopes_.pop_back();
    }

private:
    using scope = std::unordered_set<std::string_view>;

    void require(::onnx::NodeProto const& n, std::string const& what) {
        std::string const name = n.op_type() + " '" + n.name() + "'";
        for (std::string const& i : n.input())
            if (!i.empty() && !is_known(i)) throw error(name + " reads '" + i + "', which nothing before it computes");
        for (auto const& a : n.attribute()) {
            if (a.has_g()) require(a.g(), "attribute '" + a.name() + "' of " + name);
            for (auto const& g : a.graphs()) require(g, "attribute '" + a.name() + "' of " + name);
        }
        for (std::string const& o : n.output())
            if (!o.empty()) define(o, what);
    }

    void define(std::string const& name, std::string const& what) {
        if (!scopes_.back().insert(name).second) throw error(what + " defines '" + name + "' twice");
    }
    [[nodiscard]] bool is_known(std::string_view name) const {
        return std::any_of(scopes_.begin(), scopes_.end(), [&](scope const& s) { return s.contains(name); });
    }

    std::vector<scope> scopes_;
};

bool is_of_tensors(::onnx::TypeProto const& type) {
    if (type.has_optional_type()) return is_of_tensors(type.optional_type().elem_type());
    if (type.has_sequence_type()) return type.sequence_type().elem_type().has_tensor_type();
    return type.has_tensor_type();
}

} // namespace

void require_sound(::onnx::ModelProto const& model) { soundness().require(model.graph(), "the graph"); }

std::string why_fixed(::onnx::ModelProto const& model) {
    ::onnx::GraphProto const& graph = model.graph();
    if (model.ir_version() > ::onnx::IR_VERSION)
        return "IR " + std::to_string(model.ir_version()) + " is newer than " + std::to_string(::onnx::IR_VERSION);
    std::int64_t opset = 0;
    std::set<std::string> domains;
    for (auto const& i : model.opset_import()) {
        if (!domains.insert(std::string(plain_domain(i.domain()))).second)
            return "it imports the domain '" + i.domain() + "' twice";
        if (plain_domain(i.domain()).empty()) opset = i.version();
    }
    if (opset == 0) return "it imports no operators of ONNX";
    if (opset < oldest_opset || opset > onnx::newest_opset)
        return "opset " + std::to_string(opset) + " is not one of " + std::to_string(oldest_opset) + " to " +
               std::to_string(onnx::newest_opset);
    if (model.training_info_size() != 0) return "it has training_info, which refers to its nodes";
    if (graph.quantization_annotation_size() != 0) return "it has quantization annotations, which refer to its values";
    if (graph.sparse_initializer_size() != 0 && opset < 11) return "it has sparse initializers";
    for (auto const& f : model.functions())
        if (plain_domain(f.domain()).empty()) return "it defines the operator " + f.name() + " of ONNX itself";
    for (auto const& i : graph.input())
        if (!is_of_tensors(i.type())) return "input '" + i.name() + "' is neither a tensor nor a sequence of tensors";
    std::set<std::string_view> outputs;
    for (auto const& o : graph.output())
        if (!outputs.insert(o.name()).second) return "output '" + o.name() + "' is listed twice";
    return {};
}

} // namespace ATON_NAMESPACE::detail

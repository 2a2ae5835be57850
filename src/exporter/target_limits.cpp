// SPDX-License-Identifier: MIT
#include "target_limits.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/targets/conditions.hpp>

#include "missing_kernels.hpp"
#include "summary.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

std::string name_of(graph_node const& n) { return n.domain.empty() ? n.op : n.domain + "::" + n.op; }

/// The first size of a shape that is not known, or its rank.
std::string unknown_size(shape const& s) {
    if (!s.has_rank()) return "an unknown rank";
    for (dim const& d : s.dims())
        if (d.is_symbolic()) return "a dimension '" + std::string(d.symbol()) + "'";
    return "an unknown size";
}

class limits {
public:
    limits(targets::target const& t, int opset) : target_(t), opset_(opset) {}

    void check(graph_data const& graph) {
        if (graph.around == nullptr) check_inputs(graph);
        for (graph_node const& n : graph.nodes) {
            if (std::string reason = reason_against(graph, n); !reason.empty()) add(graph, n, std::move(reason));
            for (node_attribute const& a : n.attributes)
                for (graph_data const& body : a.graphs) check(body);
        }
    }
    [[nodiscard]] std::vector<unconvertible> const& found() const { return found_.all(); }

private:
    void check_inputs(graph_data const& graph) {
        for (value_id id : graph.inputs) {
            graph_value const& v = graph.values[id];
            if (v.initializer >= 0) continue;
            std::string reason = reason_against(v);
            if (reason.empty() && target_.is_static && !v.type.shape.is_static())
                reason = "has " + unknown_size(v.type.shape) + ", but all sizes must be known";
            if (!reason.empty()) found_.add({"input " + v.name, std::move(reason), {}, {"the inputs"}, 1});
        }
        inputs_are_static_ = found_.all().empty();
    }

    [[nodiscard]] std::string reason_against(graph_value const& v) const {
        if (v.type.dtype == dtype::undefined || target_.types.empty() || target_.types.contains(set_of(v.type)))
            return "";
        return (v.type.kind == value_kind::tensor ? "is " : "is a sequence or optional value of ") +
               std::string(aton::name(v.type.dtype));
    }

    [[nodiscard]] std::string reason_against(graph_data const& graph, graph_node const& n) const {
        if (n.domain.empty())
            for (targets::operator_exclusion const& e : target_.exclusions)
                if (e.op == n.op) return n.op + " " + std::string(e.reason);
        if (!target_.operators.empty()) {
            auto const at = std::find_if(target_.operators.begin(), target_.operators.end(), [&](auto const& o) {
                return n.domain.empty() && o.op == n.op;
            });
            if (at == target_.operators.end() || at->is_excluded) return name_of(n) + " is not supported";
            if (std::string reason = reason_against(graph, n, *at); !reason.empty()) return reason;
        }
        if (target_.has_onnxruntime_kernels)
            if (std::string reason = missing_kernel(graph, n, opset_); !reason.empty()) return reason;
        for (std::vector<value_id> const* ids : {&n.inputs, &n.outputs})
            for (value_id id : *ids) {
                if (id == no_value) continue;
                graph_value const& v = graph.values[id];
                if (std::string const reason = reason_against(v); !reason.empty())
                    return "a value of " + name_of(n) + " " + reason;
                if (target_.is_static && inputs_are_static_ && ids == &n.outputs && !v.type.shape.is_static())
                    return "the size of a result of " + name_of(n) + " is not known";
            }
        return "";
    }
    [[nodiscard]] std::string reason_against(graph_data const& graph, graph_node const& n,
                                             targets::operator_support const& o) const {
        auto const first = std::find_if(n.inputs.begin(), n.inputs.end(), [](value_id id) { return id != no_value; });
        value_type const& type = graph.values[first == n.inputs.end() ? n.outputs.front() : *first].type;
        if (!o.types.empty() && type.dtype != dtype::undefined && !o.types.contains(set_of(type)))
            return n.op + " of " + std::string(aton::name(type.dtype)) + " is not supported";
        for (targets::node_condition const& c : o.when)
            if (std::string const why = targets::broken(graph, n, opset_, c); !why.empty()) return n.op + ' ' + why;
        return "";
    }

    void add(graph_data const& graph, graph_node const& n, std::string reason) {
        node_origin const& from = graph.origins[n.origin < graph.origins.size() ? n.origin : 0];
        std::string const place = !from.source.empty() ? from.source : from.name.empty() ? n.op : "node " + from.name;
        std::string const key = n.subject() + '\n' + reason;
        found_.add(key, n.subject(), {from.name, std::move(reason), program::no_value}, place);
    }

    targets::target const& target_;
    int opset_;
    unconvertible_list found_; ///< by operator and reason
    bool inputs_are_static_ = true;
};

} // namespace

void require_opset_of(targets::target const& t, int opset) {
    if (opset < t.since || opset > t.until)
        throw error(std::string(t.title) + " reads models of opset " + std::to_string(t.since) + " to " +
                    std::to_string(t.until) + ", not " + std::to_string(opset) + "; choose one with --opset");
}

void require_target(graph_data const& graph, targets::target const& t, std::string const& file) {
    limits all(t, graph.opset);
    all.check(graph);
    std::vector<unconvertible> const& found = all.found();
    if (found.empty()) return;
    std::string text = file + ": " + summary(found, "cannot run on " + std::string(t.title));
    throw export_error(std::move(text), found);
}

} // namespace ATON_NAMESPACE::exporter

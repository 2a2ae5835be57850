// SPDX-License-Identifier: MIT
#include "missing_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <aton/ir/kernels.hpp>
#include <aton/passes/passes.hpp>

#include "occurrences.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

namespace ort = onnx::onnxruntime;

std::string const& runtime() {
    static std::string const name = "ONNX Runtime " + std::string(ort::release);
    return name;
}

/// The dtypes that the kernel with the fewest wrong ones does not take; empty if there is no kernel.
std::vector<dtype> wrong_dtypes(graph_data const& graph, graph_node const& n, int opset) {
    ort::kernel_list const all = ort::kernels_of(n.domain, n.op, opset);
    std::vector<dtype> best;
    for (int k = 0; k != all.size(); ++k) {
        std::vector<dtype> wrong;
        for (ort::operand_rule const& rule : kernels::detail::rules_of(all[k], n)) {
            kernels::detail::for_each_operand(graph, n, rule, [&](value_type const& type) {
                bool const is_known = std::find(wrong.begin(), wrong.end(), type.dtype) != wrong.end();
                if (!is_known && !rule.types.contains(set_of(type))) wrong.push_back(type.dtype);
            });
        }
        if (best.empty() || wrong.size() < best.size()) best = std::move(wrong);
    }
    return best;
}

/// The opset nearest to `opset` at which ONNX Runtime runs the node, perhaps in a wider dtype; 0: none.
int nearest_opset(graph_data const& graph, graph_node const& n, int opset) {
    int best = 0;
    for (int o = 7; o <= ort::newest_opset; ++o) // the older one of two
        if ((best == 0 || std::abs(o - opset) < std::abs(best - opset)) && kernels::runs(graph, n, o)) best = o;
    return best;
}

/// " of float64 and bool"
std::string of_dtypes(std::vector<dtype> const& all) {
    std::string out;
    for (dtype t : all) out += (out.empty() ? " of " : " and ") + std::string(name(t));
    return out;
}

/// What would run instead: "it has one at opset 21", "it has one for float32".
std::string remedy(graph_data const& graph, graph_node const& n, int opset, std::vector<dtype> const& wrong) {
    if (int const other = nearest_opset(graph, n, opset); other != 0)
        return "; it has one at opset " + std::to_string(other);
    if (wrong.size() == 1)
        for (dtype t : {dtype::float32, dtype::float64, dtype::int64, dtype::int32, dtype::bool_})
            if (t != wrong[0] && is_floating(t) == is_floating(wrong[0]) && kernels::runs(graph, n, opset, wrong[0], t))
                return "; it has one for " + std::string(name(t));
    return "";
}

/// Nodes without a kernel for the same dtypes and with the same remedy.
struct missing_nodes {
    std::string dtypes;
    std::string remedy;
    std::vector<std::string> ops;
    std::size_t count = 0;
    std::string place; ///< of the first one
};

class missing_by_kind {
public:
    explicit missing_by_kind(int opset) : opset_(opset) {}

    void add(graph_data const& graph) {
        for (graph_node const& n : graph.nodes) {
            if (!kernels::runs(graph, n, opset_)) add(graph, n);
            for (node_attribute const& a : n.attributes)
                for (graph_data const& nested : a.graphs) add(nested);
        }
    }

    void warn(std::vector<warning>& to) const {
        constexpr std::size_t max_named = 8;
        for (missing_nodes const& each : found_) {
            std::string ops;
            for (std::size_t i = 0; i != std::min(each.ops.size(), max_named); ++i)
                ops += (i == 0 ? "" : ", ") + shortened(each.ops[i]);
            if (each.ops.size() > max_named) ops += " and " + std::to_string(each.ops.size() - max_named) + " more";
            to.push_back({warning_kind::missing_kernel,
                          runtime() + " has no kernel for " + ops + each.dtypes + each.remedy +
                              where_it_occurs(each.count, each.place)});
        }
    }

private:
    void add(graph_data const& graph, graph_node const& n) {
        std::vector<dtype> const wrong = wrong_dtypes(graph, n, opset_);
        std::string dtypes = wrong.empty() ? " at opset " + std::to_string(opset_) : of_dtypes(wrong);
        std::string instead = kernels::wider_kernel(graph, n, opset_)
                                  ? "; --target onnxruntime computes in another dtype"
                                  : remedy(graph, n, opset_, wrong);
        auto at = std::find_if(found_.begin(), found_.end(), [&](missing_nodes const& m) {
            return m.dtypes == dtypes && m.remedy == instead;
        });
        if (at == found_.end()) {
            node_origin const& from = graph.origins[n.origin < graph.origins.size() ? n.origin : 0];
            found_.push_back({std::move(dtypes), std::move(instead), {}, 0, from.source});
            at = found_.end() - 1;
        }
        if (std::find(at->ops.begin(), at->ops.end(), n.op) == at->ops.end()) at->ops.push_back(n.op);
        ++at->count;
    }

    int opset_;
    std::vector<missing_nodes> found_;
};

} // namespace

std::string missing_kernel(graph_data const& graph, graph_node const& n, int opset) {
    if (kernels::runs(graph, n, opset)) return "";
    std::vector<dtype> const wrong = wrong_dtypes(graph, n, opset);
    return n.op + of_dtypes(wrong) + " has no kernel" + (wrong.empty() ? " at opset " + std::to_string(opset) : "") +
           remedy(graph, n, opset, wrong);
}

void find_missing_kernels(graph_data const& graph, std::vector<warning>& to) {
    if (graph.opset > ort::newest_opset) {
        to.push_back({warning_kind::missing_kernel,
                      runtime() + " loads models up to opset " + std::to_string(ort::newest_opset)});
        return;
    }
    missing_by_kind missing(graph.opset);
    missing.add(graph);
    missing.warn(to);
}

void inline_narrow_functions(graph_data& graph, type_set floats) {
    if (graph.functions.empty()) return;
    graph_data inlined = graph;
    inline_functions(inlined);
    if (needs_wider_dtypes(inlined, floats, graph.opset)) graph = std::move(inlined);
}

} // namespace ATON_NAMESPACE::exporter

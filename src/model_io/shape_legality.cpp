// SPDX-License-Identifier: MIT
// Compares the shapes that a finished graph declares with those inferred from its nodes.
#include <aton/ir/producers.hpp>
#include <aton/model_io/legality.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "node_legality.hpp"

#include <aton/core/error.hpp>
#include <aton/core/shape.hpp>
#include <aton/ir/contradiction.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/print.hpp>
#include <aton/ir/shapes/rules.hpp>

namespace ATON_NAMESPACE {

namespace {

/// The declared shape, with the sizes inferred from the node.
shape merged(shape const& declared, shape const& found) {
    if (!found.has_rank() || !declared.has_rank()) return found.has_rank() ? found : declared;
    std::vector<dim> dims = declared.dims();
    for (std::size_t i = 0; i != dims.size(); ++i)
        if (found[i].is_static()) dims[i] = found[i];
    return shape(dims);
}

/// Checks the nodes of one graph in order. As in ONNX's own inference, later nodes are inferred from the inferred types of earlier
/// ones; the declared types are restored at the end.
class shape_checker {
public:
    explicit shape_checker(graph_data& graph) : graph_(graph) {}

    void check() {
        find_producers();
        for (graph_node& n : graph_.nodes) {
            for (node_attribute& a : n.attributes)
                for (graph_data& nested : a.graphs) {
                    graph_data* const around = std::exchange(nested.around, &graph_);
                    shape_checker(nested).check();
                    nested.around = around;
                }
            check(n);
        }
        for (auto& [id, s] : declared_) graph_.values[id].type.shape = std::move(s);
    }

private:
    void find_producers() {
        for (graph_value& v : graph_.values) v.producer = -1;
        number_producers(graph_);
    }

    void check(graph_node const& n) {
        std::size_t const first = declared_.size();
        std::vector<value_type> types;
        for (value_id const id : n.outputs) {
            if (id == no_value) continue;
            value_type& t = graph_.values[id].type;
            types.push_back({t.dtype, shape(), t.kind});
            declared_.emplace_back(id, std::exchange(t.shape, shape()));
        }
        try {
            shapes::infer_types(graph_, n);
        } catch (error const& e) {
            throw error(e.what() + detail::made_for(graph_, n));
        }
        for (std::size_t i = 0; i != types.size(); ++i) {
            auto const& [id, declared] = declared_[first + i];
            value_type& t = graph_.values[id].type;
            if (detail::contradicts(declared, t.shape))
                throw error("onnx::" + n.op + ": a result is declared as " +
                            to_string({types[i].dtype, declared, types[i].kind}) + ", but is " +
                            to_string({types[i].dtype, t.shape, types[i].kind}) + detail::made_for(graph_, n));
            types[i].shape = merged(declared, t.shape);
            t = std::move(types[i]);
        }
    }

    graph_data& graph_;
    std::vector<std::pair<value_id, shape>> declared_;
};

} // namespace

void require_shapes(graph_data& graph) { shape_checker(graph).check(); }

} // namespace ATON_NAMESPACE

// SPDX-License-Identifier: MIT
// The shapes that a finished graph says against those that its nodes give.
#include <aton/model_io/legality.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "node_legality.hpp"

#include <aton/core/error.hpp>
#include <aton/core/shape.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/print.hpp>
#include <aton/ir/shapes/rules.hpp>

namespace ATON_NAMESPACE {

namespace {

bool contradicts(shape const& said, shape const& found) {
    if (!said.has_rank() || !found.has_rank()) return false;
    if (said.rank() != found.rank()) return true;
    for (std::size_t i = 0; i != said.rank(); ++i)
        if (said[i].is_static() && found[i].is_static() && said[i].size() != found[i].size()) return true;
    return false;
}

/// What the graph says, with the sizes that the node gives.
shape merged(shape const& said, shape const& found) {
    if (!found.has_rank() || !said.has_rank()) return found.has_rank() ? found : said;
    std::vector<dim> dims = said.dims();
    for (std::size_t i = 0; i != dims.size(); ++i)
        if (found[i].is_static()) dims[i] = found[i];
    return shape(dims);
}

/// The nodes of one graph in their order. What they give is what the next ones are inferred from, as in ONNX's own inference, and goes
/// when all are done.
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
        for (auto& [id, s] : said_) graph_.values[id].type.shape = std::move(s);
    }

private:
    void find_producers() {
        for (graph_value& v : graph_.values) v.producer = -1;
        for (std::size_t i = 0; i != graph_.nodes.size(); ++i)
            for (value_id const id : graph_.nodes[i].outputs)
                if (id != no_value) graph_.values[id].producer = static_cast<std::int64_t>(i);
    }

    void check(graph_node const& n) {
        std::size_t const first = said_.size();
        std::vector<value_type> types;
        for (value_id const id : n.outputs) {
            if (id == no_value) continue;
            value_type& t = graph_.values[id].type;
            types.push_back({t.dtype, shape(), t.kind});
            said_.emplace_back(id, std::exchange(t.shape, shape()));
        }
        try {
            shapes::infer_types(graph_, n);
        } catch (error const& e) {
            throw error(e.what() + detail::made_for(graph_, n));
        }
        for (std::size_t i = 0; i != types.size(); ++i) {
            auto const& [id, said] = said_[first + i];
            value_type& t = graph_.values[id].type;
            if (contradicts(said, t.shape))
                throw error("onnx::" + n.op + ": a result is taken for " +
                            to_string({types[i].dtype, said, types[i].kind}) + ", and is " +
                            to_string({types[i].dtype, t.shape, types[i].kind}) + detail::made_for(graph_, n));
            types[i].shape = merged(said, t.shape);
            t = std::move(types[i]);
        }
    }

    graph_data& graph_;
    std::vector<std::pair<value_id, shape>> said_;
};

} // namespace

void require_shapes(graph_data& graph) { shape_checker(graph).check(); }

} // namespace ATON_NAMESPACE

// SPDX-License-Identifier: MIT
// Lowers the number of elements that a TopK returns to that of those which are read.
#include "short_sorts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/ir/producers.hpp>
#include <aton/version.hpp>

#include "attributes.hpp"
#include "captures.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

constexpr std::int64_t all_elements = std::numeric_limits<std::int64_t>::max();

/// A constant list of integers; nothing if it is none.
std::optional<std::vector<std::int64_t>> list_of(graph_data const& graph, value_id id) {
    tensor const* const t = id == no_value ? nullptr : graph.constant(id);
    if (t == nullptr || (t->type != dtype::int64 && t->type != dtype::int32)) return {};
    return integers(*t);
}

/// What a node reads of its first operand along an axis.
struct reading {
    std::int64_t end = all_elements;
    bool is_prefix = false; ///< a Slice that is nothing but the elements before `end`
};

reading reading_of_slice(graph_data const& graph, graph_node const& n, std::size_t axis, std::size_t rank) {
    auto const starts = list_of(graph, input(n, 1));
    auto const ends = list_of(graph, input(n, 2));
    if (!starts || !ends || starts->size() != ends->size()) return {};
    std::size_t const count = starts->size();
    std::optional<std::vector<std::int64_t>> axes(count);
    std::iota(axes->begin(), axes->end(), 0);
    std::optional<std::vector<std::int64_t>> steps(std::in_place, count, 1);
    if (input(n, 3) != no_value) axes = list_of(graph, input(n, 3));
    if (input(n, 4) != no_value) steps = list_of(graph, input(n, 4));
    if (!axes || axes->size() != count || !steps || steps->size() != count) return {};
    for (std::size_t i = 0; i != count; ++i) {
        if (axis_at((*axes)[i], rank) != axis) continue;
        if ((*starts)[i] < 0 || (*ends)[i] < 0 || (*steps)[i] <= 0) return {};
        return {(*ends)[i], count == 1 && (*starts)[i] == 0 && (*steps)[i] == 1};
    }
    return {};
}

reading reading_of(graph_data const& graph, graph_node const& n, std::size_t axis, std::size_t rank) {
    if (!n.domain.empty()) return {};
    if (n.op == "Slice") return reading_of_slice(graph, n, axis, rank);
    if (n.op != "Gather" || axis_at(int_attribute(n, "axis", 0), rank) != axis) return {};
    auto const indices = list_of(graph, input(n, 1));
    if (!indices || indices->empty()) return {};
    auto const [lowest, highest] = std::minmax_element(indices->begin(), indices->end());
    if (*lowest < 0 || *highest == all_elements) return {};
    return {*highest + 1, false};
}

class sort_shortener {
public:
    explicit sort_shortener(graph_data& graph) : graph_(graph) {}

    void run() {
        find_sorts();
        if (uses_.empty()) return;
        find_uses();
        std::vector<graph_node> nodes = std::move(graph_.nodes);
        removed_.assign(nodes.size(), 0);
        graph_.nodes.clear();
        for (std::size_t i = 0; i != nodes.size(); ++i) {
            if (removed_[i] != 0) continue;
            if (is_sort(nodes[i])) shorten(nodes[i]);
            graph_.nodes.push_back(std::move(nodes[i]));
        }
        number_producers(graph_);
    }

private:
    struct uses {
        std::size_t axis = 0;
        std::size_t rank = 0;
        std::int64_t read = 0; ///< the elements before this one
        std::size_t count = 0;
        std::size_t node = 0;       ///< the last one
        value_id prefix = no_value; ///< its result, if it is a prefix
    };

    static bool is_sort(graph_node const& n) {
        return n.op == "TopK" && n.domain.empty() && n.inputs.size() == 2 && int_attribute(n, "sorted", 1) == 1;
    }

    void find_sorts() {
        for (graph_node const& n : graph_.nodes) {
            if (!is_sort(n)) continue;
            std::size_t const rank = graph_.values[n.inputs[0]].type.shape.rank();
            if (auto const axis = axis_at(int_attribute(n, "axis", -1), rank))
                for (value_id id : n.outputs)
                    if (id != no_value) uses_[id] = {*axis, rank};
        }
    }

    void find_uses() {
        auto const everything = [&](value_id id) {
            if (auto const found = uses_.find(id); found != uses_.end()) found->second.read = all_elements;
        };
        for (value_id id : graph_.outputs) everything(id);
        for (std::size_t i = 0; i != graph_.nodes.size(); ++i) {
            graph_node const& n = graph_.nodes[i];
            for_each_capture(n, everything);
            for (std::size_t k = 0; k != n.inputs.size(); ++k) {
                auto const found = uses_.find(n.inputs[k]);
                if (found == uses_.end()) continue;
                uses& u = found->second;
                reading const r = k == 0 ? reading_of(graph_, n, u.axis, u.rank) : reading();
                u = {u.axis, u.rank, std::max(u.read, r.end), u.count + 1, i, r.is_prefix ? n.outputs[0] : no_value};
            }
        }
    }

    void shorten(graph_node& n) {
        std::int64_t read = 0;
        for (value_id id : n.outputs)
            if (auto const found = uses_.find(id); found != uses_.end()) read = std::max(read, found->second.read);
        if (read == 0 || read == all_elements) return;
        // The nodes are being moved: only initializers are found.
        tensor const* const k = graph_.values[n.inputs[1]].producer < 0 ? graph_.constant(n.inputs[1]) : nullptr;
        if (k != nullptr) {
            std::vector<std::int64_t> const number = integers(*k);
            if (number.size() != 1 || number[0] <= read) return;
            n.inputs[1] = constant(read);
        } else {
            constexpr int min_of_integers = 12; // the first opset with Min of int64
            if (graph_.opset < min_of_integers) return;
            graph_node min;
            min.op = "Min";
            min.source = n.source;
            min.origin = n.origin;
            min.inputs = {n.inputs[1], constant(read)};
            min.outputs = {graph_.add_value(value_type(graph_.values[n.inputs[1]].type))};
            n.inputs[1] = min.outputs[0];
            graph_.nodes.push_back(std::move(min));
        }
        for (value_id& id : n.outputs)
            if (auto const found = uses_.find(id); found != uses_.end())
                shorten_result(id, found->second, read, k != nullptr);
    }

    /// A result with elements up to `read`. It replaces that of a Slice which is the only node that reads it, and has as many.
    void shorten_result(value_id& id, uses const& u, std::int64_t read, bool is_known) {
        if (u.count == 1 && u.prefix != no_value && u.read == read) {
            removed_[u.node] = 1;
            id = u.prefix;
            return;
        }
        shape& s = graph_.values[id].type.shape;
        if (!s.has_rank()) return;
        std::vector<dim> dims = s.dims();
        dims[u.axis] = is_known ? dim(read) : dim();
        s = shape(dims);
    }

    value_id constant(std::int64_t number) {
        tensor t = int64_tensor(std::vector<std::int64_t>{number});
        value_id const id = graph_.add_value(value_type{t.type, shape(t.sizes)});
        graph_.set_initializer(id, std::move(t));
        return id;
    }

    graph_data& graph_;
    std::unordered_map<value_id, uses> uses_; ///< of the results of sorts
    std::vector<char> removed_;               ///< by node
};

} // namespace

void shorten_sorts(graph_data& graph) {
    sort_shortener(graph).run();
    for (graph_node& n : graph.nodes)
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) shorten_sorts(nested);
}

} // namespace ATON_NAMESPACE::passes

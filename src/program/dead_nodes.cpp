// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

#include <aton/program/subgraphs.hpp>

#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

/// Nodes that only record facts about sizes, or raise an error where a matrix is singular, which a graph cannot.
constexpr std::array<std::string_view, 5> assertions{"aten::_assert_scalar",
                                                     "aten::_assert_tensor_metadata",
                                                     "aten::_linalg_check_errors",
                                                     "aten::sym_constrain_range",
                                                     "aten::sym_constrain_range_for_size"};

/// Whether an assertion about a tensor contradicts what the program records of the tensor, so that it fails in every run. It stays, and is
/// refused where nodes are converted.
bool always_fails(program const& p, node const& n) {
    if (n.op != "aten::_assert_tensor_metadata") return false;
    argument const* const a = find_argument(n, "a");
    if (a == nullptr || a->kind != argument_kind::tensor) return false;
    value const& x = p.values[a->tensor];
    argument const* const type = find_argument(n, "dtype");
    if (type != nullptr && type->kind == argument_kind::type && x.has_type && x.type != type->type) return true;
    argument const* const size = find_argument(n, "size");
    if (size == nullptr || size->kind != argument_kind::numbers || !x.has_type) return false;
    return size->numbers.size() != x.sizes.size() ||
           !std::equal(x.sizes.begin(), x.sizes.end(), size->numbers.begin(), [](extent const& e, number const& n) {
               return !e.is_number() || n.integer().value_or(e.number) == e.number;
           });
}

bool has_effect(node const& n) {
    if (n.kind == node_kind::higher_order) return n.op == "higher_order::print" || n.op == "higher_order::with_effects";
    if (n.kind != node_kind::aten) return false;
    if (n.op.find("assert_async") != std::string::npos) return true; // the functional variant has a result
    return n.results.empty() && std::find(assertions.begin(), assertions.end(), n.op) == assertions.end();
}

/// A custom operator with an unknown schema is assumed to write: torch.export removes those without side effects. For operators of torch that
/// are newer than Aton, the name tells.
bool may_write(node const& n) {
    if (n.kind != node_kind::aten || !n.schema.empty() || n.is_functional) return false;
    if (n.results.empty()) return true;
    std::string_view const name = std::string_view(n.op).substr(0, n.op.find('.'));
    bool const is_in_place = name.ends_with('_') || n.op.ends_with(".out") || n.op.ends_with("_out");
    bool const is_of_torch = n.op.starts_with("aten::") || n.op.starts_with("prim::") || n.op.starts_with("prims::") ||
                             n.op.starts_with("quantized::");
    return is_in_place || !is_of_torch;
}

} // namespace

void remove_dead_nodes(program& p) {
    std::vector<bool> needed(p.values.size());
    auto const need = [&needed](argument const& a) { for_each_value(a, [&](value_index v) { needed[v] = true; }); };
    auto const is_needed = [&needed](node const& n) {
        return std::any_of(n.results.begin(), n.results.end(), [&](result const& r) {
            return std::any_of(
                r.values.begin(), r.values.end(), [&](value_index v) { return v != no_value && needed[v]; });
        });
    };

    std::vector<dropped_node> dropped; // from the end
    for_each_graph(p, [&](graph& g) {
        for (argument const& each : g.outputs) need(each);
        std::vector<bool> stays(g.nodes.size());
        for (std::size_t i = g.nodes.size(); i-- > 0;) {
            stays[i] = is_needed(g.nodes[i]) || always_fails(p, g.nodes[i]);
            if (!stays[i]) {
                node& n = g.nodes[i];
                if (!may_write(n)) {
                    bool const is_unknown = n.kind == node_kind::aten && n.schema.empty();
                    if (bool const effect = has_effect(n); effect || is_unknown)
                        dropped.push_back({n.op, p.origins[n.origin].source, effect});
                    continue;
                }
                stays[i] = true;
                n.results.clear();
            }
            for (argument const& each : g.nodes[i].arguments) need(each);
        }
        std::size_t i = 0;
        std::erase_if(g.nodes, [&](node const&) { return !stays[i++]; });
    });
    p.dropped.insert(p.dropped.end(), dropped.rbegin(), dropped.rend());
}

} // namespace ATON_NAMESPACE::program

// SPDX-License-Identifier: MIT
#include "check_nodes.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/dsl/error.hpp>

#include "result_types.hpp"

namespace aton::exporter {

namespace {

using dims = std::vector<dim>;

constexpr std::string_view broadcasting[] = {"Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
                                             "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
                                             "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
                                             "Mod",        "Mul",         "Or",       "Pow",        "Sub",
                                             "Sum",        "Where",       "Xor"};

bool may_be_same(dim const& a, dim const& b) { return !a.is_static() || !b.is_static() || a.size() == b.size(); }

/// The sizes of two operands together; false where they do not broadcast.
bool broadcast(dims& common, dims const& more) {
    if (more.size() > common.size()) common.insert(common.begin(), more.size() - common.size(), dim(1));
    std::size_t const skipped = common.size() - more.size();
    for (std::size_t i = 0; i != more.size(); ++i) {
        dim& a = common[skipped + i];
        dim const& b = more[i];
        if (a.size() == 1) a = b;
        else if (b.size() != 1 && !may_be_same(a, b)) return false;
    }
    return true;
}

class checker {
public:
    checker(graph_data const& graph, graph_node const& node) : graph_(graph), node_(node) {}

    [[nodiscard]] bool fits() const {
        if (!node_.domain.empty()) return true;
        std::string_view const op = node_.op;
        if (std::find(std::begin(broadcasting), std::end(broadcasting), op) != std::end(broadcasting))
            return all_broadcast();
        if (op == "MatMul") return product();
        if (op == "Gemm") return gemm();
        if (op == "Concat") return concat();
        return true;
    }

    [[noreturn]] void refuse() const {
        constexpr std::size_t most_named = 4;
        std::string text;
        for (std::size_t i = 0; i != std::min(node_.inputs.size(), most_named); ++i)
            if (node_.inputs[i] != no_value)
                text += (text.empty() ? "" : ", ") + describe(graph_.values[node_.inputs[i]].type);
        throw unsupported_error("its operands do not fit each other: " + text +
                                (node_.inputs.size() > most_named ? ", ... in " : " in ") + node_.op);
    }

private:
    /// Null where the rank is not known.
    [[nodiscard]] dims const* in(std::size_t i) const {
        if (i >= node_.inputs.size() || node_.inputs[i] == no_value) return nullptr;
        value_type const& type = graph_.values[node_.inputs[i]].type;
        return type.kind == value_kind::tensor && type.shape.has_rank() ? &type.shape.dims() : nullptr;
    }
    [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise) const {
        node_attribute const* const a = node_.attribute(name);
        return a == nullptr ? otherwise : a->i;
    }

    [[nodiscard]] bool all_broadcast() const {
        dims common;
        for (std::size_t i = 0; i != node_.inputs.size(); ++i) {
            dims const* const each = in(i);
            if (each == nullptr) return true;
            if (!broadcast(common, *each)) return false;
        }
        return true;
    }

    [[nodiscard]] bool product() const {
        dims const* const a = in(0);
        dims const* const b = in(1);
        if (a == nullptr || b == nullptr) return true;
        if (a->empty() || b->empty()) return false;
        if (!may_be_same(a->back(), (*b)[b->size() == 1 ? 0 : b->size() - 2])) return false;
        dims common(a->begin(), a->size() > 2 ? a->end() - 2 : a->begin());
        return broadcast(common, dims(b->begin(), b->size() > 2 ? b->end() - 2 : b->begin()));
    }

    [[nodiscard]] bool gemm() const {
        dims const* const a = in(0);
        dims const* const b = in(1);
        if (a == nullptr || b == nullptr) return true;
        return a->size() == 2 && b->size() == 2 &&
               may_be_same((*a)[number("transA", 0) != 0 ? 0 : 1], (*b)[number("transB", 0) != 0 ? 1 : 0]);
    }

    [[nodiscard]] bool concat() const {
        dims const* const first = in(0);
        if (first == nullptr) return true;
        auto const rank = static_cast<std::int64_t>(first->size());
        std::int64_t const axis = number("axis", 0);
        if (axis < -rank || axis >= rank) return false;
        auto const joined = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
        for (std::size_t i = 1; i < node_.inputs.size(); ++i) {
            dims const* const each = in(i);
            if (each == nullptr) continue;
            if (each->size() != first->size()) return false;
            for (std::size_t k = 0; k != each->size(); ++k)
                if (k != joined && !may_be_same((*each)[k], (*first)[k])) return false;
        }
        return true;
    }

    graph_data const& graph_;
    graph_node const& node_;
};

} // namespace

void check_nodes(graph_data const& graph, std::size_t first) {
    for (std::size_t i = first; i < graph.nodes.size(); ++i)
        if (checker const each(graph, graph.nodes[i]); !each.fits()) each.refuse();
}

} // namespace aton::exporter

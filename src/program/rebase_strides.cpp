// SPDX-License-Identifier: MIT
#include "rebase_strides.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "functional_counterpart.hpp"
#include "layouts.hpp"
#include "node_arguments.hpp"
#include "node_emitter.hpp"
#include "view_rules.hpp"

namespace ATON_NAMESPACE::program {

namespace {

bool reads_memory(node const& n) { return n.op == "aten::as_strided" || n.op == "aten::as_strided_copy"; }

/// The dimensions of a tensor from the largest stride to the smallest; nullopt if its elements do not fill its memory.
std::optional<std::vector<std::int64_t>> memory_order(concrete_layout const& layout) {
    std::vector<std::int64_t> order(layout.sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return layout.strides[static_cast<std::size_t>(a)] > layout.strides[static_cast<std::size_t>(b)];
    });
    concrete_layout sorted;
    for (std::int64_t d : order) {
        sorted.sizes.push_back(layout.sizes[static_cast<std::size_t>(d)]);
        sorted.strides.push_back(layout.strides[static_cast<std::size_t>(d)]);
    }
    if (!layouts::is_contiguous(sorted)) return {};
    return order;
}

class rebaser {
public:
    rebaser(program& p, graph& g) : program_(p), graph_(g), layout_(p), out_(p, g.nodes.size()) {}

    void run() {
        for (node& n : std::exchange(graph_.nodes, {})) {
            if (reads_memory(n)) rebase(n);
            remember_views(n);
            out_.append(std::move(n));
        }
        graph_.nodes = std::move(out_.nodes());
    }

private:
    void rebase(node& n) {
        argument* const self = find_argument(n, "self");
        if (self == nullptr || self->kind != argument_kind::tensor || self->tensor == no_value) return;
        value_index const given = self->tensor;
        value_index whole = given;
        for (auto at = viewed_.find(whole); at != viewed_.end(); at = viewed_.find(whole)) whole = at->second;
        extent const start = program_.values[given].storage_offset;
        argument* const recorded = find_argument(n, "storage_offset");
        bool const starts_there = recorded == nullptr || is_none(recorded); // where the view starts
        if ((starts_there && !start.is_number()) || program_.values[whole].storage_offset != extent{}) return;
        std::optional<concrete_layout> const layout = layout_.of(whole);
        if (!layout) return;
        if (layouts::is_contiguous(*layout)) {
            if (whole == given) return;
            self->tensor = whole;
        } else {
            std::optional<std::vector<std::int64_t>> const order = memory_order(*layout);
            if (!order) return;
            self->tensor = in_memory_order(whole, *order, n);
        }
        if (!starts_there) return;
        argument offset = number_argument("storage_offset", start.number);
        if (recorded == nullptr) n.arguments.push_back(std::move(offset));
        else *recorded = std::move(offset);
    }

    value_index in_memory_order(value_index whole, std::vector<std::int64_t> const& order, node const& cause) {
        value sorted = program_.values[whole];
        for (std::size_t i = 0; i != order.size(); ++i) {
            auto const d = static_cast<std::size_t>(order[i]);
            sorted.sizes[i] = program_.values[whole].sizes[d];
            sorted.strides[i] = program_.values[whole].strides[d];
        }
        value_index const made = out_.fresh(std::move(sorted));
        out_.emit("aten::permute", cause, {tensor_argument("self", whole), integers_argument("dims", order)}, made);
        return made;
    }

    void remember_views(node const& n) {
        if (n.kind != node_kind::aten || n.schema.empty() || !written_arguments(n.schema).empty()) return;
        for (std::size_t r = 0; r != n.results.size(); ++r) {
            for (std::size_t e = 0; e != n.results[r].values.size(); ++e) {
                value_index const v = n.results[r].values[e];
                if (v == no_value) continue;
                std::optional<view_of> const view = find_view(program_, layout_, n, r, e);
                // An opaque view may have other numbers than its memory: _neg_view, conj.
                if (!view || view->rule == view_rule::unknown || view->rule == view_rule::opaque) continue;
                viewed_.emplace(v, tensors_of(n.arguments[view->argument])[view->element]);
            }
        }
    }

    program& program_;
    graph& graph_;
    layouts layout_;
    node_emitter out_;
    std::unordered_map<value_index, value_index> viewed_; ///< by view
};

} // namespace

void rebase_strides(program& p, graph& g) {
    if (std::any_of(g.nodes.begin(), g.nodes.end(), reads_memory)) rebaser(p, g).run();
}

} // namespace ATON_NAMESPACE::program

// SPDX-License-Identifier: MIT
// Functionalization: walks over the nodes of every graph, and handles the operators that do not write.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/mutation.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/core/cancellation.hpp>
#include <aton/core/error.hpp>
#include <aton/program/subgraphs.hpp>

#include "functionalizer.hpp"
#include "name_lists.hpp"
#include "node_arguments.hpp"
#include "norm_statistics.hpp"
#include "observers.hpp"
#include "rebase_strides.hpp"
#include "view_rules.hpp"

namespace ATON_NAMESPACE::program {

namespace {

/// Operators with mutated arguments that have no effect on what the program computes.
bool has_no_effect(std::string_view op) {
    static constexpr std::string_view names[] = {
        "aten::detach_", "aten::requires_grad_", "aten::retain_grad", "aten::record_stream"};
    return is_one_of(op, names);
}

/// A prim that writes to its argument, or is said to by its schema, as the operator of ATen that does the same; nullopt for other nodes.
std::optional<node> as_operator_of_aten(node const& n) {
    struct same_operator {
        std::string_view prim;
        std::string_view aten;
        std::pair<std::string_view, std::string_view> renamed[2];
    };
    static constexpr same_operator rows[] = {{"prims::as_strided", "aten::as_strided", {{"a", "self"}, {}}},
                                             {"prims::copy_to", "aten::copy_", {{"a", "self"}, {"b", "src"}}},
                                             {"prims::resize", "aten::resize_", {{"a", "self"}, {"shape", "size"}}}};
    auto const* const found =
        std::find_if(std::begin(rows), std::end(rows), [&](same_operator const& each) { return each.prim == n.op; });
    if (found == std::end(rows)) return {};
    node out = n;
    out.op = found->aten;
    out.schema = aten::find_schema(found->aten);
    for (argument& each : out.arguments)
        for (auto const& [from, to] : found->renamed)
            if (each.name == from && !to.empty()) {
                each.name = to;
                break;
            }
    return out;
}

/// The view that computes the same as an in-place operator that changes sizes and strides.
std::string_view view_counterpart(std::string_view op) {
    static constexpr std::pair<std::string_view, std::string_view> rows[] = {
        {"aten::as_strided_", "aten::as_strided"},
        {"aten::squeeze_", "aten::squeeze"},
        {"aten::squeeze_.dim", "aten::squeeze.dim"},
        {"aten::squeeze_.dims", "aten::squeeze.dims"},
        {"aten::swapaxes_", "aten::swapaxes"},
        {"aten::swapdims_", "aten::swapdims"},
        {"aten::t_", "aten::t"},
        {"aten::transpose_", "aten::transpose.int"},
        {"aten::unsqueeze_", "aten::unsqueeze"}};
    for (auto const& [in_place, view] : rows)
        if (in_place == op) return view;
    return {};
}

/// Operators that only use the sizes and the dtype of `self`.
bool uses_shape_only(std::string_view op) {
    static constexpr std::string_view names[] = {"aten::_assert_tensor_metadata",
                                                 "aten::empty_like",
                                                 "aten::full_like",
                                                 "aten::new_empty",
                                                 "aten::new_full",
                                                 "aten::new_ones",
                                                 "aten::new_zeros",
                                                 "aten::ones_like",
                                                 "aten::rand_like",
                                                 "aten::randn_like",
                                                 "aten::sym_numel",
                                                 "aten::sym_size.int",
                                                 "aten::sym_stride.int",
                                                 "aten::zeros_like"};
    return is_one_of(op, names);
}

} // namespace

bool has_one_result(node const& n) {
    return n.results.size() == 1 && n.results.front().values.size() == 1 &&
           n.results.front().values.front() != no_value;
}

functionalizer::functionalizer(program& p, graph& g, schema_lookup const& schema_of)
    : program_(p),
      graph_(g),
      schema_of_(schema_of),
      old_(std::move(g.nodes)),
      layout_(p),
      out_(p, old_.size()),
      state_(out_, layout_, p.values.size()) {
    last_.op = "output";
}

void functionalizer::run() {
    if (is_main()) {
        memory_ = add_inputs(program_, state_);
    } else {
        for (value_index each : graph_.inputs)
            if (each != no_value) state_.add_tensor(each);
    }
    for (node const& each : old_) visit(each);
    finish();
}

void functionalizer::visit(node const& n) {
    stop_if_cancelled();
    if (is_auto_functionalized(n)) return visit_functionalized(n);
    if (n.kind != node_kind::aten) return pass(n);
    if (n.schema.empty()) return visit_custom(n);
    if (std::optional<node> const same = as_operator_of_aten(n)) return visit(*same);
    if (updates_statistics(n)) return visit_norm(n);
    std::vector<std::string_view> const& written = written_by(n.schema);
    if (written.empty()) return visit_pure(n, n.schema);
    if (has_no_effect(n.op)) return same_tensor(n);
    if (std::string_view const view = view_counterpart(n.op); !view.empty()) return change_view(n, view);
    if (n.op == "aten::resize_" || n.op == "aten::resize_as_") return visit_resize(n);
    if (n.op.starts_with("aten::set_")) return visit_set(n);
    if (n.op == "aten::copy_") return visit_copy(n);
    if (n.op == "aten::zero_" || n.op == "aten::fill_.Scalar" || n.op == "aten::fill_.Tensor") return visit_fill(n);
    if (n.op == "aten::fill_diagonal_") return visit_fill_diagonal(n);
    visit_write(n, written);
}

std::vector<std::string_view> const& functionalizer::written_by(std::string_view schema) {
    auto const [at, is_new] = written_.try_emplace(schema);
    if (is_new) at->second = written_arguments(schema);
    return at->second;
}

void functionalizer::read_argument(argument& a, node const& cause) {
    for (value_ref& v : tensors_of(a))
        if (v && state_.is_known(v)) v = state_.read(v, cause);
}

node functionalizer::with_arguments_read(node n) {
    bool const by_shape = uses_shape_only(n.op);
    for (std::size_t i = 0; i != n.arguments.size(); ++i) {
        argument& each = n.arguments[i];
        bool const is_tensor = each.kind == argument_kind::tensor && state_.is_known(each.tensor);
        if (i == 0 && by_shape && is_tensor) each.tensor = state_.shape_of(each.tensor);
        else read_argument(each, n);
    }
    return n;
}

node functionalizer::with_arguments_described(node n) const {
    for (argument& each : n.arguments)
        for (value_ref& v : tensors_of(each))
            if (v && state_.is_known(v)) v = state_.described_by(v);
    return n;
}

void functionalizer::add_results(node const& n) {
    for (result const& each : n.results)
        for (value_index v : each.values)
            if (v != no_value) state_.add_tensor(v);
}

void functionalizer::pass(node const& n) {
    out_.append(with_arguments_read(n));
    add_results(n);
}

void functionalizer::visit_pure(node const& n, std::string_view schema) {
    std::vector<std::optional<view_of>> views;
    node described = with_arguments_described(n);
    described.schema = schema;
    bool any = false;
    for (std::size_t r = 0; r != n.results.size(); ++r) {
        for (std::size_t e = 0; e != n.results[r].values.size(); ++e) {
            bool const is_value = n.results[r].values[e] != no_value;
            views.push_back(is_value ? find_view(program_, layout_, described, r, e) : std::nullopt);
            any = any || views.back();
        }
    }
    if (!any) return pass(n);
    auto const source = std::find_if(views.begin(), views.end(), [](auto const& each) { return each.has_value(); });
    auto const viewed = tensors_of(n.arguments[(*source)->argument]);
    std::vector<value_index> const from(viewed.begin(), viewed.end());
    for (value_index each : from)
        if (each != no_value && !state_.is_known(each))
            throw error(describe(program_, n) + ": uses " + program_.values[each].name +
                        ", which no earlier node computes");
    state_.add_views(with_arguments_read(n), views, from);
}

value_index functionalizer::tensor_of(node const& n, std::string_view name) {
    argument const* const a = find_argument(n, name);
    auto const tensors = a == nullptr ? std::span<value_ref const>() : tensors_of(*a);
    if (tensors.size() != 1 || !tensors.front() || !state_.is_known(tensors.front()))
        throw error(describe(program_, n) + ": its argument " + std::string{name} + " is not a tensor");
    return tensors.front();
}

value_index functionalizer::result_of(node const& n, value_index written) {
    bool const has_one = has_one_result(n);
    return has_one ? n.results.front().values.front() : out_.fresh(state_.described_by(written));
}

void functionalizer::same_tensor(node const& n) {
    value_index const self = tensor_of(n, "self");
    for (result const& each : n.results)
        for (value_index v : each.values)
            if (v != no_value) state_.add_same(v, self);
}

void functionalizer::write(value_index written, value_index now, node const& cause) {
    check_write(written, cause);
    state_.write(written, now, cause);
}

void functionalizer::resize(value_index written, value_index now, node const& cause) {
    check_write(written, cause);
    if (is_outer(written))
        throw error(describe(program_, cause) + ": resizes its out tensor, which is in the memory of an input or a "
                                                "buffer; create it with the sizes of the result");
    state_.resize(written, now, cause);
}

void functionalizer::check_write(value_index written, node const& cause) const {
    if (is_main()) check_memory(program_, memory_, state_, written, cause);
    else check_outside(written, cause);
}

bool functionalizer::is_outer(value_index tensor) const {
    return std::any_of(graph_.inputs.begin(), graph_.inputs.end(), [&](value_index each) {
        return each != no_value && state_.is_known(each) && state_.share_memory(each, tensor);
    });
}

void functionalizer::check_outside(value_index written, node const& cause) const {
    for (value_index each : graph_.inputs)
        if (each != no_value && state_.share_memory(each, written))
            throw error(describe(program_, cause) + ": a branch or a loop body writes to " +
                        program_.values[each].name +
                        ", which comes from outside; return the new value and write it after torch.cond or the loop");
}

void functionalizer::finish() {
    std::vector<argument> outputs;
    std::vector<output> kinds;
    if (is_main()) add_mutations(program_, state_, outputs, kinds);
    for (argument& a : graph_.outputs) {
        read_argument(a, last_);
        outputs.push_back(std::move(a));
    }
    graph_.outputs = std::move(outputs);
    graph_.nodes = std::move(out_.nodes());
    if (!is_main()) return;
    std::move(program_.outputs.begin(), program_.outputs.end(), std::back_inserter(kinds));
    program_.outputs = std::move(kinds);
}

void functionalize(program& p, schema_lookup const& schema_of) {
    settle_observers(p);
    auto const writes = [&](node const& n) {
        if (n.kind != node_kind::aten) return is_auto_functionalized(n);
        if (!n.schema.empty()) return updates_statistics(n) || !written_arguments(n.schema).empty();
        return !n.is_functional && schema_of && aten::writes(schema_of(n.op));
    };
    for_each_graph(p, [&](graph& g) {
        for (node& n : g.nodes) { // mark custom operators that do not write
            bool const is_unknown = n.kind == node_kind::aten && n.schema.empty() && !n.results.empty() && schema_of;
            std::string_view const schema = is_unknown ? schema_of(n.op) : std::string_view();
            if (!schema.empty() && !aten::writes(schema)) n.is_functional = true;
        }
        rebase_strides(p, g);
        if (std::any_of(g.nodes.begin(), g.nodes.end(), writes)) functionalizer(p, g, schema_of).run();
    });
}

} // namespace ATON_NAMESPACE::program

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/aten/mutation.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

#include "alias_state.hpp"
#include "custom_operators.hpp"
#include "functional_counterpart.hpp"
#include "input_memory.hpp"
#include "layouts.hpp"
#include "node_arguments.hpp"
#include "node_emitter.hpp"
#include "norm_statistics.hpp"
#include "view_rules.hpp"
#include <aton/program/subgraphs.hpp>

namespace ATON_NAMESPACE::program {

namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, std::string_view const (&names)[N]) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Operators with mutated arguments that have no effect on what the program computes.
bool has_no_effect(std::string_view op) {
    static constexpr std::string_view names[] = {
        "aten::detach_", "aten::requires_grad_", "aten::retain_grad", "aten::record_stream"};
    return is_one_of(op, names);
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

class functionalizer {
public:
    functionalizer(program& p, graph& g, schema_lookup const& schema_of)
        : program_(p),
          graph_(g),
          schema_of_(schema_of),
          old_(std::move(g.nodes)),
          layout_(p),
          out_(p, old_.size()),
          state_(out_, layout_, p.values.size()) {}

    void run() {
        if (is_main()) {
            memory_ = add_inputs(program_, state_);
        } else {
            for (value_index each : graph_.inputs)
                if (each != no_value) state_.add_tensor(each);
        }
        for (node const& each : old_) visit(each);
        finish();
    }

private:
    [[nodiscard]] bool is_main() const { return &graph_ == &program_.main; }

    void visit(node const& n) {
        if (is_auto_functionalized(n)) return visit_functionalized(n);
        if (n.kind != node_kind::aten) return pass(n);
        if (n.schema.empty()) return visit_custom(n);
        if (updates_statistics(n)) return visit_norm(n);
        std::vector<std::string_view> const& written = written_by(n.schema);
        if (written.empty()) return visit_pure(n, n.schema);
        if (has_no_effect(n.op)) return same_tensor(n);
        if (std::string_view const view = view_counterpart(n.op); !view.empty()) return change_view(n, view);
        if (n.op == "aten::resize_" || n.op == "aten::resize_as_") return visit_resize(n);
        if (n.op.starts_with("aten::set_"))
            throw error(describe(program_, n) +
                        ": replaces the memory of a tensor; assign a new tensor to the name instead");
        if (n.op == "aten::copy_") return visit_copy(n);
        if (n.op == "aten::zero_" || n.op == "aten::fill_.Scalar" || n.op == "aten::fill_.Tensor") return visit_fill(n);
        if (n.op == "aten::fill_diagonal_") return visit_fill_diagonal(n);
        visit_write(n, written);
    }

    std::vector<std::string_view> const& written_by(std::string_view schema) {
        auto const [at, is_new] = written_.try_emplace(schema);
        if (is_new) at->second = written_arguments(schema);
        return at->second;
    }

    /// Replaces the tensors of an argument by their current values.
    void read_argument(argument& a, node const& cause) {
        for (value_index& v : a.values)
            if (v != no_value && state_.is_known(v)) v = state_.read(v, cause);
    }

    node with_arguments_read(node n) {
        bool const by_shape = uses_shape_only(n.op);
        for (std::size_t i = 0; i != n.arguments.size(); ++i) {
            argument& each = n.arguments[i];
            bool const is_tensor = each.kind == argument_kind::value && state_.is_known(each.values.front());
            if (i == 0 && by_shape && is_tensor) each.values.front() = state_.shape_of(each.values.front());
            else read_argument(each, n);
        }
        return n;
    }

    /// The node with its tensors replaced by values whose recorded types have their current sizes and strides.
    node with_arguments_described(node n) const {
        for (argument& each : n.arguments)
            for (value_index& v : each.values)
                if (v != no_value && state_.is_known(v)) v = state_.described_by(v);
        return n;
    }

    void add_results(node const& n) {
        for (result const& each : n.results)
            for (value_index v : each.values)
                if (v != no_value) state_.add_tensor(v);
    }

    void pass(node const& n) {
        out_.append(with_arguments_read(n));
        add_results(n);
    }

    void visit_pure(node const& n, std::string_view schema) {
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
        std::vector<value_index> const from = n.arguments[(*source)->argument].values;
        for (value_index each : from)
            if (each != no_value && !state_.is_known(each))
                throw error(describe(program_, n) + ": uses " + program_.values[each].name +
                            ", which no earlier node computes");
        state_.add_views(with_arguments_read(n), views, from);
    }

    /// The tensor of an argument. Throws aton::error if it is not a tensor.
    value_index tensor_of(node const& n, std::string_view name) {
        argument const* const a = find_argument(n, name);
        if (a == nullptr || a->values.size() != 1 || a->values.front() == no_value ||
            !state_.is_known(a->values.front()))
            throw error(describe(program_, n) + ": its argument " + std::string{name} + " is not a tensor");
        return a->values.front();
    }

    static bool has_one_result(node const& n) {
        return n.results.size() == 1 && n.results.front().values.size() == 1 &&
               n.results.front().values.front() != no_value;
    }

    /// The result, or a new value of the type of `written` if there is none.
    value_index result_of(node const& n, value_index written) {
        bool const has_one = has_one_result(n);
        return has_one ? n.results.front().values.front() : out_.fresh(state_.described_by(written));
    }

    void same_tensor(node const& n) {
        value_index const self = tensor_of(n, "self");
        for (result const& each : n.results)
            for (value_index v : each.values)
                if (v != no_value) state_.add_same(v, self);
    }

    void write(value_index written, value_index now, node const& cause) {
        if (is_main()) check_memory(program_, memory_, state_, written, cause);
        else check_outside(written, cause);
        state_.write(written, now, cause);
    }

    /// Refuses writes of branches and loop bodies to tensors of outer graphs.
    void check_outside(value_index written, node const& cause) const {
        for (value_index each : graph_.inputs)
            if (each != no_value && state_.share_memory(each, written))
                throw error(
                    describe(program_, cause) + ": a branch or a loop body writes to " + program_.values[each].name +
                    ", which comes from outside; return the new value and write it after torch.cond or the loop");
    }

    void change_view(node const& n, std::string_view op) {
        value_index const self = tensor_of(n, "self");
        if (!has_one_result(n)) throw error(describe(program_, n) + ": has no result");
        node view = n;
        view.op = op;
        view.schema = aten::find_schema(op);
        std::optional<view_of> const found = find_view(program_, layout_, with_arguments_described(view), 0, 0);
        state_.change_view(
            with_arguments_read(std::move(view)), found.value_or(view_of{view_rule::unknown, 0, 0}), self);
    }

    void visit_resize(node const& n) {
        value_index const self = tensor_of(n, "self");
        if (!layout_.same_sizes(state_.described_by(self), result_of(n, self)))
            throw error(describe(program_, n) + ": changes the number of elements of a tensor; make a new tensor");
        same_tensor(n);
    }

    void visit_copy(node const& n) {
        value_index const self = tensor_of(n, "self");
        value_index const source = tensor_of(n, "src");
        value_index const made = result_of(n, self);
        if (!state_.are_same(self, source)) {
            bool const same_sizes = layout_.same_sizes(state_.described_by(self), state_.described_by(source));
            value_index now = state_.read(source, n);
            if (!same_sizes) {
                now = out_.emit(
                    "aten::copy", n, {value_argument("self", state_.shape_of(self)), value_argument("src", now)}, made);
            } else if (!layout_.same_type(self, source)) {
                now = out_.emit("aten::_to_copy",
                                n,
                                {value_argument("self", now), type_argument("dtype", program_.values[self].type)},
                                made);
            }
            write(self, now, n);
        }
        same_tensor(n);
    }

    void visit_fill(node const& n) {
        value_index const self = tensor_of(n, "self");
        argument const* const given = find_argument(n, "value");
        argument number = given == nullptr ? integer_argument("value", 0) : *given;
        read_argument(number, n);
        std::string_view const op = n.op == "aten::fill_.Tensor" ? "aten::fill.Tensor" : "aten::fill.Scalar";
        value_index const now =
            out_.emit(op, n, {value_argument("self", state_.shape_of(self)), std::move(number)}, result_of(n, self));
        write(self, now, n);
        same_tensor(n);
    }

    void visit_fill_diagonal(node const& n) {
        value_index const self = tensor_of(n, "self");
        value_index const made = result_of(n, self);
        value_index const described = state_.described_by(self);
        auto const layout = layout_.of(described);
        argument const* const number = find_argument(n, "fill_value");
        // With wrap, the diagonal of a tall matrix continues at the top; with more than two dimensions, it is that of a cube.
        bool const plain = layout && layout->sizes.size() == 2 &&
                           (!boolean_of(n, "wrap", false) || layout->sizes[0] <= layout->sizes[1]);
        if (!plain || number == nullptr)
            throw error(describe(program_, n) +
                        ": is supported only for matrices, and without wrap; fill torch.diagonal() instead");
        value_index const now = state_.read(self, n);
        value along = program_.values[described];
        std::size_t const shorter = layout->sizes[0] <= layout->sizes[1] ? 0 : 1;
        along.sizes = {along.sizes[shorter]};
        along.strides = {extent{1, extent::none}};
        value_index const diagonal = out_.emit("aten::diagonal", n, {value_argument("self", now)}, out_.fresh(along));
        value_index const filled = out_.emit("aten::fill.Scalar",
                                             n,
                                             {value_argument("self", diagonal), renamed(*number, "value")},
                                             out_.fresh(std::move(along)));
        write(
            self,
            out_.emit("aten::diagonal_scatter", n, {value_argument("self", now), value_argument("src", filled)}, made),
            n);
        same_tensor(n);
    }

    void visit_norm(node const& n) {
        value_index const mean = tensor_of(n, "running_mean");
        value_index const variance = tensor_of(n, "running_var");
        running_statistics const now = emit_with_statistics(out_, with_arguments_read(n));
        add_results(n);
        write(mean, now.mean, n);
        write(variance, now.variance, n);
    }

    /// An operator that torch does not declare.
    void visit_custom(node const& n) {
        std::string_view const schema = custom_schema(n.op);
        if (schema.empty()) return pass(n);
        custom_operator const op = read_custom_operator(schema);
        if (op.written.empty()) return visit_pure(n, schema);
        if (n.is_functional) return pass(n);
        if (op.returns_view)
            throw error(describe(program_, n) + ": writes to an argument, and a result is a view of one by its schema; "
                                                "return a copy");
        write_custom(n, op);
    }

    [[nodiscard]] std::string_view custom_schema(std::string_view op) const {
        return schema_of_ ? schema_of_(op) : std::string_view();
    }

    /// auto_functionalized: calls the operator on copies of its mutated arguments.
    void visit_functionalized(node const& n) {
        decoded_call const made = decode_functionalized(out_, n, custom_schema(functionalized_operator(program_, n)));
        for (node const& each : made.before) visit_pure(each, each.schema);
        if (made.call.is_functional) return pass(made.call);
        if (made.op.returns_view)
            throw error(describe(program_, n) + ": " + made.call.op +
                        " writes to an argument, and a result is a view of one by its schema; return a copy");
        write_custom(made.call, made.op);
    }

    /// Emits the functional form: the results of the schema, then the new values of mutated arguments that it does not return.
    void write_custom(node const& n, custom_operator const& op) {
        if (n.results.size() != op.results)
            throw error(describe(program_, n) + ": has " + std::to_string(n.results.size()) +
                        " results, its schema has " + std::to_string(op.results));
        for (written_argument const& each : op.written) check_disjoint(n, each);
        node made = with_arguments_read(n);
        made.is_functional = true;
        made.results.clear();
        std::vector<std::pair<value_index, value_index>> writes;
        for (std::size_t i = 0; i != n.results.size(); ++i) {
            auto const same = std::find_if(
                op.written.begin(), op.written.end(), [i](written_argument const& each) { return each.result == i; });
            if (same != op.written.end()) {
                made.results.push_back(new_values(n, *same, n.results[i], writes));
                continue;
            }
            made.results.push_back(n.results[i]);
            for (value_index v : n.results[i].values)
                if (v != no_value) state_.add_tensor(v);
        }
        for (written_argument const& each : op.written)
            if (each.result == written_argument::npos) made.results.push_back(new_values(n, each, {}, writes));
        out_.append(std::move(made));
        for (auto const& [tensor, now] : writes) write(tensor, now, n);
    }

    /// Refuses mutated arguments that share memory with other arguments: the effect depends on the operator.
    void check_disjoint(node const& n, written_argument const& written) const {
        argument const* const to = find_argument(n, written.name);
        if (to == nullptr) return;
        for (std::size_t i = 0; i != to->values.size(); ++i) {
            value_index const v = to->values[i];
            if (v == no_value || !state_.is_known(v))
                if (v != no_value || to->kind == argument_kind::value)
                    throw error(describe(program_, n) + ": its argument " + written.name + " is not a tensor");
            if (v == no_value) continue;
            for (argument const& a : n.arguments)
                for (std::size_t k = 0; k != a.values.size(); ++k) {
                    bool const is_itself = &a == to && k == i;
                    if (is_itself || a.values[k] == no_value || !state_.is_known(a.values[k])) continue;
                    if (!state_.are_disjoint(v, a.values[k]))
                        throw error(describe(program_, n) + ": writes to its argument " + written.name +
                                    ", which shares memory with its argument " + a.name + "; pass a clone()");
                }
        }
    }

    /// The new values of a mutated argument, named like the result `named` of the schema that returns it, if any.
    result new_values(node const& n, written_argument const& written, result const& named,
                      std::vector<std::pair<value_index, value_index>>& writes) {
        result out;
        argument const* const to = find_argument(n, written.name);
        if (to == nullptr || to->kind == argument_kind::none) return out;
        out.is_list = to->kind == argument_kind::values;
        for (std::size_t i = 0; i != to->values.size(); ++i) {
            value_index const tensor = to->values[i];
            if (tensor == no_value) continue;
            bool const is_named = named.values.size() == to->values.size() && named.values[i] != no_value;
            value_index const now = is_named ? named.values[i] : out_.fresh(state_.described_by(tensor));
            if (is_named) state_.add_same(now, tensor);
            out.values.push_back(now);
            writes.emplace_back(tensor, now);
        }
        return out;
    }

    /// The general case: emits the functional counterpart and writes its results.
    void visit_write(node const& n, std::vector<std::string_view> const& written) {
        auto const [at, is_new] = counterparts_.try_emplace(n.schema);
        if (is_new) at->second = find_counterpart(n.schema);
        std::optional<counterpart> const& found = at->second;
        if (!found)
            throw error(describe(program_, n) + ": writes to " + std::string{written.front()} +
                        ", and torch has no functional operator for it; rewrite the model without it");
        counterpart const& to = *found;
        node made = n;
        made.op = to.op;
        made.schema = to.schema;
        std::erase_if(made.arguments, [&](argument const& a) {
            return std::find(to.dropped.begin(), to.dropped.end(), a.name) != to.dropped.end();
        });
        for (argument& each : made.arguments) {
            read_argument(each, n);
            for (auto const& [from, name] : to.renamed)
                if (each.name == from) {
                    each.name = name;
                    break;
                }
        }
        made.results.clear();
        std::vector<std::pair<value_index, value_index>> writes; // tensors and their new values
        std::vector<std::pair<value_index, value_index>> casts;
        for (counterpart_result const& each : to.results) make_result(n, to, each, made, writes, casts);
        out_.append(made);
        for (auto const& [from, cast] : casts) {
            dtype const type = program_.values[cast].type;
            out_.emit("aten::_to_copy", n, {value_argument("self", from), type_argument("dtype", type)}, cast);
        }
        for (auto const& [tensor, now] : writes) write(tensor, now, n);
    }

    /// Adds one result to `made`, and the writes and casts that follow from it.
    void make_result(node const& n, counterpart const& to, counterpart_result const& r, node& made,
                     std::vector<std::pair<value_index, value_index>>& writes,
                     std::vector<std::pair<value_index, value_index>>& casts) {
        result const* const original = r.original < n.results.size() ? &n.results[r.original] : nullptr;
        if (r.written == counterpart_result::npos) {
            made.results.push_back(original == nullptr ? result{} : *original);
            for (value_index v : made.results.back().values)
                if (v != no_value) state_.add_tensor(v);
            return;
        }
        argument const* const target = find_argument(n, to.written[r.written]);
        result computed;
        computed.is_list = target != nullptr && target->kind == argument_kind::values;
        std::size_t const count = target == nullptr ? 0 : target->values.size();
        for (std::size_t i = 0; i != count; ++i) {
            value_index const tensor = target->values[i];
            if (tensor == no_value || !state_.is_known(tensor))
                throw error(describe(program_, n) + ": its argument " + target->name + " is not a tensor");
            bool const is_named =
                original != nullptr && original->values.size() == count && original->values[i] != no_value;
            value_index const now = is_named ? original->values[i] : out_.fresh(state_.described_by(tensor));
            value_index const described = state_.described_by(tensor);
            check_sizes(n, described, now);
            value_index from = now;
            dtype const type = program_.values[tensor].type;
            std::optional<dtype> const natural = natural_type(program_, made, type);
            if (!natural)
                throw error(describe(program_, n) +
                            ": writes to a tensor whose dtype is not the one that it computes in; cast first");
            if (program_.values[tensor].has_type && *natural != type) {
                from = out_.fresh(now);
                program_.values[from].type = *natural;
                casts.emplace_back(from, now);
            }
            computed.values.push_back(from);
            if (is_named) state_.add_same(now, tensor);
            writes.emplace_back(tensor, now);
        }
        made.results.push_back(std::move(computed));
    }

    /// Refuses out tensors that the operator would resize.
    void check_sizes(node const& n, value_index tensor, value_index now) {
        auto const before = layout_.of(tensor);
        auto const after = layout_.of(now);
        if (before && after && before->sizes != after->sizes)
            throw error(describe(program_, n) + ": resizes its out tensor; create it with the sizes of the result");
    }

    void finish() {
        std::vector<argument> outputs;
        std::vector<output> kinds;
        if (is_main()) add_mutations(program_, state_, outputs, kinds);
        for (argument& a : graph_.outputs) {
            for (value_index& v : a.values)
                if (v != no_value && state_.is_known(v)) v = state_.read(v, last_);
            outputs.push_back(std::move(a));
        }
        graph_.outputs = std::move(outputs);
        graph_.nodes = std::move(out_.nodes());
        if (!is_main()) return;
        std::move(program_.outputs.begin(), program_.outputs.end(), std::back_inserter(kinds));
        program_.outputs = std::move(kinds);
    }

    program& program_;
    graph& graph_;
    schema_lookup const& schema_of_;
    std::vector<node> old_;
    layouts layout_;
    node_emitter out_;
    alias_state state_;
    input_memory memory_;
    node last_ = output_node();
    std::unordered_map<std::string_view, std::vector<std::string_view>> written_;
    std::unordered_map<std::string_view, std::optional<counterpart>> counterparts_;

    static node output_node() {
        node n;
        n.op = "output";
        return n;
    }
};

} // namespace

void functionalize(program& p, schema_lookup const& schema_of) {
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
        if (std::any_of(g.nodes.begin(), g.nodes.end(), writes)) functionalizer(p, g, schema_of).run();
    });
}

} // namespace ATON_NAMESPACE::program

// SPDX-License-Identifier: MIT
#include "result_types.hpp"

#include <algorithm>

#include <aton/aten/schema_table.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using sizes = std::vector<std::optional<program::extent>>;

program::argument const* find_argument(program::node const& n, std::string_view name) {
    auto const found = std::find_if(
        n.arguments.begin(), n.arguments.end(), [&](program::argument const& a) { return a.name == name; });
    return found == n.arguments.end() ? nullptr : &*found;
}

/// In-place operators that change the sizes of their argument, and what computes the new sizes.
std::string_view resizing(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> all[] = {{"unsqueeze_", "aten::unsqueeze"},
                                                                     {"t_", "aten::t"},
                                                                     {"transpose_", "aten::transpose.int"},
                                                                     {"swapaxes_", "aten::swapaxes"},
                                                                     {"swapdims_", "aten::swapdims"},
                                                                     {"squeeze_", "aten::squeeze"}};
    for (auto const& [in_place, view] : all)
        if (in_place == name) return view;
    return {};
}

bool is_in_place(overload const& o) {
    return !o.arguments.empty() && !o.returns.empty() && o.arguments[0].type.mutates && o.returns[0].type.mutates &&
           o.returns.size() == 1;
}

} // namespace

inferred_type result_types::type_of(program::value_index v) const {
    if (auto const now = resized_.find(v); now != resized_.end()) v = now->second;
    program::value const& known = build_.value_at(v);
    inferred_type out;
    out.type = known.type;
    out.has_rank = known.has_type;
    for (program::extent const& e : known.sizes) out.sizes.emplace_back(e);
    return out;
}

/// The sizes of a view with these sizes, one of which may be -1 and stays unknown if it cannot be computed; nothing if they are invalid.
std::optional<sizes> result_types::reshaped(inferred_type const& from, program::argument const& to) {
    sizes out;
    std::optional<std::size_t> open;
    program::expression known;
    known.kind = program::expression_kind::mul;
    for (program::number const& each : to.numbers) {
        if (each.integer() == -1) {
            if (open) return {};
            open = out.size();
            out.emplace_back();
            continue;
        }
        program::extent const e = each.is_computed()
                                      ? build_.extent_of(value::of(kind::symbol, each.computed))
                                      : program::extent{each.integer().value_or(0), program::extent::none};
        if (e.is_number() && e.number < 0) return {};
        known.operands.push_back(build_.expression_of(e));
        out.emplace_back(e);
    }
    if (!open) return out;
    // Equal factors of both products are left out; the rest is divided if it consists of numbers.
    program::expression all;
    all.kind = program::expression_kind::mul;
    for (auto const& each : from.sizes) {
        if (!each) return out;
        all.operands.push_back(build_.expression_of(*each));
    }
    std::vector<program::expression> factors;
    std::int64_t number = 1;
    auto const collect = [&](program::expression const& product, auto const& add) {
        program::expression const plain = program::substitute(product, {});
        if (plain.kind != program::expression_kind::mul) return add(plain);
        for (program::expression const& each : plain.operands) add(each);
    };
    collect(all, [&](program::expression const& each) {
        if (each.kind != program::expression_kind::integer) factors.push_back(each);
        else if (__builtin_mul_overflow(number, each.number, &number)) number = 0;
    });
    bool is_exact = number != 0;
    collect(known, [&](program::expression const& each) {
        if (each.kind == program::expression_kind::integer) {
            is_exact = is_exact && each.number > 0 && number % each.number == 0;
            if (is_exact) number /= each.number;
            return;
        }
        auto const same = std::find(factors.begin(), factors.end(), each);
        if (same == factors.end()) is_exact = false;
        else factors.erase(same);
    });
    if (!is_exact) return out;
    program::expression rest;
    rest.kind = program::expression_kind::mul;
    rest.operands = std::move(factors);
    program::expression n;
    n.number = number;
    rest.operands.push_back(n);
    out[*open] = build_.extent_of(std::move(rest));
    return out;
}

/// The type of the single result of an operator whose sizes are arguments.
std::optional<inferred_type> result_types::type_by_rule(program::node const& n) {
    std::string_view const name = operator_name(n.op);
    program::argument const* const self = find_argument(n, "self");
    bool const is_view = name == "view" || name == "reshape" || name == "_unsafe_view" || name == "_reshape_alias";
    if (is_view && self != nullptr && self->kind == program::argument_kind::tensor) {
        program::argument const* const to = find_argument(n, name == "reshape" ? "shape" : "size");
        if (to == nullptr || to->kind != program::argument_kind::numbers) return {};
        inferred_type out = type_of(self->tensor);
        std::optional<sizes> made = reshaped(out, *to);
        if (!made) return {};
        out.sizes = *std::move(made);
        return out;
    }
    if (name == "dropout" || name == "feature_dropout" || name == "contiguous" || name == "detach" || name == "alias" ||
        name == "clone") {
        program::argument const* const x = self != nullptr ? self : find_argument(n, "input");
        if (x != nullptr && x->kind == program::argument_kind::tensor) return type_of(x->tensor);
    }
    return {};
}

/// Whether two tensors certainly have other sizes: for all values of the symbols.
bool result_types::have_other_sizes(inferred_type const& a, inferred_type const& b) const {
    if (a.sizes.size() != b.sizes.size()) return true;
    for (std::size_t i = 0; i != a.sizes.size(); ++i) {
        if (!a.sizes[i] || !b.sizes[i]) continue;
        bounds const range = build_.bounds_of_difference(*a.sizes[i], *b.sizes[i]);
        if ((range.min && *range.min > 0) || (range.max && *range.max < 0)) return true;
    }
    return false;
}

/// The types of the results of an operator that writes all of them to arguments (out=): the dtypes of the arguments, which get the sizes of
/// what is computed.
std::vector<inferred_result> result_types::types_of_outs(program::node const& n, overload const& o) {
    std::vector<inferred_result> out;
    for (auto const& each : o.arguments) {
        if (!each.type.mutates) continue;
        program::argument const* const written = find_argument(n, each.name);
        if (written == nullptr || written->kind != program::argument_kind::tensor) return {};
        out.push_back({{type_of(written->tensor)}, false});
    }
    bool const all = std::all_of(o.returns.begin(), o.returns.end(), [](auto const& r) { return r.type.mutates; });
    if (!o.is_torchs || !all || out.size() != o.returns.size()) return {};
    std::optional<program::node> const computed = program::functional_form(n);
    if (!computed) return out;
    std::vector<inferred_result> const now = infer_now(*computed);
    for (std::size_t i = 0; i < std::min(out.size(), now.size()); ++i)
        if (now[i].types.size() == 1 && now[i].types[0].has_rank && have_other_sizes(out[i].types[0], now[i].types[0]))
            out[i].types[0].sizes = now[i].types[0].sizes;
    return out;
}

std::vector<inferred_result> result_types::types_of(program::node const& n, overload const& o) {
    std::string_view const name = operator_name(n.op);
    if (o.is_torchs && is_in_place(o)) {
        program::argument const& self = n.arguments.front();
        if (std::string_view const view = resizing(name); !view.empty()) {
            program::node made = n;
            made.op = view;
            if (name == "squeeze_" && n.op.find('.') != std::string::npos) made.op += n.op.substr(n.op.find('.'));
            made.schema = aten::find_schema(made.op);
            return infer_(build_.made(), made, nullptr);
        }
        if (self.kind != program::argument_kind::tensor) at_.fail("writes to a value that is not a tensor");
        return {{{type_of(self.tensor)}, false}};
    }
    if (o.returns.empty()) return {};
    if (std::vector<inferred_result> written = types_of_outs(n, o); !written.empty()) return written;
    std::optional<known_elements> const known = o.is_torchs ? elements_.of_operands(n) : std::nullopt;
    if (known) return infer_now(n, &*known);
    if (std::optional<inferred_type> type = type_by_rule(n); type && o.returns.size() == 1)
        return {{{*std::move(type)}, false}};
    return infer_now(n);
}

/// The types of the results of a node whose operands may have been resized.
std::vector<inferred_result> result_types::infer_now(program::node asked, known_elements const* elements) {
    for (program::argument& a : asked.arguments)
        program::for_each_value(a, [&](program::value_index& v) {
            if (auto const now = resized_.find(v); now != resized_.end()) v = now->second;
        });
    std::vector<inferred_result> out = infer_(build_.made(), asked, elements);
    if (out.size() == 1 && out[0].types.size() == 1) complete_sizes(asked, out[0].types[0]);
    return out;
}

/// The sizes of operators that get them as an argument, where inference knows less.
void result_types::complete_sizes(program::node const& n, inferred_type& type) {
    constexpr std::string_view makers[] = {
        "zeros", "ones", "full", "empty", "rand", "randn", "new_zeros", "new_ones", "new_full", "new_empty", "expand"};
    std::string_view const name = operator_name(n.op);
    if (std::find(std::begin(makers), std::end(makers), name) == std::end(makers)) return;
    program::argument const* const wanted = find_argument(n, "size");
    if (wanted == nullptr || wanted->kind != program::argument_kind::numbers) return;
    if (!type.has_rank) {
        type.has_rank = true;
        type.sizes.assign(wanted->numbers.size(), std::nullopt);
    }
    for (std::size_t i = 0; i != type.sizes.size() && i < wanted->numbers.size(); ++i) {
        program::number const& each = wanted->numbers[i];
        if (type.sizes[i] || (each.integer().has_value() && *each.integer() < 0)) continue;
        type.sizes[i] = each.is_computed() ? build_.extent_of(value::of(kind::symbol, each.computed))
                                           : program::extent{each.integer().value_or(0), program::extent::none};
    }
}

bool result_types::note_resized(program::node const& n, overload const& o) {
    if (!o.is_torchs || !is_in_place(o) || resizing(operator_name(n.op)).empty()) return false;
    resized_[n.arguments.front().tensor] = n.results[0].values[0];
    return true;
}

/// Tensors that a call with out= has given other sizes.
void result_types::note_resized_outs(program::node const& n, overload const& o) {
    if (!o.is_torchs || is_in_place(o)) return;
    std::size_t i = 0;
    for (auto const& each : o.arguments) {
        if (!each.type.mutates || i == n.results.size() || n.results[i].values.size() != 1) continue;
        program::value_index const now = n.results[i++].values[0];
        program::argument const* const written = find_argument(n, each.name);
        if (written == nullptr || written->kind != program::argument_kind::tensor) continue;
        if (have_other_sizes(type_of(written->tensor), type_of(now))) resized_[written->tensor] = now;
    }
}

} // namespace ATON_NAMESPACE::torchscript

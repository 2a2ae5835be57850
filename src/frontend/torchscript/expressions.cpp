// SPDX-License-Identifier: MIT
// Evaluates expressions: literals, names, attributes, items, and calls by the kind of what is called.
#include "interpreter.hpp"

#include <utility>

#include "declared_types.hpp"
#include "frontend/files/text.hpp"
#include "made_code.hpp"
#include "texts.hpp"

namespace ATON_NAMESPACE::torchscript {

using files::in_quotes;

value interpreter::evaluate(expr const& e) {
    at_.spend(1);
    if (e.line != 0) at_.go_to(e);
    auto const all = [&] {
        std::vector<value> out;
        for (expr const& each : e.items) out.push_back(evaluate(each));
        return out;
    };
    switch (e.is) {
    case expr_kind::none: return {};
    case expr_kind::boolean: return value::of(e.integer != 0);
    case expr_kind::integer: return value::of(e.integer);
    case expr_kind::real: return value::of(e.real);
    case expr_kind::complex: return value::of(scalar::complex(e.real, e.imaginary));
    case expr_kind::text: return value::of(kind::text, e.text);
    case expr_kind::name: return evaluate_name(e);
    case expr_kind::attribute: {
        value const owner = evaluate(e.items[0]);
        at_.go_to(e);
        return lookup_.attribute_of(owner, e.text);
    }
    case expr_kind::subscript: {
        value const owner = evaluate(e.items[0]);
        return containers_.item_of(owner, evaluate(e.items[1]));
    }
    case expr_kind::call: return evaluate_call(e);
    case expr_kind::list: return heap_.list(all());
    case expr_kind::tuple: return heap_.tuple(all());
    case expr_kind::dict: {
        value out = heap_.dict();
        std::vector<value> const items = all();
        for (std::size_t i = 0; i + 1 < items.size(); i += 2)
            (void)containers_.call("_set_item", {out, items[i], items[i + 1]});
        return out;
    }
    case expr_kind::conditional: {
        value const condition = evaluate(e.items[1]);
        std::optional<bool> const holds = values_.decide(condition);
        if (holds) return evaluate(e.items[*holds ? 0 : 2]);
        stmt const& both_ways = made_.emplace_back(branches_of(e, "#value" + std::to_string(made_.size() + 1)));
        (void)run_cond(both_ways, condition);
        return at_.current()->variables.at(both_ways.body[0].targets[0].text);
    }
    case expr_kind::negative: return call_path("torch.neg", {{evaluate(e.items[0])}, {}});
    }
    return {};
}

value interpreter::evaluate_name(expr const& e) {
    if (value const* const known = at_.find_variable(e.text)) return *known;
    if (e.text == "torch" || e.text == "ops" || e.text == "__torch__" || e.text == "CONSTANTS" || e.text == "math")
        return value::of(kind::path, e.text);
    at_.fail("the variable " + in_quotes(e.text) + " has no value");
}

call_arguments interpreter::evaluate_arguments(expr const& e) {
    call_arguments out;
    std::size_t const first_named = e.items.size() - e.keywords.size();
    for (std::size_t i = 1; i != e.items.size(); ++i) {
        value v = evaluate(e.items[i]);
        if (i < first_named) out.positional.push_back(std::move(v));
        else out.named.emplace_back(e.keywords[i - first_named], std::move(v));
    }
    return out;
}

value interpreter::evaluate_call(expr const& e) {
    expr const& callee = e.items[0];
    if (callee.is == expr_kind::name && at_.find_variable(callee.text) == nullptr)
        if (std::optional<value> out = call_special(e, callee.text)) return *std::move(out);
    if (callee.is == expr_kind::attribute && callee.text == "tolist" && e.items.size() == 1)
        if (value const owner = evaluate(callee.items[0]); owner.acts_as_tensor()) return questions_.to_list(owner);
    value const function = evaluate(callee);
    call_arguments given = evaluate_arguments(e);
    at_.go_to(e);
    std::optional<value> out = call_on_either(function, given);
    return out ? *std::move(out) : call(function, std::move(given));
}

value interpreter::call(value const& function, call_arguments given) {
    switch (function.is()) {
    case kind::function:
        if (function.object() != nullptr)
            given.positional.insert(given.positional.begin(), value::of(function.object()));
        return call_function(*function.function(), std::move(given));
    case kind::type: return construct(*function.type(), std::move(given));
    case kind::path: return call_path(function.name(), given);
    default: at_.fail("calls " + std::string(describe(function)));
    }
}

/// fork(f): what f returns. It runs at once, which no other part of the model can tell, and wait() returns it.
value interpreter::run_fork(expr const& e) {
    auto const closure = at_.current()->closures.find(e.items[1].text);
    if (closure == at_.current()->closures.end()) at_.fail("calls fork() of a function that is not in the archive");
    value const outside = std::exchange(at_.current()->result, {});
    (void)run_block(closure->second->body);
    at_.go_to(e);
    return std::exchange(at_.current()->result, outside);
}

/// Functions whose arguments are types, and those of Python itself.
std::optional<value> interpreter::call_special(expr const& e, std::string_view name) {
    std::size_t const count = e.items.size() - 1;
    if (name == "uninitialized") return value::of(kind::nothing, std::string());
    if ((name == "annotate" || name == "unchecked_cast") && count == 2) {
        value out = evaluate(e.items[2]);
        if (name == "unchecked_cast") out = without_none(out);
        // The serializer writes aten::IntImplicit and its like so: a tensor where a number is expected.
        std::string_view const type = e.items[1].text;
        bool const is_number = type == "int" || type == "float" || type == "number";
        if (name == "annotate" && is_number && (out.is() == kind::tensor || out.is() == kind::weight))
            return values_.convert_number(type == "number" ? "item" : type, out);
        if (out.is() == kind::list && out.list()->items.empty()) out.list()->element = element_type(e.items[1]);
        return out;
    }
    if (name == "isinstance" && count == 2)
        return value::of(is_instance(evaluate(e.items[1]), e.items[2], build_, at_));
    if (name == "fork" && count == 1) return run_fork(e);
    if (name == "awaitable") at_.fail("calls " + in_quotes(name) + ", which is not supported");
    call_arguments const given = evaluate_arguments(e);
    std::vector<value> const& x = given.positional;
    at_.go_to(e);
    if (name == "getattr" && x.size() == 2 && x[1].text() != nullptr) return lookup_.attribute_of(x[0], *x[1].text());
    if ((name == "int" || name == "float" || name == "bool") && x.size() == 1)
        return values_.convert_number(name, x[0]);
    if (name == "sorted" && x.size() == 1 && x[0].is() == kind::list)
        return heap_.list(comparisons_.sorted(x[0].list()->items, false));
    if (std::optional<value> out = numbers_.call_builtin(name, x)) return out;
    if (name == "str" && x.size() == 1) return made_text(at_, text_of(x[0]));
    if (name == "print") {
        build_.drop("print");
        return value{};
    }
    if (name == "range" && !x.empty() && x.size() <= 3) {
        std::int64_t bounds[3] = {0, 0, 1};
        for (std::size_t i = 0; i != x.size(); ++i) {
            if (x[i].is() == kind::symbol) at_.fail_undecidable("the number of steps of a loop", x[i]);
            std::optional<std::int64_t> const bound = x[i].integer();
            if (!bound) at_.fail("range() of " + std::string(describe(x[i])));
            bounds[x.size() == 1 ? 1 : i] = *bound;
        }
        if (bounds[2] == 0) at_.fail("range() with a step of 0");
        std::vector<value> out;
        for (std::int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1];) {
            at_.spend(4); // the items stay until the end
            out.push_back(value::of(i));
            if (__builtin_add_overflow(i, bounds[2], &i)) break;
        }
        return heap_.list(std::move(out));
    }
    at_.fail("calls " + in_quotes(name) + ", which is not supported");
}

} // namespace ATON_NAMESPACE::torchscript

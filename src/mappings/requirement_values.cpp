// SPDX-License-Identifier: MIT
// The values of the terms in conditions, and what is computed with them.
#include "requirement_values.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <aton/aten/default_argument.hpp>
#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/dsl/number_text.hpp>

namespace ATON_NAMESPACE::mappings {

namespace {

using kind = dsl::argument_kind;
using form = quantity::form;

std::string to_text(std::optional<double> const& n) {
    if (!n) return "?";
    if (*n == std::round(*n) && std::abs(*n) < 9e15) return std::to_string(static_cast<std::int64_t>(*n));
    return dsl::detail::to_text(scalar(*n));
}

std::optional<double> constant(dsl::number const& n) {
    if (!n.is_constant() || n.constant().is_complex()) return {};
    scalar const& x = n.constant();
    return x.is_bool() ? (x.to<bool>() ? 1.0 : 0.0) : x.to<double>();
}

/// The index of an axis counted from either end.
std::optional<std::size_t> index_of(quantity const& axis, std::size_t rank) {
    if (axis.is != form::number) return {};
    double const at = *axis.elements[0] < 0 ? *axis.elements[0] + static_cast<double>(rank) : *axis.elements[0];
    return at >= 0 && at < static_cast<double>(rank) ? std::optional(static_cast<std::size_t>(at)) : std::nullopt;
}

std::optional<double> number_in(quantity const& q) { return q.is == form::number ? q.elements[0] : std::nullopt; }

template <class Holds>
truth all_of(std::size_t n, Holds const& holds) {
    truth out = truth::yes;
    for (std::size_t i = 0; i != n; ++i) {
        std::optional<bool> const one = holds(i);
        if (one && !*one) return truth::no;
        if (!one) out = truth::unknown;
    }
    return out;
}

// The functions of lists. Each returns an unknown quantity, or unknown, if the operands do not decide.

quantity product(quantity const& list) {
    if (list.is != form::list) return {};
    double out = 1;
    for (std::optional<double> const& n : list.elements) {
        if (!n) return {};
        out *= *n;
    }
    return number_quantity(out);
}

quantity part(quantity const& list, quantity const& count, bool last) {
    if (list.is != form::list || count.is != form::number) return {};
    double const n = *count.elements[0];
    if (n < 0 || n > static_cast<double>(list.elements.size())) return {};
    auto const k = static_cast<std::ptrdiff_t>(n);
    unsure_numbers const& all = list.elements;
    return list_quantity(last ? unsure_numbers(all.end() - k, all.end())
                              : unsure_numbers(all.begin(), all.begin() + k));
}

quantity item(quantity const& list, quantity const& axis) {
    std::optional<std::size_t> const at = index_of(axis, list.elements.size());
    return list.is == form::list && at && list.elements[*at] ? number_quantity(*list.elements[*at]) : quantity{};
}

quantity without(quantity list, quantity const& axis) {
    std::optional<std::size_t> const at = index_of(axis, list.elements.size());
    if (list.is != form::list || !at) return {};
    list.elements.erase(list.elements.begin() + static_cast<std::ptrdiff_t>(*at));
    return list;
}

quantity from_the_front(quantity list, quantity const& rank) {
    if (list.is == form::number) list.is = form::list;
    if (list.is != form::list || rank.is != form::number) return {};
    for (std::optional<double>& n : list.elements)
        if (n && *n < 0) *n += std::max(1.0, *rank.elements[0]);
    return list;
}

quantity sliced(quantity const& size, quantity const& start, quantity const& end, quantity const& step) {
    std::optional<double> const n = number_in(size);
    std::optional<double> const by = number_in(step);
    auto const bound = [&](quantity const& q, double if_none) -> std::optional<double> {
        if (q.is == form::none) return if_none;
        std::optional<double> const at = number_in(q);
        if (!at) return {};
        return std::clamp(*at < 0 ? *at + *n : *at, 0.0, *n);
    };
    if (!n || !by || *by < 1) return {};
    std::optional<double> const from = bound(start, 0);
    std::optional<double> const to = bound(end, *n);
    if (!from || !to) return {};
    return number_quantity(std::max(0.0, std::ceil((*to - *from) / *by)));
}

truth is_distinct(quantity const& list) {
    if (list.is != form::list) return truth::unknown;
    return all_of(list.elements.size(), [&](std::size_t i) -> std::optional<bool> {
        std::optional<double> const& n = list.elements[i];
        if (!n) return {};
        return std::count(list.elements.begin(), list.elements.end(), n) == 1;
    });
}

truth is_same(quantity const& q) {
    if (q.is == form::types)
        return all_of(q.types.size(), [&](std::size_t i) -> std::optional<bool> {
            if (q.types[i] == dtype::undefined || q.types[0] == dtype::undefined) return {};
            return q.types[i] == q.types[0];
        });
    if (q.is != form::list) return truth::unknown;
    return all_of(q.elements.size(), [&](std::size_t i) -> std::optional<bool> {
        if (!q.elements[i] || !q.elements[0]) return {};
        return *q.elements[i] == *q.elements[0];
    });
}

truth expands(quantity const& from, quantity const& to) {
    if (from.is != form::list || to.is != form::list) return truth::unknown;
    if (from.elements.size() > to.elements.size()) return truth::no;
    std::size_t const off = to.elements.size() - from.elements.size();
    return all_of(from.elements.size(), [&](std::size_t i) -> std::optional<bool> {
        std::optional<double> const& a = from.elements[i];
        std::optional<double> const& b = to.elements[i + off];
        if (!a || (!b && *a != 1)) return {};
        return *a == 1 || *a == *b;
    });
}

truth is_within(quantity const& a, quantity const& b, quantity const& axis) {
    if (a.is != form::list || b.is != form::list || a.elements.size() != b.elements.size()) return truth::unknown;
    std::optional<std::size_t> const free = index_of(axis, a.elements.size());
    return all_of(a.elements.size(), [&](std::size_t i) -> std::optional<bool> {
        if (i == free) return true;
        if (!a.elements[i] || !b.elements[i]) return {};
        return *a.elements[i] <= *b.elements[i];
    });
}

std::optional<double> computed(char op, std::optional<double> const& a, std::optional<double> const& b) {
    if (!a || !b) return {};
    switch (op) {
    case '+': return *a + *b;
    case '-': return *a - *b;
    case '*': return *a * *b;
    case '/': return *b == 0 ? std::nullopt : std::optional(std::floor(*a / *b));
    case '%': return *b == 0 ? std::nullopt : std::optional(*a - std::floor(*a / *b) * *b);
    default: return std::max(*a, *b);
    }
}

bool compares(std::string_view op, double a, double b) {
    if (op == "=") return a == b;
    if (op == "!=") return a != b;
    if (op == "<") return a < b;
    if (op == "<=") return a <= b;
    return op == ">" ? a > b : a >= b;
}

bool is_a(dtype t, std::string_view what) {
    if (what == "floating") return is_floating(t);
    if (what == "integral") return is_integral(t);
    if (what == "index") return t == dtype::int64 || t == dtype::int32;
    if (what == "real") return !is_complex(t);
    if (what == "bool") return t == dtype::bool_;
    if (what == "inexact") return is_floating(t) || is_complex(t);
    if (what == "subscript") return t == dtype::int64 || t == dtype::int32 || t == dtype::uint8 || t == dtype::bool_;
    if (what == "signed") return is_floating(t) || is_signed_integral(t);
    return name(t) == what;
}

/// A function of the language that returns `Out`.
template <class Out>
struct named_function {
    std::string_view name;
    std::size_t operands = 0;
    Out (*f)(std::span<quantity const>) = nullptr;
};
template <class Out>
std::optional<Out> call_named(std::span<named_function<Out> const> all, std::string_view name,
                              std::span<quantity const> operands) {
    for (named_function<Out> const& each : all)
        if (each.name == name && each.operands == operands.size()) return each.f(operands);
    return {};
}

} // namespace

quantity number_quantity(double n) { return {form::number, {n}}; }
quantity list_quantity(unsure_numbers all) { return {form::list, std::move(all)}; }

std::string to_text(quantity const& q) {
    if (q.is == form::number) return to_text(q.elements[0]);
    if (q.is == form::text) return '\'' + clipped(q.text, 40) + '\'';
    std::string out;
    constexpr std::size_t max_shown = 8;
    std::size_t const n = q.is == form::types ? q.types.size() : q.elements.size();
    for (std::size_t i = 0; i != std::min(n, max_shown); ++i) {
        if (i != 0) out += ", ";
        out += q.is == form::list               ? to_text(q.elements[i])
               : q.types[i] == dtype::undefined ? "?"
                                                : std::string(name(q.types[i]));
    }
    if (n > max_shown) out += ", ...";
    return q.is == form::types ? out : '[' + out + ']';
}

named_arguments::named_arguments(std::string_view schema, std::span<dsl::argument const> given) {
    aten::schema_argument formal;
    std::size_t i = 0;
    for (aten::argument_cursor each{schema}; each.next(formal); ++i) {
        bool const missing = i >= given.size() || given[i].kind == kind::missing;
        all_.emplace_back(formal.name, missing ? aten::default_argument<dsl::argument>(formal) : given[i]);
    }
}

dsl::argument const* named_arguments::find(std::string_view name) const {
    auto const at = std::ranges::find(all_, name, &std::pair<std::string_view, dsl::argument>::first);
    return at == all_.end() ? nullptr : &at->second;
}

quantity value_of(dsl::argument const& a) {
    quantity out;
    switch (a.kind) {
    case kind::none: out.is = form::none; break;
    case kind::number:
        if (std::optional<double> const n = constant(a.number)) out = number_quantity(*n);
        break;
    case kind::numbers:
        out.is = form::list;
        for (dsl::number const& n : a.numbers) out.elements.push_back(constant(n));
        break;
    case kind::text: out = {form::text, {}, a.text}; break;
    case kind::type: out = {form::types, {}, {}, {a.type}}; break;
    case kind::tensors: // of Tensor[], only its length is a value
        out = {form::list, unsure_numbers(a.tensors.size())};
        break;
    default: break;
    }
    return out;
}

quantity rank_of(dsl::argument const& a) {
    auto const of = [](dsl::optional_value const& x) {
        return x && x->has_rank() ? std::optional(static_cast<double>(x->rank())) : std::nullopt;
    };
    if (a.kind == kind::number) return number_quantity(0);
    if (a.kind == kind::tensor) return of(a.tensor) ? number_quantity(*of(a.tensor)) : quantity{};
    if (a.kind != kind::tensors) return {};
    unsure_numbers all;
    for (dsl::optional_value const& x : a.tensors)
        if (x) all.push_back(of(x));
    return list_quantity(std::move(all));
}

quantity types_of(dsl::argument const& a) {
    auto const of = [](dsl::value const& x) { return x.is_wrapped_number() ? dtype::undefined : x.dtype(); };
    if (a.kind == kind::tensor && a.tensor) return {form::types, {}, {}, {of(*a.tensor)}};
    if (a.kind != kind::tensors) return {};
    quantity out{form::types};
    for (dsl::optional_value const& x : a.tensors)
        if (x) out.types.push_back(of(*x));
    return out;
}

quantity shape_of(dsl::argument const& a) {
    if (a.kind == kind::number) return list_quantity({});
    if (a.kind != kind::tensor || !a.tensor || !a.tensor->has_rank()) return {};
    unsure_numbers all;
    for (dim const& d : a.tensor->shape().dims())
        all.push_back(d.is_static() ? std::optional(static_cast<double>(d.size())) : std::nullopt);
    return list_quantity(std::move(all));
}

quantity size_of(dsl::argument const& a, quantity const& axis) { return item(shape_of(a), axis); }

quantity computed(char op, quantity const& a, quantity const& b) {
    bool const numeric = (a.is == form::number || a.is == form::list) && (b.is == form::number || b.is == form::list);
    if (!numeric) return {};
    quantity out = a.is == form::list ? a : b;
    if (a.is == b.is && a.elements.size() != b.elements.size()) return {};
    for (std::size_t i = 0; i != out.elements.size(); ++i)
        out.elements[i] = computed(op, a.elements[a.is == form::list ? i : 0], b.elements[b.is == form::list ? i : 0]);
    return out.is == form::number && !out.elements[0] ? quantity{} : out;
}

truth compared(std::string_view op, quantity const& a, quantity const& b) {
    bool const equal = op == "=";
    if (a.is == form::text && b.is == form::text) return (a.text == b.text) == equal ? truth::yes : truth::no;
    if (a.is == form::types && b.is == form::types) {
        bool const one = b.types.size() == 1;
        if (!one && a.types.size() != b.types.size()) return truth::unknown;
        return all_of(a.types.size(), [&](std::size_t i) -> std::optional<bool> {
            dtype const other = b.types[one ? 0 : i];
            if (a.types[i] == dtype::undefined || other == dtype::undefined) return {};
            return (a.types[i] == other) == equal;
        });
    }
    bool const numeric = (a.is == form::number || a.is == form::list) && (b.is == form::number || b.is == form::list);
    if (!numeric) return truth::unknown;
    if (a.is == form::list && b.is == form::list && a.elements.size() != b.elements.size())
        return equal ? truth::no : truth::unknown;
    return all_of((a.is == form::list ? a : b).elements.size(), [&](std::size_t i) -> std::optional<bool> {
        std::optional<double> const& x = a.elements[a.is == form::list ? i : 0];
        std::optional<double> const& y = b.elements[b.is == form::list ? i : 0];
        if (!x || !y) return {};
        return compares(op, *x, *y);
    });
}

truth is_of_kind(quantity const& types, std::string_view what) {
    if (types.is != form::types) return truth::unknown;
    return all_of(types.types.size(), [&](std::size_t i) -> std::optional<bool> {
        if (types.types[i] == dtype::undefined) return {};
        return is_a(types.types[i], what);
    });
}

std::optional<quantity> call_function(std::string_view name, std::span<quantity const> operands) {
    static constexpr named_function<quantity> all[] = {
        {"count",
         1,
         [](auto q) {
             return q[0].is == form::list ? number_quantity(static_cast<double>(q[0].elements.size())) : quantity{};
         }},
        {"product", 1, [](auto q) { return product(q[0]); }},
        {"head", 2, [](auto q) { return part(q[0], q[1], false); }},
        {"tail", 2, [](auto q) { return part(q[0], q[1], true); }},
        {"item", 2, [](auto q) { return item(q[0], q[1]); }},
        {"without", 2, [](auto q) { return without(q[0], q[1]); }},
        {"axes", 2, [](auto q) { return from_the_front(q[0], q[1]); }},
        {"max", 2, [](auto q) { return computed('m', q[0], q[1]); }},
        {"sliced", 4, [](auto q) { return sliced(q[0], q[1], q[2], q[3]); }},
    };
    return call_named<quantity>(all, name, operands);
}

std::optional<truth> call_predicate(std::string_view name, std::span<quantity const> operands) {
    static constexpr named_function<truth> all[] = {
        {"distinct", 1, [](auto q) { return is_distinct(q[0]); }},
        {"same", 1, [](auto q) { return is_same(q[0]); }},
        {"expands", 2, [](auto q) { return expands(q[0], q[1]); }},
        {"within", 3, [](auto q) { return is_within(q[0], q[1], q[2]); }},
    };
    return call_named<truth>(all, name, operands);
}

} // namespace ATON_NAMESPACE::mappings

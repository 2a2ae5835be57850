// SPDX-License-Identifier: MIT
#include "comparisons.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::torchscript {

value comparisons::are_equal(value const& a, value const& b, int depth) {
    at_.spend(1);
    if (depth > 100) at_.fail("compares values that are nested more than 100 levels deep");
    if (a.known() != nullptr && b.known() != nullptr) return value::of(*a.known() == *b.known());
    if (a.is_any_number() && b.is_any_number()) return values_.arithmetic("_operator.eq", {a, b});
    auto const is_either = [&](kind k) { return a.is() == k || b.is() == k; };
    for (value const& each : {a, b})
        if (each.is() == kind::nothing || each.is() == kind::optional)
            at_.fail("compares " + std::string(describe(each)));
    if (is_either(kind::none)) return value::of(false);
    if (a.acts_as_tensor() || b.acts_as_tensor())
        at_.fail("compares tensors inside lists, dicts or tuples, which depends on data");
    if (is_either(kind::open_text)) at_.fail_undecidable("whether two strings are equal", a.known() == nullptr ? a : b);
    if (is_either(kind::rows)) at_.fail_undecidable("whether two lists are equal", a.is() == kind::rows ? a : b);
    if (a.is() != b.is() || (a.is() != kind::list && a.is() != kind::tuple)) return value::of(a.is_same(b));
    std::vector<value> const& x = a.list()->items;
    std::vector<value> const& y = b.list()->items;
    value all = value::of(x.size() == y.size());
    for (std::size_t i = 0; i != x.size() && !is_false(all); ++i)
        all = values_.both(all, are_equal(x[i], y[i], depth + 1));
    return all;
}

value comparisons::contains(std::vector<value> const& items, value const& wanted) {
    value absent = value::of(true);
    for (value const& each : items) {
        absent = values_.both(absent, values_.negated(are_equal(each, wanted)));
        if (is_false(absent)) break;
    }
    return values_.negated(absent);
}

value comparisons::choose_list(value const& a, value const& b, bool greater) {
    std::vector<value> const& x = a.list()->items;
    std::vector<value> const& y = b.list()->items;
    for (std::size_t i = 0; i != std::min(x.size(), y.size()); ++i) {
        value const same = are_equal(x[i], y[i]);
        std::optional<bool> const is_same = values_.decide(same);
        if (is_same && *is_same) continue;
        value const order = values_.arithmetic(greater ? "_operator.gt" : "_operator.lt", {x[i], y[i]});
        std::optional<bool> const first = values_.decide(order);
        if (!is_same || !first) at_.fail_undecidable("which of two lists is greater", is_same ? order : same);
        return *first ? a : b;
    }
    return (greater ? x.size() > y.size() : x.size() < y.size()) ? a : b;
}

bool comparisons::is_less(value const& a, value const& b) {
    at_.spend(1);
    if (a.text() != nullptr && b.text() != nullptr) return *a.text() < *b.text();
    if (a.is_any_number() && b.is_any_number()) {
        value const less = values_.arithmetic("_operator.lt", {a, b});
        std::optional<bool> const known = values_.decide(less);
        if (!known) at_.fail_undecidable("the order of a list", less);
        return *known;
    }
    if (a.is() == kind::tuple && b.is() == kind::tuple) {
        std::size_t const common = std::min(a.list()->items.size(), b.list()->items.size());
        for (std::size_t i = 0; i != common; ++i) {
            if (is_less(a.list()->items[i], b.list()->items[i])) return true;
            if (is_less(b.list()->items[i], a.list()->items[i])) return false;
        }
        return a.list()->items.size() < b.list()->items.size();
    }
    if (a.is() == kind::object) {
        value const less = caller_.call_method(a, "__lt__", {b});
        std::optional<bool> const known = values_.decide(less);
        if (!known) at_.fail_undecidable("the order of a list", less);
        return *known;
    }
    at_.fail("sorts " + std::string(describe(a)) + ", whose order depends on data");
}

/// By merging halves: nothing is assumed of __lt__.
std::vector<value> comparisons::sorted(std::vector<value> items, bool reverse) {
    if (items.size() < 2) return items;
    auto const middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
    std::vector<value> const low = sorted({items.begin(), middle}, reverse);
    std::vector<value> const high = sorted({middle, items.end()}, reverse);
    std::vector<value> out;
    std::size_t i = 0;
    for (value const& each : high) {
        while (i != low.size() && !(reverse ? is_less(low[i], each) : is_less(each, low[i]))) out.push_back(low[i++]);
        out.push_back(each);
    }
    out.insert(out.end(), low.begin() + static_cast<std::ptrdiff_t>(i), low.end());
    return out;
}

} // namespace ATON_NAMESPACE::torchscript

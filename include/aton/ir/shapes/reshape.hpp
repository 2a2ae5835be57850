// SPDX-License-Identifier: MIT
// Shape rules of Reshape and Flatten.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <aton/ir/shapes/context.hpp>

namespace ATON_NAMESPACE::shapes {

/// Whether size `i` is a 0 that copies the input's dimension at the same position.
template <class = void>
bool copies(dims const& from, list const& to, std::size_t i, bool allow_zero) {
    return !allow_zero && to[i] == 0 && i < from.size();
}

/// The size that Reshape's -1 becomes: the number of elements divided by the other sizes of the result.
template <class = void>
dim remaining(dims const& from, list const& to, bool allow_zero) {
    checked_int total = 1;
    checked_int taken = 1;
    dims symbols;
    for (std::size_t i = 0; i != from.size(); ++i) {
        if (i < to.size() && copies(from, to, i, allow_zero)) continue;
        if (from[i].is_static()) total = total * from[i].size();
        else if (from[i].is_symbolic()) symbols.push_back(from[i]);
        else return {};
    }
    for (std::size_t i = 0; i != to.size(); ++i) {
        if (to[i] == -1 || copies(from, to, i, allow_zero)) continue;
        if (to[i] != unknown) {
            taken = taken * to[i];
            continue;
        }
        std::size_t at = 0;
        while (at != symbols.size() && !symbols[at].same_as(to.as_dim(i))) ++at;
        if (at == symbols.size()) return {};
        symbols[at] = symbols.back();
        symbols.pop_back();
    }
    std::int64_t const all = total;
    std::int64_t const others = taken;
    if (symbols.empty() && others > 0 && all % others != 0)
        throw illegal_call("onnx::Reshape: " + std::to_string(all) + " elements cannot be divided into rows of " +
                           std::to_string(others));
    if (others <= 0 || all % others != 0) return {};
    if (symbols.empty()) return all / others;
    return symbols.size() == 1 && all == others ? symbols[0] : dim();
}

/// Refuses a Reshape that changes the number of elements.
template <class Context>
void expect_as_many(Context const& c, shape const& from, shape const& to) {
    std::int64_t const before = from.element_count_or(-1);
    std::int64_t const after = to.element_count_or(-1);
    if (before >= 0 && after >= 0 && before != after)
        c.refuse(std::to_string(before) + " elements cannot be reshaped to " + std::to_string(after));
}

template <class Context>
void reshape(Context& c) {
    if (c.ranked(1) && c.rank(1) != 1)
        c.refuse("the shape input has rank " + std::to_string(c.rank(1)) + ", expected 1");
    list const to = c.attribute("shape") != nullptr ? c.numbers("shape") : c.elements(1);
    if (!to) return c.set_rank(0, c.length(1));
    bool const allow_zero = c.number("allowzero", 0) != 0;
    dims out;
    bool is_empty = false;
    int inferred = 0;
    for (std::size_t i = 0; i != to.size(); ++i) {
        if (!allow_zero && to[i] == 0 && c.ranked(0) && i >= c.in(0).size())
            c.refuse("no dimension to copy for the 0 at position " + std::to_string(i + 1));
        if (!allow_zero && to[i] == 0) out.push_back(i < c.in(0).size() ? c.in(0)[i] : dim());
        else if (to[i] == -1) out.push_back(c.ranked(0) ? remaining(c.in(0), to, allow_zero) : dim());
        else out.push_back(to.as_dim(i));
        if (to[i] < -1 && to[i] != unknown) c.refuse("invalid size " + std::to_string(to[i]));
        inferred += to[i] == -1 ? 1 : 0;
        is_empty = is_empty || (to[i] != -1 && out[i].is(0));
    }
    if (inferred > 1 || (inferred == 1 && is_empty))
        c.refuse(is_empty ? "-1 is ambiguous beside a size of 0" : "more than one size is -1");
    if (c.ranked(0)) expect_as_many(c, shape(c.in(0)), shape(out));
    c.set(0, out);
}

template <class = void>
dim product(dims const& d, std::int64_t first, std::int64_t last) {
    dim out = 1;
    for (std::int64_t i = first; i != last; ++i) {
        dim const& next = d[index(i)];
        if (next.is(0)) return 0;
        if (next.is(1)) continue;
        if (out.is(1)) out = next;
        else out = out.is_static() && next.is_static() ? dim(checked_int(out.size()) * next.size()) : dim();
    }
    return out;
}

template <class Context>
void flatten(Context& c) {
    if (!c.ranked(0)) return c.set_rank(0, 2);
    std::int64_t const n = c.rank(0);
    std::int64_t const axis = c.number("axis", 1) == n ? n : c.axis(1, n);
    c.set(0, {product(c.in(0), 0, axis), product(c.in(0), axis, n)});
}

} // namespace ATON_NAMESPACE::shapes

// SPDX-License-Identifier: MIT
#include "layouts.hpp"

#include <algorithm>
#include <cstddef>

namespace ATON_NAMESPACE::program {

namespace {

void collect_symbols(expression const& e, std::vector<std::string>& into) {
    if (e.kind == expression_kind::symbol) into.push_back(e.symbol);
    for (expression const& each : e.operands) collect_symbols(each, into);
}

} // namespace

layouts::layouts(program const& p) : program_(p) {
    static constexpr std::int64_t primes[] = {7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
    std::vector<std::string> names;
    for (expression const& each : p.expressions) collect_symbols(each, names);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::size_t i = 0;
    for (std::string const& name : names) {
        std::int64_t number = 240 * primes[i++ % std::size(primes)];
        if (auto const range = p.ranges.find(name); range != p.ranges.end())
            number = std::max(std::min(number, range->second.max), range->second.min);
        symbols_.emplace(name, number);
    }
}

std::optional<std::int64_t> layouts::number_of(extent const& e) const {
    if (e.is_number()) return e.number;
    return evaluate(program_.expressions[e.expression], symbols_);
}

std::optional<std::vector<std::int64_t>> layouts::sizes_of(value_index v) const {
    value const& known = program_.values[v];
    if (!known.has_type) return {};
    std::vector<std::int64_t> out;
    for (extent const& each : known.sizes) {
        auto const size = number_of(each);
        if (!size || *size < 0) return {};
        out.push_back(*size);
    }
    return out;
}

std::optional<concrete_layout> layouts::of(value_index v) const {
    value const& known = program_.values[v];
    if (!known.strided || known.strides.size() != known.sizes.size()) return {};
    std::optional<std::vector<std::int64_t>> sizes = sizes_of(v);
    if (!sizes) return {};
    concrete_layout out;
    out.sizes = *std::move(sizes);
    for (extent const& each : known.strides) {
        auto const stride = number_of(each);
        if (!stride) return {};
        out.strides.push_back(*stride);
    }
    return out;
}

bool layouts::same_extent(extent const& a, extent const& b) const {
    if (a.is_number() || b.is_number()) return a == b;
    return a == b || program_.expressions[a.expression] == program_.expressions[b.expression];
}

bool layouts::same_sizes(value_index a, value_index b) const {
    return program_.values[a].sizes.size() == program_.values[b].sizes.size() && same_after_ones(a, b);
}

bool layouts::same_after_ones(value_index v, value_index wide) const {
    value const& x = program_.values[v];
    value const& y = program_.values[wide];
    if (!x.has_type || !y.has_type || y.sizes.size() < x.sizes.size()) return false;
    auto const last = y.sizes.end() - static_cast<std::ptrdiff_t>(x.sizes.size());
    return std::all_of(y.sizes.begin(), last, [](extent const& e) { return e == extent{1}; }) &&
           std::equal(x.sizes.begin(), x.sizes.end(), last, [&](extent const& s, extent const& t) {
               return same_extent(s, t);
           });
}

bool layouts::same_type(value_index a, value_index b) const {
    value const& x = program_.values[a];
    value const& y = program_.values[b];
    return x.has_type && y.has_type && x.type == y.type;
}

bool layouts::has_type(value_index v, dtype t) const {
    return program_.values[v].has_type && program_.values[v].type == t;
}

bool layouts::is_viewable(concrete_layout const& from, std::vector<std::int64_t> const& sizes) {
    if (std::find(from.sizes.begin(), from.sizes.end(), 0) != from.sizes.end()) return true;
    // Finds runs of dimensions that are contiguous in memory, from the last one; a new dimension may not span two runs.
    std::size_t next = sizes.size();
    std::int64_t run = 1;
    std::int64_t unit = from.strides.empty() ? 1 : from.strides.back(); // the stride of the run's last dimension
    for (std::size_t i = from.sizes.size(); i-- > 0;) {
        std::int64_t joined = 0; // the stride of the previous dimension if it belongs to the run
        if (__builtin_mul_overflow(run, from.sizes[i], &run) || __builtin_mul_overflow(run, unit, &joined))
            return false;
        if (i != 0 && (from.sizes[i - 1] == 1 || from.strides[i - 1] == joined)) continue;
        std::int64_t covered = 1;
        while (next > 0 && (covered < run || sizes[next - 1] == 1)) {
            if (__builtin_mul_overflow(covered, sizes[--next], &covered)) return false;
        }
        if (covered != run) return false;
        run = 1;
        if (i != 0) unit = from.strides[i - 1];
    }
    return true;
}

bool layouts::is_contiguous(concrete_layout const& layout) {
    std::int64_t expected = 1;
    for (std::size_t i = layout.sizes.size(); i-- > 0;) {
        if (layout.sizes[i] == 0) return true;
        if (layout.sizes[i] == 1) continue;
        if (layout.strides[i] != expected || __builtin_mul_overflow(expected, layout.sizes[i], &expected)) return false;
    }
    return true;
}

bool is_contiguous(program const& p, value_index v) {
    std::optional<concrete_layout> const layout = layouts(p).of(v);
    return layout && layouts::is_contiguous(*layout);
}

bool layouts::same_order(concrete_layout const& a, concrete_layout const& b) {
    if (a.sizes != b.sizes) return false;
    for (std::size_t i = 0; i != a.sizes.size(); ++i)
        if (a.sizes[i] != 1 && a.strides[i] != b.strides[i]) return false;
    return true;
}

} // namespace ATON_NAMESPACE::program

// SPDX-License-Identifier: MIT
#include "sizes.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace ATON_NAMESPACE::torch {

namespace {

using kind = program::expression_kind;

/// Relations are only looked for between sizes up to 2^20 and numbers up to 2^40, so that no product overflows.
constexpr std::int64_t largest_size = std::int64_t{1} << 20;
constexpr std::int64_t largest_number = std::int64_t{1} << 40;
constexpr std::int64_t largest_factor = std::int64_t{1} << 22;

bool is_within(samples const& values, std::int64_t limit) {
    return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v > -limit && v < limit; });
}

/// Whether a relation to this size can be confirmed.
bool is_usable(known_size const& s) {
    return s.tensor != program::no_value && is_within(s.values, largest_size) &&
           std::set<std::int64_t>(s.values.begin(), s.values.end()).size() >= 3;
}

program::expression integer(std::int64_t n) {
    program::expression e;
    e.number = n;
    return e;
}

program::expression make(kind k, std::vector<program::expression> operands) {
    program::expression e;
    e.kind = k;
    e.operands = std::move(operands);
    return e;
}

} // namespace

std::size_t size_table::add(samples values, program::value_index tensor, std::int64_t axis, std::string name) {
    known_size made;
    made.symbol.kind = kind::symbol;
    // A name such as u0 tells the exporter that it may be any number, also 1.
    program::symbol_range range{name.empty() ? 0 : 1, std::numeric_limits<std::int64_t>::max()};
    if (name.empty()) {
        do {
            name = "u" + std::to_string(next_++);
        } while (program_.ranges.contains(name)); // the user may have named a dimension so
    }
    made.symbol.symbol = std::move(name);
    program_.ranges[made.symbol.symbol] = range;
    made.values = std::move(values);
    made.tensor = tensor;
    made.axis = axis;
    all_.push_back(std::move(made));
    return all_.size() - 1;
}

std::optional<relation> size_table::find(samples const& values) const {
    std::optional<relation> stride;
    for (std::size_t i = 0; i != all_.size(); ++i) {
        if (all_[i].values != values) continue;
        if (all_[i].tensor != program::no_value) return relation{relation::form::linear, i};
        if (!stride) stride = relation{relation::form::linear, i};
    }
    if (stride) return stride;
    if (values.size() < 3 || !is_within(values, largest_number)) return {};
    if (auto const found = find_linear(values)) return found;
    return find_pair(values);
}

/// Two points give factor and offset, the others confirm them.
std::optional<relation> size_table::find_linear(samples const& values) const {
    for (std::size_t i = 0; i != all_.size(); ++i) {
        samples const& x = all_[i].values;
        if (!is_usable(all_[i])) continue;
        std::size_t other = 1;
        while (x[other] == x[0]) ++other;
        std::int64_t const dx = x[other] - x[0];
        std::int64_t const dy = values[other] - values[0];
        if (dy == 0 || dy % dx != 0) continue;
        relation r{relation::form::linear, i};
        r.factor = dy / dx;
        r.offset = values[0] - r.factor * x[0];
        bool holds = true;
        for (std::size_t k = 0; k != x.size(); ++k) holds = holds && values[k] == r.factor * x[k] + r.offset;
        if (holds) return r;
    }
    return {};
}

std::optional<relation> size_table::find_pair(samples const& values) const {
    for (std::size_t i = 0; i != all_.size(); ++i)
        for (std::size_t j = i; j != all_.size(); ++j) {
            samples const& a = all_[i].values;
            samples const& b = all_[j].values;
            if (!is_usable(all_[i]) || !is_usable(all_[j])) continue;
            if (std::int64_t const first = a[0] * b[0];
                first != 0 && values[0] % first == 0 && values[0] / first < largest_factor) {
                relation r{relation::form::product, i, j};
                r.factor = values[0] / first;
                bool holds = r.factor != 0;
                for (std::size_t k = 0; k != a.size(); ++k) holds = holds && values[k] == r.factor * a[k] * b[k];
                if (holds) return r;
            }
            if (i == j) continue;
            for (std::int64_t const sign : {1, -1}) {
                relation r{relation::form::sum, i, j};
                r.sign = sign;
                r.offset = values[0] - a[0] - sign * b[0];
                bool holds = true;
                for (std::size_t k = 0; k != a.size(); ++k) holds = holds && values[k] == a[k] + sign * b[k] + r.offset;
                if (holds) return r;
            }
        }
    return {};
}

program::extent size_table::extent_of(relation const& r) {
    program::expression e = all_[r.size].symbol;
    if (r.is == relation::form::product) e = make(kind::mul, {e, all_[r.other].symbol});
    if (r.factor != 1) e = make(kind::mul, {integer(r.factor), e});
    if (r.is == relation::form::sum)
        e = make(kind::add,
                 {e, r.sign == 1 ? all_[r.other].symbol : make(kind::mul, {integer(-1), all_[r.other].symbol})});
    if (r.offset != 0) e = make(kind::add, {e, integer(r.offset)});
    program::expression plain = program::substitute(e, {});
    if (plain.kind == kind::integer) return {plain.number, program::extent::none};
    auto const [known, is_new] =
        expressions_.try_emplace(program::to_string(plain), static_cast<std::uint32_t>(program_.expressions.size()));
    if (is_new) program_.expressions.push_back(std::move(plain));
    return {0, known->second};
}

} // namespace ATON_NAMESPACE::torch

// SPDX-License-Identifier: MIT
#include "symbolic_sizes.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "converter.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

bool is_of_data(std::string_view symbol) {
    return symbol.size() > 1 && symbol[0] == 'u' && std::isdigit(static_cast<unsigned char>(symbol[1])) != 0;
}

bool depends_on_data(program::expression const& e) {
    if (e.kind == program::expression_kind::symbol) return is_of_data(e.symbol);
    return std::any_of(e.operands.begin(), e.operands.end(), depends_on_data);
}

/// 2*u0 is never 1.
bool is_multiple(program::expression const& e) {
    using kind = program::expression_kind;
    return e.kind == kind::mul &&
           std::any_of(e.operands.begin(), e.operands.end(), [](program::expression const& factor) {
               return factor.kind == kind::integer && factor.number != 1 && factor.number != -1;
           });
}

} // namespace

bool may_be_one(program::program const& p, program::extent const& size) {
    if (size.is_number()) return false;
    program::expression const& e = p.expressions[size.expression];
    if (!depends_on_data(e) || is_multiple(e) || min_value(p, size).value_or(0) > 1) return false;
    if (e.kind != program::expression_kind::symbol) return true;
    auto const range = p.ranges.find(e.symbol);
    return range == p.ranges.end() || range->second.max > 0;
}

bool may_be_zero(program::program const& p, program::extent const& size) {
    return !size.is_number() && depends_on_data(p.expressions[size.expression]) && min_value(p, size).value_or(0) <= 0;
}

bool is_contradicted_by(program::program const& p, program::extent const& size, std::int64_t n) {
    if (size.is_number()) return size.number != n;
    if (std::optional<std::int64_t> const bound = min_value(p, size); bound.has_value() && *bound > n) return true;
    program::expression const& e = p.expressions[size.expression];
    if (e.kind != program::expression_kind::symbol) return false;
    auto const range = p.ranges.find(e.symbol);
    bool const is_known = range != p.ranges.end();
    // torch.export may not know that a size is constant, as for combinations().
    if (is_of_data(e.symbol)) return is_known && range->second.max < n;
    return !is_known || range->second.min != n || range->second.max != n;
}

} // namespace ATON_NAMESPACE::exporter

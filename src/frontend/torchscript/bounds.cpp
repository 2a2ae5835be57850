// SPDX-License-Identifier: MIT
#include "bounds.hpp"

#include <limits>
#include <utility>

namespace ATON_NAMESPACE::torchscript {

namespace {

using ek = program::expression_kind;

std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
    std::int64_t out = 0;
    if (!a || !b || __builtin_add_overflow(*a, *b, &out)) return {};
    return out;
}

std::optional<std::int64_t> product(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
    std::int64_t out = 0;
    if (!a || !b || __builtin_mul_overflow(*a, *b, &out)) return {};
    return out;
}

} // namespace

program::expression integer_expression(std::int64_t n) {
    program::expression e;
    e.number = n;
    return e;
}

program::expression make_expression(ek kind, std::vector<program::expression> operands) {
    program::expression e;
    e.kind = kind;
    e.operands = std::move(operands);
    return e;
}

bounds bounds_of(program::expression const& e, std::map<std::string, program::symbol_range, std::less<>> const& known) {
    switch (e.kind) {
    case ek::integer: return {e.number, e.number};
    case ek::symbol: {
        auto const found = known.find(e.symbol);
        if (found == known.end()) return {};
        constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
        return {found->second.min, found->second.max == none ? std::nullopt : std::optional(found->second.max)};
    }
    case ek::add: {
        bounds all{0, 0};
        for (program::expression const& each : e.operands) {
            bounds const b = bounds_of(each, known);
            all = {sum(all.min, b.min), sum(all.max, b.max)};
        }
        return all;
    }
    case ek::mul: {
        bounds all{1, 1};
        for (program::expression const& each : e.operands) {
            bounds b = bounds_of(each, known);
            if (each.kind == ek::integer && each.number < 0) {
                all = {product(all.max, each.number), product(all.min, each.number)};
                continue;
            }
            if (!b.min || *b.min < 0) return {};
            bool const is_negative = all.max && *all.max <= 0;
            if (!is_negative && (!all.min || *all.min < 0)) return {};
            all = is_negative ? bounds{product(all.min, b.max), product(all.max, b.min)}
                              : bounds{product(all.min, b.min), product(all.max, b.max)};
        }
        return all;
    }
    case ek::floor_div: {
        if (e.operands.size() != 2 || e.operands[1].kind != ek::integer || e.operands[1].number < 1) return {};
        bounds const b = bounds_of(e.operands[0], known);
        if (!b.min || *b.min < 0) return {};
        std::int64_t const by = e.operands[1].number;
        return {*b.min / by, b.max ? std::optional(*b.max / by) : std::nullopt};
    }
    default: return {};
    }
}

} // namespace ATON_NAMESPACE::torchscript

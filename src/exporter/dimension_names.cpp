// SPDX-License-Identifier: MIT
// Names of dynamic dimensions, and lower bounds of sizes from the ranges of symbols.
#include "converter.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::exporter {

dimension_names::dimension_names(program::program const& p, std::vector<dim_name> const& names) : program_(p) {
    for (dim_name const& given : names) {
        bool found = false;
        for (program::input const& in : p.inputs)
            if (in.kind == program::input_kind::user && in.value != program::no_value &&
                (in.target == given.input || p.values[in.value].name == given.input)) {
                name(p.values[in.value], given);
                found = true;
            }
        if (found) continue;
        std::string known;
        for (program::input const& in : p.inputs)
            if (in.kind == program::input_kind::user) known += (known.empty() ? "" : ", ") + in.target;
        throw error("cannot name a dimension: there is no input '" + given.input + "'; the inputs are: " + known);
    }
    // A renamed symbol keeps its name, even if other symbols determine it.
    std::map<std::string, program::expression, std::less<>> computed = p.relations;
    std::erase_if(computed, [&](auto const& each) { return renamed_.contains(each.first); });
    texts_.reserve(p.expressions.size());
    for (program::expression const& e : p.expressions)
        texts_.push_back(program::to_string(computed.empty() ? e : program::substitute(e, computed), renamed_));
}

void dimension_names::name(program::value const& input, dim_name const& given) {
    std::string const where = "dimension " + std::to_string(given.axis) + " of input '" + given.input + "'";
    auto const rank = static_cast<std::int64_t>(input.sizes.size());
    if (given.axis < -rank || given.axis >= rank)
        throw error(where + " does not exist: the input has rank " + std::to_string(rank));
    program::extent const& size =
        input.sizes[static_cast<std::size_t>(given.axis < 0 ? given.axis + rank : given.axis)];
    for (program::pinned_dimension const& pinned : program_.pinned)
        if (pinned.input == given.input && pinned.axis == (given.axis < 0 ? given.axis + rank : given.axis))
            throw error(where + " can only be " + std::to_string(pinned.number) + ": " + pinned.reason +
                        "; to keep it dynamic, export the model again with numbers that do not depend on it");
    if (size.is_number())
        throw error(where + " is always " + std::to_string(size.number) +
                    "; make it dynamic in torch.export.export (dynamic_shapes)");
    if (given.name.find(' ') != std::string::npos || given.name.find_first_of("-0123456789") == 0)
        throw error(where + ": '" + given.name + "' is not a name; use letters, as in 'batch'");
    program::expression const& e = program_.expressions[size.expression];
    if (e.kind != program::expression_kind::symbol)
        throw error(where + " is " + program::to_string(e) + ": name the dimensions that it is computed from");
    auto const [at, is_new] = renamed_.try_emplace(e.symbol, given.name);
    if (!is_new && at->second != given.name)
        throw error(where + " has the same size as a dimension that is already named '" + at->second + "'");
    for (auto const& [symbol, name] : renamed_)
        if (symbol != e.symbol && name == given.name)
            throw error(where + ": the name '" + given.name + "' is already used for another size");
}

dim dimension_names::operator()(program::extent const& e) const {
    return e.is_number() ? dim(e.number) : dim(texts_[e.expression]);
}

shape dimension_names::operator()(std::vector<program::extent> const& sizes) const {
    std::vector<dim> dims;
    dims.reserve(sizes.size());
    for (program::extent const& e : sizes) dims.push_back((*this)(e));
    return shape(dims);
}

namespace {

constexpr std::int64_t huge = std::int64_t{1} << 31; // larger bounds are ignored, to avoid overflow

std::optional<std::int64_t> bounded(std::int64_t n) {
    if (n > huge) return huge;
    return n < -huge ? std::nullopt : std::optional(n);
}

std::optional<std::int64_t> lower_bound(program::program const& p, program::expression const& e) {
    using kind = program::expression_kind;
    auto const of = [&](std::size_t i) { return lower_bound(p, e.operands[i]); };
    switch (e.kind) {
    case kind::integer: return bounded(e.number);
    case kind::symbol: {
        auto const range = p.ranges.find(e.symbol);
        return range == p.ranges.end() ? std::nullopt : bounded(range->second.min);
    }
    case kind::add: {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i != e.operands.size(); ++i) {
            auto const each = of(i);
            if (!each) return std::nullopt;
            sum += *each;
        }
        return bounded(sum);
    }
    case kind::mul: {
        std::int64_t product = 1;
        for (std::size_t i = 0; i != e.operands.size(); ++i) {
            auto const each = of(i);
            if (!each || *each < 0) return std::nullopt;
            product = std::min(product * std::min(*each, huge), huge);
        }
        return product;
    }
    case kind::floor_div:
    case kind::ceil_div:
    case kind::mod:
        if (e.operands.size() == 2 && of(0).value_or(-1) >= 0 && of(1).value_or(0) > 0) return 0;
        return std::nullopt;
    case kind::maximum: {
        std::optional<std::int64_t> largest;
        for (std::size_t i = 0; i != e.operands.size(); ++i)
            if (auto const each = of(i); each && (!largest || *each > *largest)) largest = each;
        return largest;
    }
    default: return std::nullopt;
    }
}

} // namespace

std::optional<std::int64_t> min_value(program::program const& p, program::extent const& e) {
    return e.is_number() ? std::optional(e.number) : lower_bound(p, p.expressions[e.expression]);
}

} // namespace ATON_NAMESPACE::exporter

// SPDX-License-Identifier: MIT
// Draws sizes from the ranges of symbols, and elements by dtype.
#include "model_inputs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <aton/core/error.hpp>
#include <aton/program/guards.hpp>

#include "random_source.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using program::extent;
using runtime::value;
using symbol_values = std::map<std::string, std::int64_t, std::less<>>;

void collect(program::expression const& e, symbol_values& to) {
    if (e.kind == program::expression_kind::symbol) to.emplace(e.symbol, 0);
    for (program::expression const& operand : e.operands) collect(operand, to);
}

void collect(program::program const& p, extent const& e, symbol_values& to) {
    if (!e.is_number()) collect(p.expressions[e.expression], to);
}

/// How many combinations of sizes are checked against the guards.
constexpr std::size_t max_rounds = 200;

/// Pairwise different where possible, so that swapped dimensions are detected.
symbol_values values_of_symbols(program::program const& p, std::uint64_t seed, int try_number) {
    symbol_values out;
    for (program::input const& in : p.inputs) {
        if (in.kind != program::input_kind::user || in.value == program::no_value) continue;
        program::value const& v = p.values[in.value];
        for (extent const& e : v.sizes) collect(p, e, out);
        if (v.symbolic) collect(p, *v.symbolic, out);
    }
    constexpr std::int64_t sizes[] = {3, 5, 7, 4, 6, 8, 2, 16};
    auto const first = static_cast<std::size_t>(seed) + static_cast<std::size_t>(try_number / 4);
    symbol_values wanted;
    for (std::size_t round = 0; round != max_rounds; ++round) { // guards may accept only a few
        std::size_t next = first + round;
        for (auto& [name, number] : out) {
            auto const found = p.ranges.find(name);
            program::symbol_range const range = found == p.ranges.end() ? program::symbol_range{} : found->second;
            std::int64_t const size =
                sizes[next++ % std::size(sizes)] + static_cast<std::int64_t>(round / std::size(sizes));
            next += round / std::size(sizes) % 3;
            number = std::min(size < range.min ? range.min + size - 2 : size, range.max);
        }
        for (auto const& [name, is] : p.relations)
            if (auto const n = evaluate(is, out); n && out.contains(name)) out[name] = *n;
        if (round == 0) wanted = out;
        if (program::accepts(p, out)) return out;
    }
    return wanted;
}

std::int64_t number_of(program::program const& p, extent const& e, symbol_values const& symbols,
                       std::string const& of) {
    if (e.is_number()) return e.number;
    std::optional<std::int64_t> const n = evaluate(p.expressions[e.expression], symbols);
    if (!n)
        throw error("input '" + of + "' has a size that cannot be chosen: " + to_string(p.expressions[e.expression]));
    return *n;
}

} // namespace

std::vector<value> draw_inputs(program::program const& given, std::uint64_t seed, int try_number) {
    program::program p = given;
    specialize_sizes(p);
    random_source random(seed + static_cast<std::uint64_t>(try_number) * 1000003U);
    symbol_values const symbols = values_of_symbols(p, seed, try_number);
    constexpr double max_integers[] = {99, 9, 1, 0};
    std::vector<value> out;
    for (program::input const& in : p.inputs) {
        if (in.kind != program::input_kind::user) continue;
        value& to = out.emplace_back();
        if (in.value == program::no_value) continue; // a constant of the program
        program::value const& v = p.values[in.value];
        if (v.kind == program::value_kind::sym_int && v.symbolic) {
            to = runtime::tensor::of_scalar(number_of(p, *v.symbolic, symbols, v.name), dtype::int64);
            continue;
        }
        if (v.kind != program::value_kind::tensor || !v.has_type)
            throw error("input '" + v.name + "' cannot be drawn: pass inputs");
        runtime::sizes sizes;
        for (extent const& e : v.sizes) sizes.push_back(number_of(p, e, symbols, v.name));
        element_range range{-2, 2, true};
        if (!is_floating(v.type) && !is_complex(v.type)) range = {0, max_integers[try_number % 4], true};
        to = random_tensor(random, v.type, sizes, value_profile::ordinary, range);
    }
    return out;
}

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
#include "nan_as_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include <aton/core/tensor.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

/// Operators whose results say whether an element is NaN, or are made without such elements.
constexpr std::string_view nan_operators[] = {
    "fmax",
    "fmin",
    "isfinite",
    "isnan",
    "isreal",
    "nan_to_num",
    "nan_to_num_",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
};

bool is_nan(program::number const& n) {
    return !n.is_computed() && !n.constant.is_integral() && std::isnan(n.constant.to<double>());
}

bool has_nan(program::argument const& a) {
    return (a.kind == program::argument_kind::number && is_nan(a.number)) ||
           std::any_of(a.numbers.begin(), a.numbers.end(), is_nan);
}

bool handles_nan(program::node const& n) {
    std::string_view name = n.op;
    name = name.substr(0, name.find('.'));
    if (std::size_t const colons = name.find("::"); colons != std::string_view::npos) name.remove_prefix(colons + 2);
    if (std::find(std::begin(nan_operators), std::end(nan_operators), name) != std::end(nan_operators)) return true;
    if ((name == "ne" || name == "eq") && n.arguments.size() == 2) { // x != x
        program::value_index const x = program::value_of(n.arguments[0]);
        return x != program::no_value && x == program::value_of(n.arguments[1]);
    }
    return std::any_of(n.arguments.begin(), n.arguments.end(), has_nan);
}

/// Whether a stored constant has one element, which is NaN.
bool is_nan(program::input const& in) {
    stored_tensor const& t = in.data;
    if (in.kind != program::input_kind::constant || !is_floating(t.type) || !tensor::can_hold(t.type)) return false;
    if (t.element_count() != 1 || !t.is_plain()) return false;
    std::size_t const size = bits(t.type) / 8;
    stored_part const& part = t.parts[0];
    std::size_t const first = static_cast<std::size_t>(part.offset) * size;
    if (part.offset < 0 || first > part.bytes.size || part.bytes.size - first < size) return false;
    tensor const one{t.type, {}, std::string(reinterpret_cast<char const*>(part.bytes.data) + first, size)};
    return std::isnan(one.at(0).to<double>());
}

bool handles_nan(program::graph const& g) {
    return std::any_of(g.nodes.begin(), g.nodes.end(), [](program::node const& n) { return handles_nan(n); });
}

} // namespace

bool has_nan_as_data(program::program const& p) {
    return handles_nan(p.main) ||
           std::any_of(
               p.subgraphs.begin(), p.subgraphs.end(), [](program::graph const& g) { return handles_nan(g); }) ||
           std::any_of(p.inputs.begin(), p.inputs.end(), [](program::input const& in) { return is_nan(in); });
}

} // namespace ATON_NAMESPACE::exporter

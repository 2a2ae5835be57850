// SPDX-License-Identifier: MIT
#include "data_sizes.hpp"

#include <algorithm>
#include <string_view>

namespace ATON_NAMESPACE::torch {

namespace {

struct data_size {
    std::string_view op;
    std::size_t result;
};

/// The first axis of these results; of all results for operators that return a list.
constexpr data_size first_axes[] = {
    {"aten::argwhere", 0},
    {"aten::bincount", 0},
    {"aten::masked_select", 0},
    {"aten::nonzero", 0},
    {"aten::nonzero_numpy", 0},
    {"aten::where", 0},
    {"aten::_pack_padded_sequence", 0},
    {"aten::_pack_padded_sequence", 1},
    {"aten::repeat_interleave.Tensor", 0},
    {"aten::_unique", 0},
    {"aten::_unique2", 0},
    {"aten::_unique2", 2},
    {"aten::unique_consecutive", 0},
    {"aten::unique_consecutive", 2},
    {"aten::unique_dim", 2},
    {"aten::unique_dim_consecutive", 2},
};

/// These have their number of elements along `dim`.
constexpr std::string_view along_dim[] = {"aten::repeat_interleave.self_Tensor",
                                          "aten::tensor_split.tensor_indices_or_sections",
                                          "aten::unique_consecutive",
                                          "aten::unique_dim",
                                          "aten::unique_dim_consecutive"};

bool is_boolean(program::program const& p, program::value_ref v) {
    return v && (p.values[v.index].type == dtype::bool_ || p.values[v.index].type == dtype::uint8);
}

/// x[mask]: the dimensions of the indices are together, where the first of them is, or in front.
bool has_size_of_mask(program::program const& p, program::node const& n, std::size_t axis) {
    for (program::argument const& a : n.arguments) {
        if (a.name != "indices") continue;
        if (std::none_of(a.tensors.begin(), a.tensors.end(), [&](program::value_ref v) { return is_boolean(p, v); }))
            return false;
        std::size_t first = 0;
        while (!a.tensors[first]) ++first;
        return axis == first || axis == 0;
    }
    return false;
}

/// one_hot(): the largest class, unless the number of classes is given.
bool has_size_of_classes(program::program const& p, program::node const& n, std::size_t axis) {
    for (program::argument const& a : n.arguments)
        if (a.name == "num_classes" && program::integer_of(a) != -1) return false;
    return axis + 1 == p.values[n.results[0].values.at(0)].sizes.size();
}

/// _pad_packed_sequence(): the longest sequence, and how many there are.
bool has_size_of_lengths(std::size_t result, std::size_t axis) { return result == 0 && axis < 2; }

} // namespace

bool has_size_of_data(program::program const& p, program::node const& n, std::size_t result, std::size_t axis) {
    std::string_view const op = n.op;
    if (op == "aten::index.Tensor") return has_size_of_mask(p, n, axis);
    if (op == "aten::one_hot") return has_size_of_classes(p, n, axis);
    if (op == "aten::_pad_packed_sequence") return has_size_of_lengths(result, axis);
    if (axis == 0)
        for (data_size const& each : first_axes)
            if (each.op == op && each.result == result) return true;
    if (result != 0 || std::find(std::begin(along_dim), std::end(along_dim), op) == std::end(along_dim)) return false;
    for (program::argument const& a : n.arguments)
        if (a.name == "dim")
            if (auto const dim = program::integer_of(a)) {
                auto const rank = static_cast<std::int64_t>(p.values[n.results[0].values.at(0)].sizes.size());
                return static_cast<std::int64_t>(axis) == (*dim < 0 ? *dim + rank : *dim);
            }
    return axis == 0;
}

} // namespace ATON_NAMESPACE::torch

// SPDX-License-Identifier: MIT
#include "batch_dimensions.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/program/subgraphs.hpp>

#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

bool batch_dimensions::is_known(argument const& a) const {
    for (value_ref const& v : tensors_of(a))
        if (v && !program_.values[v].has_type) return false;
    return true;
}

levels batch_dimensions::batch_levels(value_index v) const {
    auto const found = batch_levels_.find(v);
    return found == batch_levels_.end() ? levels{} : found->second;
}
std::int64_t batch_dimensions::rank(value_index v) const {
    return static_cast<std::int64_t>(program_.values[v].sizes.size() - batch_levels(v).size());
}
levels batch_dimensions::joined(levels const& a, levels const& b) {
    levels out;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return out;
}

void batch_dimensions::add_batch_levels(value_index v, levels const& all) {
    if (all.empty()) return;
    value& known = program_.values[v];
    if (!known.has_type) throw error("'" + known.name + "' has no recorded type inside torch.vmap");
    std::vector<extent> sizes;
    for (std::int64_t const level : all) sizes.push_back(sizes_.at(level));
    known.sizes.insert(known.sizes.begin(), sizes.begin(), sizes.end());
    known.strides.clear(); // unknown
    batch_levels_[v] = all;
}

value_index batch_dimensions::fresh(value_index like, std::vector<extent> sizes, levels const& all) {
    value v = program_.values[like];
    v.sizes = std::move(sizes);
    v.strides.clear();
    v.symbolic.reset();
    value_index const out = out_.fresh(std::move(v));
    batch_levels_[out] = all;
    return out;
}

value_index batch_dimensions::unsqueezed(value_index x, std::int64_t at, levels const& all, node const& cause) {
    std::vector<extent> sizes = program_.values[x].sizes;
    sizes.insert(sizes.begin() + at, extent{1, extent::none});
    return out_.emit("aten::unsqueeze",
                     cause,
                     {tensor_argument("self", x), number_argument("dim", at)},
                     fresh(x, std::move(sizes), all));
}

value_index batch_dimensions::aligned(value_index x, levels const& all, std::int64_t dims, node const& cause) {
    levels const own = batch_levels(x);
    if (own.empty()) return x;
    std::int64_t const missing = dims - rank(x);
    for (std::size_t i = 0; i != all.size(); ++i)
        if (!std::binary_search(own.begin(), own.end(), all[i]))
            x = unsqueezed(x, static_cast<std::int64_t>(i), all, cause);
    for (std::int64_t i = 0; i < missing; ++i) x = unsqueezed(x, static_cast<std::int64_t>(all.size()), all, cause);
    return x;
}

number batch_dimensions::size_of(value_index x, std::size_t i, node const& cause) {
    extent const size = program_.values[x].sizes[i];
    if (size.is_number()) return size.number;
    value v;
    v.name = program_.values[x].name + "_size";
    v.kind = value_kind::sym_int;
    v.symbolic = size;
    return number::of_value(
        out_.emit("aten::sym_size.int",
                  cause,
                  {tensor_argument("self", x), number_argument("dim", static_cast<std::int64_t>(i))},
                  out_.fresh(std::move(v))));
}

} // namespace ATON_NAMESPACE::program

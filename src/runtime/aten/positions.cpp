// SPDX-License-Identifier: MIT
// Positions of the elements that indexing operators read and write.
#include "positions.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// An index with leading and trailing dimensions of size 1.
tensor among(tensor const& index, std::size_t before, std::size_t after) {
    sizes to(before, 1);
    to.insert(to.end(), index.sizes().begin(), index.sizes().end());
    to.insert(to.end(), after, 1);
    return reshape(index, to);
}

} // namespace

std::vector<tensor> integer_indices(tensor const& x, std::vector<tensor> const& given) {
    std::vector<tensor> out;
    for (tensor const& index : given) {
        if (!index) {
            out.emplace_back();
        } else if (index.dtype() == dtype::bool_ || index.dtype() == dtype::uint8) {
            for (std::size_t i = 0; i != index.rank(); ++i)
                if (out.size() + i >= x.rank() || index.size(i) != x.size(out.size() + i))
                    throw error("a mask of shape " + to_string(index.sizes()) + " does not fit shape " +
                                to_string(x.sizes()));
            tensor const where = nonzero(index);
            for (std::size_t i = 0; i != index.rank(); ++i)
                out.push_back(selected(where, 0, static_cast<std::int64_t>(i)));
        } else if (index.dtype() == dtype::int64 || index.dtype() == dtype::int32) {
            out.push_back(index);
        } else {
            throw error("an index must be int64, int32, bool or uint8, not " + std::string(name(index.dtype())));
        }
    }
    if (out.size() > x.rank()) throw error("there are more indices than dimensions in shape " + to_string(x.sizes()));
    return out;
}

tensor indexed_positions(sizes const& of, std::vector<tensor> const& indices) {
    sizes together;
    std::vector<std::size_t> indexed;
    for (std::size_t i = 0; i != indices.size(); ++i) {
        if (!indices[i]) continue;
        together = broadcast(together, indices[i].sizes());
        indexed.push_back(i);
    }
    if (indexed.empty()) throw error("at least one index is required");
    std::size_t const whole = of.size() - indexed.size();
    bool const adjacent = indexed.back() - indexed.front() + 1 == indexed.size();
    std::size_t const in_front = adjacent ? indexed.front() : 0;
    ints const strides = contiguous_strides(of);
    device const here = indices[indexed[0]].where();
    tensor out;
    auto const add = [&](tensor const& part) { out = out ? out + part : part; };
    std::size_t place = 0; // among the dimensions that are taken whole
    for (std::size_t i = 0; i != of.size(); ++i) {
        if (i < indices.size() && indices[i]) {
            std::vector<tensor> const one = {indices[i]};
            tensor const at = positions({of[i]}, one); // counted from the front, and in range
            add(among(at * whole_number(strides[i]), together.size() - at.rank() + in_front, whole - in_front));
        } else {
            std::size_t const behind = place < in_front ? whole + together.size() - place - 1 : whole - place - 1;
            add(among(range(of[i], 0, strides[i], here), 0, behind));
            ++place;
        }
    }
    return out;
}

tensor slice_positions(sizes const& of, std::size_t axis, tensor const& index) {
    if (index.rank() > 1) throw error("an index must be a vector, not of shape " + to_string(index.sizes()));
    tensor const flat = flatten(index);
    if (of.empty()) return positions({1}, std::vector<tensor>{flat});
    std::vector<tensor> indices(axis);
    indices.push_back(flat);
    return indexed_positions(of, indices);
}

tensor true_positions(tensor const& mask) {
    if (mask.dtype() != dtype::bool_ && mask.dtype() != dtype::uint8)
        throw error("a mask must be bool, not " + std::string(name(mask.dtype())));
    return kernels_of(mask.where()).nonzero(cast(mask, dtype::bool_));
}

tensor indexed(tensor const& x, std::vector<tensor> const& given) {
    std::vector<tensor> const indices = integer_indices(x, given);
    if (std::none_of(indices.begin(), indices.end(), [](tensor const& i) { return static_cast<bool>(i); })) return x;
    return take(x, indexed_positions(x.sizes(), indices));
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels

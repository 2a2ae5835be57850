// SPDX-License-Identifier: MIT
#include "pickle_data.hpp"

#include <algorithm>
#include <limits>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::pt2 {

std::vector<std::int64_t> pickle_data::numbers(value tuple, std::string_view name) const {
    std::vector<std::int64_t> out;
    out.reserve(tuple.length);
    for (value const& v : items_of(tuple)) {
        if (v.is != kind::number)
            files::fail(where, "a size or stride of " + files::in_quotes(name) + " is not an integer");
        out.push_back(v.number);
    }
    return out;
}

pickled_tensor pickle_data::tensor_of(value v, std::string_view name) const {
    tensor const& t = tensors[static_cast<std::size_t>(v.number)];
    storage const& s = storages[t.storage];
    pickled_tensor out{t.type, s.key, 0, t.offset, numbers(t.sizes, name), numbers(t.strides, name)};
    auto const width = static_cast<std::int64_t>(s.type == dtype::undefined ? 1 : bits(s.type) / 8);
    if (s.count < 0 || s.count > std::numeric_limits<std::int64_t>::max() / width)
        files::fail(where, "the storage of " + files::in_quotes(name) + " has a size that is out of range");
    out.storage_bytes = static_cast<std::uint64_t>(s.count * width);
    return out;
}

bool begins_with(std::span<pickle_data::value const> values, std::initializer_list<pickle_data::kind> kinds) {
    return values.size() >= kinds.size() &&
           std::equal(kinds.begin(), kinds.end(), values.begin(), [](pickle_data::kind k, pickle_data::value v) {
               return k == v.is;
           });
}

std::string name_of(pickle_data::global const& g) { return std::string(g.module).append(".").append(g.name); }

} // namespace ATON_NAMESPACE::pt2

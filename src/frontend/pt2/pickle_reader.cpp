// SPDX-License-Identifier: MIT
#include "pickle_reader.hpp"

#include <algorithm>
#include <limits>

#include "frontend/files/text.hpp"
#include "pickle_machine.hpp"

namespace ATON_NAMESPACE::pt2 {

pickled_tensors::pickled_tensors(std::string_view pickle, std::string where)
    : pickle_(pickle),
      where_(std::move(where)) {
    entries_ = pickle_machine(*this).run();
    std::sort(entries_.begin(), entries_.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    auto const duplicate = std::adjacent_find(
        entries_.begin(), entries_.end(), [](auto const& a, auto const& b) { return a.first == b.first; });
    if (duplicate != entries_.end()) files::fail(where_, "duplicate key " + files::in_quotes(duplicate->first));
}

std::vector<std::string_view> pickled_tensors::names() const {
    std::vector<std::string_view> out;
    out.reserve(entries_.size());
    for (auto const& e : entries_) out.push_back(e.first);
    return out;
}

std::vector<std::int64_t> pickled_tensors::numbers(value tuple, std::string_view name) const {
    std::vector<std::int64_t> out;
    out.reserve(tuple.length);
    for (std::size_t i = 0; i != tuple.length; ++i) {
        value const v = items_[static_cast<std::size_t>(tuple.number) + i];
        if (v.is != kind::number)
            files::fail(where_, "a size or stride of " + files::in_quotes(name) + " is not an integer");
        out.push_back(v.number);
    }
    return out;
}

std::optional<pickled_tensor> pickled_tensors::find(std::string_view name) const {
    auto const found = std::lower_bound(
        entries_.begin(), entries_.end(), name, [](auto const& entry, std::string_view n) { return entry.first < n; });
    if (found == entries_.end() || found->first != name) return std::nullopt;
    if (found->second.is != kind::tensor) files::fail(where_, files::in_quotes(name) + " is not a tensor");
    tensor const& t = tensors_[static_cast<std::size_t>(found->second.number)];
    storage const& s = storages_[t.storage];
    pickled_tensor out{t.type, s.key, 0, t.offset, numbers(t.sizes, name), numbers(t.strides, name)};
    auto const width = static_cast<std::int64_t>(s.type == dtype::undefined ? 1 : bits(s.type) / 8);
    if (s.count < 0 || s.count > std::numeric_limits<std::int64_t>::max() / width)
        files::fail(where_, "the storage of " + files::in_quotes(name) + " has a size that is out of range");
    out.storage_bytes = static_cast<std::uint64_t>(s.count * width);
    return out;
}

} // namespace ATON_NAMESPACE::pt2

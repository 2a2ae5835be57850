// SPDX-License-Identifier: MIT
#include "constant_elements.hpp"

#include <algorithm>
#include <utility>

namespace ATON_NAMESPACE::torchscript {

namespace {

constexpr std::size_t max_bytes = 1024; ///< of a tensor: what the exporter shows to mappings
constexpr std::size_t max_bytes_of_all = std::size_t{1} << 24U;

} // namespace

bool constant_elements::is_known(program::value_index v) const {
    return elements_.contains(v) && !aliases_.changed().contains(aliases_.memory_of(v));
}

void constant_elements::note(program::value_index v, std::shared_ptr<tensor const> elements) {
    if (elements == nullptr || elements->bytes.size() > max_bytes) return;
    bytes_ += sizeof(tensor) + elements->bytes.size();
    if (bytes_ <= max_bytes_of_all) elements_.emplace(v, std::move(elements));
}

std::optional<known_elements> constant_elements::of_operands(program::node const& n) const {
    known_elements out;
    bool all = true;
    for (program::argument const& a : n.arguments)
        program::for_each_value(a, [&](program::value_index v) {
            all = all && is_known(v);
            if (auto const found = elements_.find(v); found != elements_.end() && found->second != nullptr)
                out.insert(*found);
        });
    return all ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<value> constant_elements::number_of(program::value_index v) const {
    if (!is_known(v)) return {};
    std::shared_ptr<tensor const> const& elements = elements_.at(v);
    if (elements == nullptr || elements->element_count() != 1 || !tensor::can_hold(elements->type)) return {};
    return value::of(elements->at(0), true).as_tensor(elements->type);
}

bool constant_elements::have_changed(std::set<program::value_index> const& changed_before,
                                     program::value_index end) const {
    return std::any_of(elements_.begin(), elements_.end(), [&](auto const& each) {
        program::value_index const memory = aliases_.memory_of(each.first);
        return each.first < end && aliases_.changed().contains(memory) && !changed_before.contains(memory);
    });
}

} // namespace ATON_NAMESPACE::torchscript

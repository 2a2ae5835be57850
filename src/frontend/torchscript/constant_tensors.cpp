// SPDX-License-Identifier: MIT
// Small tensors that depend on constants alone, as sizes of images that code calculates with tensors: their elements are known, so that
// conditions on them are decided and numbers from them are constants.
#include <algorithm>

#include "interpreter.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

constexpr std::size_t max_bytes = 1024; ///< of a tensor: what the exporter shows to mappings
constexpr std::size_t max_bytes_of_all = std::size_t{1} << 24U;

} // namespace

/// Whether the elements of a tensor are those that its operator or the archive has given it.
bool interpreter::is_known(program::value_index v) const {
    return elements_.contains(v) && !changed_memory_.contains(memory_of(v));
}

void interpreter::note_elements(program::value_index v, std::shared_ptr<tensor const> elements) {
    if (elements == nullptr || elements->bytes.size() > max_bytes) return;
    bytes_of_elements_ += sizeof(tensor) + elements->bytes.size();
    if (bytes_of_elements_ <= max_bytes_of_all) elements_.emplace(v, std::move(elements));
}

/// The elements of all values that a node gets, if they are known.
std::optional<known_elements> interpreter::elements_of_operands(program::node const& n) const {
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

/// The number that a constant tensor with one element has.
std::optional<value> interpreter::constant_of_tensor(program::value_index v) const {
    if (!is_known(v)) return {};
    std::shared_ptr<tensor const> const& elements = elements_.at(v);
    if (elements == nullptr || elements->element_count() != 1 || !tensor::can_hold(elements->type)) return {};
    return value::of(elements->at(0)).as_tensor(elements->type).as_from_tensor();
}

/// Whether code has written to tensors that were known, and made, before the value `end`.
bool interpreter::has_changed_known(std::set<program::value_index> const& changed_before,
                                    program::value_index end) const {
    return std::any_of(elements_.begin(), elements_.end(), [&](auto const& each) {
        program::value_index const memory = memory_of(each.first);
        return each.first < end && changed_memory_.contains(memory) && !changed_before.contains(memory);
    });
}

} // namespace ATON_NAMESPACE::torchscript

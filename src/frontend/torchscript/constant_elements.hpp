// SPDX-License-Identifier: MIT
// Small tensors that depend on constants alone, as sizes of images that code calculates with tensors: their elements are known, so that
// conditions on them are decided and numbers from them are constants.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>

#include <aton/frontend/torchscript/read_program.hpp>
#include <aton/program/program.hpp>

#include "tensor_aliases.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class constant_elements {
public:
    explicit constant_elements(tensor_aliases const& aliases) : aliases_(aliases) {}

    void note(program::value_index v, std::shared_ptr<tensor const> elements);
    /// A constant of the archive, whose elements inference reads there.
    void note_stored(program::value_index v) { elements_.emplace(v, nullptr); }

    /// Whether the elements of a tensor are those that its operator or the archive has given it.
    [[nodiscard]] bool is_known(program::value_index v) const;
    /// The elements of all values that a node gets, if they are known.
    [[nodiscard]] std::optional<known_elements> of_operands(program::node const& n) const;
    /// The number that a constant tensor with one element has.
    [[nodiscard]] std::optional<value> number_of(program::value_index v) const;
    /// Whether code has written to tensors that were known, and made, before the value `end`. `changed_before`: memory that had changed by then.
    [[nodiscard]] bool have_changed(std::set<program::value_index> const& changed_before,
                                    program::value_index end) const;

private:
    tensor_aliases const& aliases_;
    known_elements elements_; ///< of constants, unless code writes to them
    std::size_t bytes_ = 0;   ///< of all of them
};

} // namespace ATON_NAMESPACE::torchscript

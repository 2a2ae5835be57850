// SPDX-License-Identifier: MIT
// Which values of the program share memory, and to which memory code has written.
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::torchscript {

class tensor_aliases {
public:
    /// Notes that a result shares the memory of an operand. With `is_written`, it is the operand after a write.
    void note(program::value_index result, program::value_index operand, bool is_written);
    /// Notes that code writes to a tensor.
    void note_write(program::value_index tensor) { changed_.insert(memory_of(tensor)); }

    /// The tensor that a value is, after operators that write to it and return it.
    [[nodiscard]] program::value_index same_tensor(program::value_index v) const;
    /// The tensor whose memory a value shares.
    [[nodiscard]] program::value_index memory_of(program::value_index v) const;
    /// The tensors to whose memory code has written.
    [[nodiscard]] std::set<program::value_index> const& changed() const { return changed_; }

    /// The tensors from outside to which a part with these nodes writes, itself or through views that it makes. `written`: what its operators
    /// write to.
    [[nodiscard]] std::vector<program::value_index> written_outside(
        std::vector<program::node> const& nodes, std::vector<program::value_index> const& written) const;
    /// Whether the written tensors share no memory with each other, nor with other values.
    [[nodiscard]] bool are_apart(std::vector<program::value_index> const& written,
                                 std::vector<program::value_index> const& used) const;

private:
    std::unordered_map<program::value_index, program::value_index> views_; ///< a result, and the operand that it shares
    std::unordered_map<program::value_index, program::value_index> same_;  ///< the result of a write, and its operand
    std::set<program::value_index> changed_;                               ///< memory
};

} // namespace ATON_NAMESPACE::torchscript

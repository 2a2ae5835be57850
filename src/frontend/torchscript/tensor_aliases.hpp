// SPDX-License-Identifier: MIT
// Which values of the program share memory, and to which memory code has written.
#pragma once

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"

namespace ATON_NAMESPACE::torchscript {

class tensor_aliases {
public:
    /// Notes what the results of a node share with its operands, and what it writes to.
    void note(program::node const& n, overload const& o, code_position const& at);
    /// Lets rows share memory, to which nodes cannot write from now on.
    void share_with_rows(program::value_index memory) { in_rows_.insert(memory); }

    /// The tensors to which nodes have written since the part began that is interpreted; another part begins with `others`.
    [[nodiscard]] std::vector<program::value_index> exchange_written(std::vector<program::value_index> others) {
        return std::exchange(written_, std::move(others));
    }

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
    /// Notes that a result shares the memory of an operand. With `is_written`, it is the operand after a write.
    void note(program::value_index result, program::value_index operand, bool is_written);

    std::unordered_map<program::value_index, program::value_index> views_; ///< a result, and the operand that it shares
    std::unordered_map<program::value_index, program::value_index> same_;  ///< the result of a write, and its operand
    std::set<program::value_index> changed_;                               ///< memory
    std::set<program::value_index> in_rows_;                               ///< memory
    std::vector<program::value_index> written_;                            ///< tensors
};

} // namespace ATON_NAMESPACE::torchscript

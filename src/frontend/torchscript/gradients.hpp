// SPDX-License-Identifier: MIT
// Which tensors require a gradient: parameters that the archive saves so, and what is computed from them. Code asks for it before it takes
// a path that is only right without gradients.
#pragma once

#include <set>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::torchscript {

class gradients {
public:
    /// torch.is_grad_enabled(): as in a call of the loaded module, and not inside of torch.no_grad().
    bool is_enabled = true;

    [[nodiscard]] bool requires_gradient(program::value_index v) const { return requiring_.contains(v); }
    void require(program::value_index v) { requiring_.insert(v); }

    /// Notes the results of a node, and the tensors that it writes to.
    void note(program::program const& of, program::node const& n);
    /// Lets a result be one of two values, as after a branch.
    void merge(program::argument const& a, program::argument const& b, program::value_index result);

private:
    std::set<program::value_index> requiring_;
};

} // namespace ATON_NAMESPACE::torchscript

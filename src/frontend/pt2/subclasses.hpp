// SPDX-License-Identifier: MIT
// Replaces weights that are tensors of a class of Python by the plain tensors in them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <aton/frontend/pt2/archive.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::pt2 {

/// An input of a program that is a tensor of a class.
struct held_subclass {
    std::size_t input = 0; ///< its index in program::inputs
    std::shared_ptr<tensor_subclass const> tensor;
};

/// What torch.export wrote for an attribute, access_subclass_inner_tensor(weight, "qdata"), becomes the weight "fc.weight.qdata". A weight that is
/// used as a whole is computed from its attributes, if its class is known. Throws aton::error, "where: ...", for other classes,
/// and for attributes that are missing or are not tensors of the type that the program has.
void expand_subclasses(program::program& p, std::vector<held_subclass> const& held, std::string const& where);

} // namespace ATON_NAMESPACE::pt2

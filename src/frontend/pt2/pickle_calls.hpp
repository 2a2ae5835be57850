// SPDX-License-Identifier: MIT
// The functions that a pickle of tensors may call: those of torch that rebuild tensors, without torch. None is run.
#pragma once

#include <span>

#include "pickle_data.hpp"

namespace ATON_NAMESPACE::pt2 {

class pickle_machine;

class pickle_calls {
public:
    using value = pickle_data::value;
    using kind = pickle_data::kind;
    using global = pickle_data::global;

    explicit pickle_calls(pickle_machine& machine) : machine_(machine) {}

    [[nodiscard]] value call(global function, value arguments);
    /// The object of an unknown call; refuses it in a dict of tensors.
    [[nodiscard]] value unknown_call(global function, value arguments);

private:
    [[nodiscard]] value rebuild_tensor(std::span<value const> arguments, bool has_dtype);
    [[nodiscard]] value rebuild_from_type(std::span<value const> arguments);
    [[nodiscard]] value rebuild_subclass(global type, value arguments, value state);
    [[nodiscard]] value add_object(kind is, pickle_data::object const& made);
    [[noreturn]] void refuse(global function) const;

    pickle_machine& machine_;
};

} // namespace ATON_NAMESPACE::pt2

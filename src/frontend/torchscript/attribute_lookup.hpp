// SPDX-License-Identifier: MIT
// What attributes are: those of objects and named tuples, members of enumerations, and names behind a dot.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "calls.hpp"
#include "code_position.hpp"
#include "library.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class attribute_lookup {
public:
    attribute_lookup(library& code, heap& in, code_position& at, code_runner& runner)
        : code_(code),
          heap_(in),
          at_(at),
          runner_(runner) {}

    /// The tuple of constants.pkl.
    void set_constants(value constants) { constants_ = std::move(constants); }

    [[nodiscard]] value attribute_of(value const& v, std::string const& name);

private:
    /// A function, a class or a constant by its dotted name; others stay a name.
    [[nodiscard]] value resolve_path(std::string path);
    /// The name or the value of a member of an enumeration.
    [[nodiscard]] std::optional<value> attribute_of_member(std::string const& member, std::string const& name);

    library& code_;
    heap& heap_;
    code_position& at_;
    code_runner& runner_;
    value constants_;
};

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
// Attributes of a module that calls of forward change: what they hold between two calls.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/program/program.hpp>

#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

enum class held_as : std::uint8_t {
    constant, ///< the same before every call
    size,     ///< an expression of the sizes of inputs, which all calls share
    number,   ///< a number: an input and an output of the model
    tensor,   ///< a tensor of one type: an input and an output of the model
    saved,    ///< what the archive has, before the first call
    zeros,    ///< a tensor of which the archive has none of this type, before the first call
    group,    ///< a list or a tuple of these
};

/// What an attribute holds when forward is called.
struct held_value {
    held_as is = held_as::constant;
    constant known;
    program::expression size;
    program::value_kind number = program::value_kind::sym_int;
    dtype type = dtype::undefined;
    std::vector<program::expression> sizes;
    kind container = kind::list;
    std::vector<held_value> items;

    friend bool operator==(held_value const&, held_value const&) = default;

    /// Whether the model has an input for it, or for a part of it.
    [[nodiscard]] bool is_input() const;
};

/// The path of a module and the name of its attribute.
using attribute_name = std::pair<std::string, std::string>;
using held_values = std::map<attribute_name, held_value>;

/// "decoder.state"
[[nodiscard]] std::string text_of(attribute_name const& name);
/// "decoder_state", the name of an input
[[nodiscard]] std::string plain_name(std::string name);

/// What an attribute holds before a call, if it held `before` at first and `after` when a call ended; nothing if it changes its type with every
/// call. A constant may change once, as a flag or a rate does in the first call; from then on it is a number.
[[nodiscard]] std::optional<held_value> settle(held_value const& before, held_value const& after, bool is_first_change);

/// The first call: what the archive saves, and zeros for a tensor whose saved value has another type.
[[nodiscard]] held_values before_first_call(held_values const& later, held_values const& saved);

/// In words, by the names of the inputs: "zeros", "3", "the tensor that the archive saves".
[[nodiscard]] std::map<std::string, std::string> first_values(held_values const& later, held_values const& saved);

/// Whether two programs compute the same outputs from the same inputs. Views and copies of zeros are zeros. False if it is not certain.
[[nodiscard]] bool compute_the_same(program::program const& a, program::program const& b);

} // namespace ATON_NAMESPACE::torchscript

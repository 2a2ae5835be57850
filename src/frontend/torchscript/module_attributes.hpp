// SPDX-License-Identifier: MIT
// Attributes of objects that code assigns. Buffers of the module keep their type and become outputs; other attributes hold what the call before
// has left, and the model returns what it keeps for the next one.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "code_position.hpp"
#include "module_inputs.hpp"
#include "module_state.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// What the module has when `forward` is called.
struct state_before {
    held_values held; ///< the other attributes are as saved
    held_values kept; ///< of which the model returns the new values
};

/// What the attributes that `forward` has changed hold.
struct state_left {
    held_values saved; ///< before the call
    held_values after;
    std::map<attribute_name, std::string> places; ///< of the first assignments
};

/// What a part of the code has assigned to an attribute of an object from outside, or what the attribute held before.
struct outside_attribute {
    instance* object = nullptr;
    value held;
};
using attribute_key = std::pair<std::size_t, std::string>; ///< the serial number of the object, and the name
using outside_attributes = std::map<attribute_key, outside_attribute>;

class module_attributes {
public:
    /// `path`: that of the archive.
    module_attributes(state_before before, std::string const& path, program_builder& build, result_types const& types,
                      program_values& values, module_inputs& inputs, heap& in, code_position& at)
        : before_(std::move(before)),
          path_(path),
          build_(build),
          types_(types),
          values_(values),
          inputs_(inputs),
          heap_(in),
          at_(at) {}

    /// Gives attributes the values that earlier calls of `forward` have left.
    void set_initial();
    void set(instance& object, std::string const& name, value const& v);
    /// Adds the new values of buffers that were assigned, `self.count = torch.add(self.count, 1)`, and of attributes that the model keeps.
    void add_outputs();

    /// After add_outputs().
    [[nodiscard]] state_left const& left() const { return left_; }

    /// What attributes held that the part has assigned which is interpreted; another part begins with `others`.
    [[nodiscard]] outside_attributes exchange_changed(outside_attributes others) {
        return std::exchange(changed_, std::move(others));
    }
    /// Calls f(value&) for each attribute of the module that was assigned.
    template <class F>
    void for_each_assigned(F f) {
        for (auto& [name, each] : assigned_) f(each.object->attributes[name.second]);
    }

private:
    /// What a value is between two calls; nothing if it cannot be kept.
    [[nodiscard]] std::optional<held_value> held_of(value const& v, int depth = 0);
    /// The value of an attribute when `forward` is called, with inputs for what the model gets from the call before.
    [[nodiscard]] value value_of(held_value const& held, value const& saved, std::string const& name);
    /// Adds the outputs for an attribute that the model keeps: `decoder_state.out`.
    void add_kept(held_value const& held, value const& now, std::string const& name);

    struct assigned {
        instance* object = nullptr;
        value before;      ///< when `forward` is called
        std::string place; ///< of the first assignment
    };

    state_before before_;
    std::string const& path_;
    program_builder& build_;
    result_types const& types_;
    program_values& values_;
    module_inputs& inputs_;
    heap& heap_;
    code_position& at_;
    state_left left_;
    std::map<attribute_name, assigned> assigned_;                      ///< of the module
    std::map<std::size_t, std::pair<instance*, std::string>> buffers_; ///< weights whose attribute was assigned
    outside_attributes changed_; ///< by the part that is interpreted: what they held before
};

} // namespace ATON_NAMESPACE::torchscript

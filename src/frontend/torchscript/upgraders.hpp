// SPDX-License-Identifier: MIT
// Calls of operators whose meaning changed since the archive was saved.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "calls.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "result_types.hpp"

namespace ATON_NAMESPACE::torchscript {

class upgraders {
public:
    /// `format`: that of the archive.
    upgraders(std::int64_t format, program_builder const& build, result_types const& types, program_values& values)
        : format_(format),
          build_(build),
          types_(types),
          values_(values) {}

    /// The arguments with which torch.`name` does today what it did when the archive was saved; nothing if that is what it does with those given.
    [[nodiscard]] std::optional<call_arguments> upgraded(std::string_view name, call_arguments const& given);

private:
    [[nodiscard]] bool is_floating_value(value const& v);
    [[nodiscard]] std::optional<call_arguments> truncated_division(call_arguments const& given);

    std::int64_t format_;
    program_builder const& build_;
    result_types const& types_;
    program_values& values_;
};

} // namespace ATON_NAMESPACE::torchscript

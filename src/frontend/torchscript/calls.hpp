// SPDX-License-Identifier: MIT
// Calls of the code that is interpreted: their arguments, the overloads of operators, and exceptions that they raise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>

#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// The arguments of a call.
struct call_arguments {
    std::vector<value> positional;
    std::vector<std::pair<std::string, value>> named;

    [[nodiscard]] std::size_t size() const { return positional.size() + named.size(); }
};

/// Calls by what is called: for parts of the interpreter that other parts call.
class caller {
public:
    caller() = default;
    caller(caller const&) = delete;
    caller& operator=(caller const&) = delete;

    [[nodiscard]] virtual value call_operator(std::string const& op, call_arguments const& operands) = 0;
    /// A function by its dotted name: "torch.relu".
    [[nodiscard]] virtual value call_path(std::string_view path, call_arguments const& given) = 0;
    [[nodiscard]] virtual value call_method(value const& object, std::string const& name, std::vector<value> given) = 0;

protected:
    ~caller() = default;
};

/// How a statement ends.
enum class flow : std::uint8_t { next, returned };

/// Runs code of the archive: for parts that decide which code runs.
class code_runner {
public:
    code_runner() = default;
    code_runner(code_runner const&) = delete;
    code_runner& operator=(code_runner const&) = delete;

    [[nodiscard]] virtual value evaluate(expr const& e) = 0;
    [[nodiscard]] virtual flow run_block(std::vector<stmt> const& block) = 0;

protected:
    ~code_runner() = default;
};

/// An overload of an operator.
struct overload {
    std::string op; ///< "aten::add.Tensor"
    std::string_view schema;
    std::vector<aten::schema_argument> arguments;
    std::vector<aten::schema_return> returns;
    bool is_torchs = true;
};

/// The name of an operator, without its namespace and overload: "add" of "aten::add.Tensor".
[[nodiscard]] inline std::string_view operator_name(std::string_view op) {
    op = op.substr(0, op.find('.'));
    std::size_t const colons = op.find("::");
    return colons == std::string_view::npos ? op : op.substr(colons + 2);
}

/// The number that a stored tensor of one element has; nothing if it has more, or a dtype without numbers of Python.
[[nodiscard]] std::optional<value> number_in(stored_tensor const& t);

/// The code of the module raises an exception, whatever its inputs are.
class raised : public error {
public:
    using error::error;
};

} // namespace ATON_NAMESPACE::torchscript

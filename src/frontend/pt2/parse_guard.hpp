// SPDX-License-Identifier: MIT
// Guards, which are Python expressions over the inputs: "(0.5*torch.sym_float(L['x'].size()[0])) == 2.5".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/program/expression.hpp>

namespace ATON_NAMESPACE::pt2 {

/// A number of an input in a guard: L['d']['a'][1].size()[0] has the path d, a, 1 and axis 0; L['n'] has no axis.
struct guard_number {
    std::vector<std::string> path;
    std::optional<std::int64_t> axis;
};

/// The symbol for such a number; empty if it is unknown.
using guard_lookup = std::function<std::string(guard_number const&)>;

/// The condition as an expression, with the operands in source order; nothing if it cannot be parsed. The grammar is that of
/// PythonPrinter in torch/utils/_sympy/printers.py, plus sympy's function names.
[[nodiscard]] std::optional<program::expression> parse_guard(std::string_view text, guard_lookup const& lookup);

} // namespace ATON_NAMESPACE::pt2

// SPDX-License-Identifier: MIT
// The custom operators that the code of a TorchScript archive calls, without running it.
// Public header.
#pragma once

#include <string>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::torchscript {

/// An argument of a call, as far as the code tells.
struct called_argument {
    std::string name;         ///< of a keyword; empty: by position
    std::string type;         ///< "Tensor" where the code does not say more, "float", "int[]"; empty: None
    bool is_optional = false; ///< annotated with Optional
};

/// A call `ops.mylib.scale(x, 0.5)`.
struct called_operator {
    std::string op; ///< "mylib::scale"; the code does not name the overload
    std::vector<called_argument> arguments;
    std::vector<std::string> results; ///< their types, as far as the code tells: "Tensor"
    std::string place;                ///< "net.py:12 in forward"; empty if the archive does not tell
};

/// Every call of an operator in the code of an archive that is not torch's, in the order of the files. Throws aton::error, one line with the
/// file, if the archive is damaged.
[[nodiscard]] std::vector<called_operator> called_operators(std::string const& path);

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
// Reads the program of a .pt2 file written by torch.export.save, schema 5 to 8 (torch 2.4 and newer).
// Public header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <aton/frontend/pt2/archive.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::pt2 {

/// The program of one model of a file; for an empty name, see archive::program_json. The file stays mapped while the program lives.
/// Throws aton::error, one line with the file, the position and the problem.
/// ```cpp
/// #include <aton/frontend/pt2/read_program.hpp>
///
/// inline std::string listing(std::string const& path) { return to_string(aton::pt2::read_program(path)); }
/// ```
[[nodiscard]] program::program read_program(std::string const& path, std::string_view model = {});
[[nodiscard]] program::program read_program(archive const& from, std::string_view model = {});

/// Parses the sympy expression of a size: "Add(Symbol('s77', positive=True, integer=True), Integer(1))", or "s0 + 1" as written by
/// torch 2.5 and older. Throws aton::error with the offset.
[[nodiscard]] program::expression parse_expression(std::string_view text);

} // namespace ATON_NAMESPACE::pt2

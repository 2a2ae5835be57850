// SPDX-License-Identifier: MIT
// Reads the program of a .pt2 file: what torch.export.save wrote, schema 5 to 8 (torch 2.4 and newer).
// Public header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <aton/frontend/pt2/archive.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::pt2 {

/// The program of one model of a file; empty name: see archive::program_json. The file stays mapped while the program lives.
/// Throws aton::error, one line that names file, place and what is wrong.
/// ```cpp
/// #include <aton/frontend/pt2/read_program.hpp>
///
/// inline std::string listing(std::string const& path) { return to_string(aton::pt2::read_program(path)); }
/// ```
[[nodiscard]] program::program read_program(std::string const& path, std::string_view model = {});
[[nodiscard]] program::program read_program(archive const& from, std::string_view model = {});

/// The sympy expression of a size: "Add(Symbol('s77', positive=True, integer=True), Integer(1))", or of torch 2.5 and older "s0 + 1".
/// Throws aton::error with the place in the text.
[[nodiscard]] program::expression parse_expression(std::string_view text);

} // namespace ATON_NAMESPACE::pt2

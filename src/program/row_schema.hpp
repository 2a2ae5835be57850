// SPDX-License-Identifier: MIT
// Compares a call of an operator that torch does not declare with the schema of its row, which an author may have written from memory: a
// write to an argument that the row names otherwise, or does not mark, would be lost.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// Refuses names of arguments that the schema does not have, and required arguments of the schema that the call does not have.
void require_names(program const& p, node const& call, std::vector<std::string> const& given, std::string_view schema);

/// The same for a call of which the program says what it writes to: also refuses differences in that.
void require_writes(program const& p, node const& call, std::vector<std::string> const& read,
                    std::vector<std::string> const& written, std::string_view schema);

/// The same where the program says only how many arguments it writes to.
void require_write_count(program const& p, node const& call, std::size_t written, std::string_view schema);

/// Refuses a call with another number of results than the schema.
void require_result_count(program const& p, node const& call, std::size_t results, std::string_view schema);

} // namespace ATON_NAMESPACE::program

// SPDX-License-Identifier: MIT
// Recorded calls of operators with their results: the reference for operators that only their own library can run.
// docs/verify.md describes the files.
// Public header.
#pragma once

#include <string>
#include <vector>

#include <aton/runtime/value.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// A call of the real operator, and what it gave.
struct recorded_call {
    std::string schema; ///< as recorded
    sample call;        ///< with the arguments that were recorded
    std::vector<runtime::value>
        results;        ///< of the schema, then the new values of the arguments that the operator writes to
    std::string place;  ///< "calls/swiglu.jsonl:3"
    bool values = true; ///< false: only dtypes and sizes are compared
};

/// Reads the .jsonl files of a folder in the order of their names: one call per line. Tensors are read from files of the folder only.
/// Throws aton::error, which names the file, the line and what is wrong.
/// ```cpp
/// #include <aton/verify/check.hpp>
///
/// inline bool gives_the_recorded_numbers(aton::dsl::table_view my_table, std::string const& folder) {
///     std::vector<aton::verify::recorded_call> const calls = aton::verify::read_calls(folder);
///     aton::verify::check_options options;
///     options.calls = calls;
///     return check(my_table, options).passed();
/// }
/// ```
[[nodiscard]] std::vector<recorded_call> read_calls(std::string const& folder);

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// Rewrites of ATen calls, which are applied to a program before it is converted.
#pragma once

#include <deque>
#include <memory>

#include <aton/dsl/rewrite_rows.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::exporter {

class dimension_names;

/// A program in which calls that match are replaced by calls of rows that are the rewrites, and the options with these rows.
class rewritten_calls {
public:
    /// `p` must outlive it, and `dims` are its names of dimensions. Throws aton::error for a name to leave out that no rewrite has, and for a rewrite that throws.
    rewritten_calls(program::program const& p, export_options const& options, dimension_names const& dims,
                    bool exact_nan);
    rewritten_calls(rewritten_calls const&) = delete;
    rewritten_calls& operator=(rewritten_calls const&) = delete;
    ~rewritten_calls() = default;

    [[nodiscard]] program::program const& rewritten() const { return changed_ != nullptr ? *changed_ : original_; }
    [[nodiscard]] export_options const& options() const { return options_; }

private:
    class pass;

    program::program const& original_;
    std::unique_ptr<program::program> changed_; // null: nothing matched
    export_options options_;
    std::deque<rewrite_entry> rewrites_;
    dsl::detail::rewrite_row_list rows_;
};

} // namespace ATON_NAMESPACE::exporter

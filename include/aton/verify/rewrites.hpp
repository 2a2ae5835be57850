// SPDX-License-Identifier: MIT
// Rewrites as rows, which check() compares with their patterns: the captures are the arguments, what the pattern computes is the truth.
// Public header.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include <aton/dsl/rewrite_rows.hpp>
#include <aton/dsl/table.hpp>
#include <aton/ir/pattern.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// Rewrites in the form of rows. A row builds a variant of the pattern, lets the passes apply the rewrite, and refuses the call if they do
/// not: because the condition does not hold, or the replacement refuses or has another type. A row of a rewrite of ATen calls is the
/// replacement, and the calls are run by the runtime.
/// ```cpp
/// #include <aton/fusions/built_in.hpp>
/// #include <aton/verify/rewrites.hpp>
///
/// inline bool all_rewrites_are_right() {
///     aton::verify::rewrite_rows const rewrites(aton::fusions::built_in_rewrites());
///     return check(rewrites.rows(), rewrites.options()).passed();
/// }
/// ```
class rewrite_rows {
public:
    /// The rewrites must outlive the rows. `with_conditions`: false ignores the conditions, which tells whether they are needed.
    explicit rewrite_rows(std::span<rewrite_entry const> rewrites, bool with_conditions = true);
    rewrite_rows(rewrite_rows const&) = delete;
    rewrite_rows& operator=(rewrite_rows const&) = delete;
    ~rewrite_rows() = default;

    /// The rows, in the order of the rewrites; the overload of each is "rewrite::" and its name.
    [[nodiscard]] dsl::table_view rows() const { return rows_.rows(); }
    /// `from` with the patterns as truth, and with the rules of the built-in rewrites. The rows must outlive them.
    [[nodiscard]] check_options options(check_options from = {}) const;

private:
    std::deque<rewrite_entry> rewrites_;
    dsl::detail::rewrite_row_list rows_;
};

/// Which conditions the calls show to be necessary: without them, a call has other results, or its graph does not run.
struct condition_report {
    int needed = 0;
    std::vector<std::string> survivors; ///< the rewrites whose condition could be left out, as far as the calls tell

    /// In percent of all conditions.
    [[nodiscard]] double power() const noexcept;
    /// One line.
    [[nodiscard]] std::string to_text() const;
};
/// Checks the rewrites without their conditions. Throws aton::error if the options are malformed.
[[nodiscard]] condition_report check_conditions(std::span<rewrite_entry const> rewrites, check_options const& options);

/// The sampling rules of the built-in rewrites; arguments are x0, x1, ... in the order of the captures.
[[nodiscard]] std::span<sampling_rule const> rewrite_sampling_rules();

} // namespace ATON_NAMESPACE::verify

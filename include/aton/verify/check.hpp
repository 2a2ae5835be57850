// SPDX-License-Identifier: MIT
// Whether the rows of a table give the numbers that ATen gives, and how much that check is worth.
//
//     CHECK_MESSAGE(aton::verify::check(my_table).passed(), ...);
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/dsl/table.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// Calls whose numbers are not compared, dtypes and sizes are: of random operators, of what ONNX cannot say.
struct exclusion {
    std::string_view operators; ///< as in sampling_rule
    std::string_view when;      ///< "" always, or a theme ("special", "empty", ...) or a dtype
    std::string_view reason;
};
/// The exclusions of the built-in mappings, each with its reason.
[[nodiscard]] std::span<exclusion const> known_exclusions();

/// Mutants that are no other function, with the reason.
struct equivalent_mutant {
    std::string_view operators;
    std::string_view what; ///< as mutation::what, or the start of it
    std::string_view reason;
};
/// The equivalent mutants of the built-in mappings, each with its reason.
[[nodiscard]] std::span<equivalent_mutant const> known_equivalents();

/// What a call gives; throws aton::error where it has no meaning.
using reference = std::function<runtime::aten_results(sample const&)>;

/// Which rows are checked, against what, and how thoroughly.
struct check_options {
    reference truth;                                              ///< empty: the runtime's ATen kernels
    std::span<sampling_rule const> rules = aten_sampling_rules(); ///< looked at before those of ATen
    std::span<exclusion const> exclusions = known_exclusions();
    std::span<equivalent_mutant const> equivalents = known_equivalents();
    int samples = 3; ///< of each combination of themes
    std::uint64_t seed = 0;
    int least_opset = 1;
    int most_opset = 1000;
    bool mutants = false;
    int search = 240;      ///< further calls of a row, at most, for mutants that are not caught
    int threads = 1;       ///< rows at a time, 0: as many as the machine runs; `truth` is called from all of them
    std::string_view only; ///< overloads that have this text in their name
    runtime::device where;
    std::function<void(std::size_t done, std::size_t all)> progress; ///< of rows; one call at a time, from any thread
};

/// A call whose results are not the same, made as small as it could be.
struct failure {
    sample call;
    int opset = 0;
    std::string why;
};

/// The calls of a row in one dtype, by their outcome.
struct type_report {
    dtype type = dtype::undefined;
    int same = 0;
    int different = 0;
    int refused = 0;   ///< the mapping says no
    int undefined = 0; ///< ATen says no
    int excluded = 0;  ///< only dtype and sizes are compared
};

/// The mutants of a row, by their outcome.
struct mutant_report {
    int made = 0; ///< that run at least once
    int caught = 0;
    int equivalent = 0; ///< of those that are not caught: known ones
    std::vector<std::string> survivors;
    std::string few; ///< why there are fewer than five; empty: there are not

    /// In percent; those that are equivalent do not count.
    [[nodiscard]] double power() const { return made == equivalent ? 100 : 100.0 * caught / (made - equivalent); }
};

/// What one argument was in the calls that ATen takes.
struct argument_report {
    std::string name;
    std::vector<std::string> drawn;   ///< kinds of values: "default", "None", "0", "NaN", "'mean'", "float32"
    std::vector<std::string> missing; ///< kinds that schema and rule allow, and that no call had
};

/// The result of the check of one row.
struct row_report {
    std::string overload;
    int since = 0;
    int until = 0;
    std::vector<int> opsets; ///< at which the row makes another graph than at the one before
    std::vector<type_report> types;
    double worst_error = 0; ///< in parts of the tolerance
    std::vector<int> errors =
        std::vector<int>(8); ///< results by their error: 0, up to 1e-6, 1e-5, ... 1 of the tolerance, more
    std::vector<argument_report> arguments;
    std::vector<failure> failures;
    std::string not_checked; ///< why; empty: it was
    mutant_report mutants;

    /// The sum over all dtypes: `row.total(&type_report::same)`.
    [[nodiscard]] int total(int type_report::* member) const {
        int sum = 0;
        for (type_report const& t : types) sum += t.*member;
        return sum;
    }
    /// Whether the row was checked and no call failed.
    [[nodiscard]] bool passed() const { return failures.empty() && not_checked.empty(); }
};

/// The result of a check: one report for each row.
struct report {
    std::vector<row_report> rows;

    /// Whether every row passed.
    [[nodiscard]] bool passed() const;
    /// Of all rows' mutants, in percent; those that are equivalent do not count.
    [[nodiscard]] double power() const;
    /// The row that notices fewest of its mutants; nullptr: there is none.
    [[nodiscard]] row_report const* weakest() const;
    /// A line for each row that fails, with the smallest call, and one for all.
    [[nodiscard]] std::string to_text() const;
    /// Everything that the report holds, as JSON.
    [[nodiscard]] std::string to_json() const;
    /// The report as a page of HTML that includes nothing from elsewhere.
    [[nodiscard]] std::string to_html() const;
};

/// Checks every row that `options` leaves in. Deterministic for a seed.
/// A row that cannot be checked is reported; what `options.progress` throws is thrown.
/// ```cpp
/// #include <aton/mappings.hpp>
/// #include <aton/verify/check.hpp>
///
/// inline bool activations_are_right() {
///     aton::verify::check_options options;
///     options.mutants = true;
///     aton::verify::report const report = aton::verify::check(aton::mappings::activation, options);
///     std::puts(report.to_text().c_str());
///     return report.passed() && report.power() >= 95;
/// }
/// ```
[[nodiscard]] report check(dsl::table_view rows, check_options const& options = {});

} // namespace ATON_NAMESPACE::verify

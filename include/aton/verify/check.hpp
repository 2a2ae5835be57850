// SPDX-License-Identifier: MIT
// Checks whether the rows of a table give ATen's numbers, and measures how much the check detects.
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
#include <aton/verify/recorded_calls.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// Calls for which only dtypes and sizes are compared: random operators, and results that ONNX cannot express.
struct exclusion {
    std::string_view operators; ///< as in sampling_rule
    std::string_view when;      ///< "": always; otherwise a profile ("special", "empty", ...) or a dtype
    std::string_view reason;
};
/// The exclusions of the built-in mappings, each with its reason.
[[nodiscard]] std::span<exclusion const> known_exclusions();

/// Known-equivalent mutants, with the reason. Those of an argument are also equivalent if its sampling rule gives a reason.
struct equivalent_mutant {
    std::string_view operators;
    std::string_view what; ///< mutation::what or a prefix of it
    std::string_view reason;
};
/// The equivalent mutants of the built-in mappings, each with its reason.
[[nodiscard]] std::span<equivalent_mutant const> known_equivalents();

/// A result that a row may leave out although the operator gives it. Everywhere else, that is a difference.
struct omitted_result {
    std::string_view operators; ///< as in sampling_rule
    int result = 0;             ///< its index in the schema
    std::string_view when;      ///< "": always; "no elements": if it has none; otherwise as in exclusion
    std::string_view reason;
};
/// The results that built-in mappings leave out, each with the reason.
[[nodiscard]] std::span<omitted_result const> known_omissions() noexcept;

/// Computes the expected results of a call. Throws aton::error if the call is invalid.
using reference = std::function<runtime::aten_results(sample const&)>;

/// Which rows are checked, against what, and how thoroughly.
struct check_options {
    reference truth; ///< empty: the runtime's ATen kernels
    std::span<recorded_call const>
        calls; ///< compared as well; for rows without any other reference, instead of random calls
    /// The schema that the real operator of an overload is registered with, empty if unknown; compared with that of the row.
    std::function<std::string(std::string_view overload)> registered_schema;
    std::span<sampling_rule const> rules = aten_sampling_rules(); ///< searched before ATen's own rules
    std::span<exclusion const> exclusions = known_exclusions();
    std::span<omitted_result const> omissions = known_omissions();
    std::span<equivalent_mutant const> equivalents = known_equivalents();
    int samples = 3; ///< per combination of profiles
    std::uint64_t seed = 0;
    int min_opset = 1;     ///< rows that end before it are left out
    int max_opset = 1000;  ///< rows that begin after it are left out
    bool exact_nan = true; ///< false: the graphs of `aton export --nan fast`, on calls without NaN
    bool mutants = false;
    std::span<std::string const> without_mutants; ///< overloads whose graphs are not changed
    int min_mutant_opset = 13; ///< graphs below it are compared, not changed, unless the row ends before it
    int max_mutants = 0;       ///< about this many of each graph, always the same ones; 0: all
    int search = 300;          ///< maximum number of additional calls per row for undetected mutants
    int threads = 1;           ///< rows checked at a time, 0: one per CPU; `truth` is called from every thread
    bool isolated = false;     ///< each row in a process of its own: one that crashes or does not end fails, the rest
                               ///< goes on; only where no other thread runs, and on the CPU
    int seconds = 10;          ///< of CPU time that an isolated row may take to convert a call
    std::string_view only;     ///< only overloads whose name contains this
    runtime::device where;
    std::function<void(std::size_t done, std::size_t all)>
        progress; ///< counts rows; called from any thread, never concurrently

    /// Whether a row is checked: it has `only` in its name, and an opset of the range.
    [[nodiscard]] bool selects(dsl::entry const& row) const {
        return row.overload.find(only) != std::string_view::npos && row.since <= max_opset && row.until >= min_opset;
    }
};

/// A call whose results differ; a random one is shrunk as far as possible.
struct failure {
    sample call;
    int opset = 0;
    std::string why;
    std::string place = {}; ///< of a recorded call: "calls/swiglu.jsonl:3"
};

/// The recorded calls of a row, by their outcome; without those that it leaves to the row below.
struct recorded_report {
    int same = 0;
    int different = 0;
    int refused = 0;       ///< refused by the mapping
    std::string refusal{}; ///< the first: "calls/swiglu.jsonl:3: ..."

    /// The sum.
    [[nodiscard]] int total() const { return same + different + refused; }
};

/// The calls of a row in one dtype, by their outcome.
struct type_report {
    dtype type = dtype::undefined;
    int same = 0;
    int different = 0;
    int refused = 0;   ///< refused by the mapping
    int declined = 0;  ///< left to the row below by the mapping, and not checked
    int undefined = 0; ///< rejected by ATen
    int excluded = 0;  ///< only dtypes and sizes were compared
};

/// The mutants of a row, by their outcome.
struct mutant_report {
    int made = 0; ///< ran at least once
    int detected = 0;
    int equivalent = 0;                 ///< undetected and known to be equivalent
    std::vector<std::string> survivors; ///< undetected and not known to be equivalent
    std::string few;                    ///< why there are fewer than five mutants; empty if there are five or more

    /// In percent; equivalent mutants do not count.
    [[nodiscard]] double power() const { return made == equivalent ? 100 : 100.0 * detected / (made - equivalent); }
};

/// The values that one argument had in the calls that ATen accepts, and the mutants that the row would be if it took them for others.
struct argument_report {
    std::string name;
    bool is_read = false;             ///< the row has it among its arguments
    std::string reason;               ///< why the sampling rule restricts its values; empty if the rule gives no reason
    std::vector<std::string> drawn;   ///< kinds of values: "default", "None", "0", "NaN", "'mean'", "float32"
    std::vector<std::string> missing; ///< kinds that schema and rule allow, but no call had
    int mutants = 0;                  ///< changes of the argument, also counted among the mutants of the row
    int detected = 0;
    int equivalent = 0; ///< undetected and known to be equivalent
};

/// The result of the check of one row.
struct row_report {
    std::string overload;
    int since = 0;
    int until = 0;
    std::vector<int> opsets; ///< at which a graph of the row computes something that no graph at lower opsets did
    std::vector<type_report> types;
    double worst_error = 0; ///< as a fraction of the tolerance
    std::vector<int> errors =
        std::vector<int>(8); ///< histogram of results by error: 0, up to 1e-6, 1e-5, ... 1 of the tolerance, more
    std::vector<argument_report> arguments;
    std::vector<failure> failures;
    recorded_report recorded;      ///< also counted in `types`
    std::string schema_difference; ///< from the schema that the operator is registered with; empty if there is none
    std::string not_checked;       ///< the reason; empty if the row was checked
    mutant_report mutants;

    /// The sum over all dtypes: `row.total(&type_report::same)`.
    [[nodiscard]] int total(int type_report::* member) const {
        int sum = 0;
        for (type_report const& t : types) sum += t.*member;
        return sum;
    }
    /// Counts the error of a result, as a fraction of the tolerance.
    void add_error(double error) noexcept;
    /// Whether the row was checked, no call failed, and its schema is that of the operator.
    [[nodiscard]] bool passed() const { return failures.empty() && not_checked.empty() && schema_difference.empty(); }
};

/// The result of a check: one report for each row.
struct report {
    std::vector<row_report> rows;
    std::vector<std::string> without_row; ///< overloads of recorded calls that no row of the tables maps

    /// Whether every row passed.
    [[nodiscard]] bool passed() const;
    /// The share of all rows' mutants that are detected, in percent; equivalent mutants do not count.
    [[nodiscard]] double power() const;
    /// The row with the lowest power; nullptr if there are no rows.
    [[nodiscard]] row_report const* weakest() const;
    /// One line per failing row with its smallest call, then the totals.
    [[nodiscard]] std::string to_text() const;
    /// Everything that the report holds, as JSON.
    [[nodiscard]] std::string to_json() const;
    /// The report as a page of HTML that includes nothing from elsewhere.
    [[nodiscard]] std::string to_html() const;
};

/// Checks every row that `options` selects. Deterministic for a seed.
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

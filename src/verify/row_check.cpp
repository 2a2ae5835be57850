// SPDX-License-Identifier: MIT
// Draws samples for a row, runs both sides, and shrinks calls that differ.
#include "row_check.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/dsl/thrown.hpp>
#include <aton/model_io/legality.hpp>
#include <aton/passes/passes.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/translation.hpp>

#include "argument_coverage.hpp"
#include "call_watch.hpp"
#include "canonical_results.hpp"
#include "changed_calls.hpp"
#include "declared_types.hpp"
#include "expectation.hpp"
#include "mutants.hpp"
#include "nested_graphs.hpp"
#include "other_forms.hpp"
#include "reasons.hpp"
#include "rounding.hpp"
#include "rule_reader.hpp"
#include "sampling_profiles.hpp"
#include "schema_difference.hpp"
#include "seen_graphs.hpp"
#include "shrink.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::value;

class row_check {
public:
    row_check(dsl::entry const& row, check_options const& options)
        : row_(row),
          options_(options),
          rule_(find_rule(options.rules, row.overload) != nullptr ? find_rule(options.rules, row.overload)
                                                                  : find_rule(aten_sampling_rules(), row.overload)),
          rule_text_(rule_ == nullptr ? std::string_view() : rule_->text),
          is_relative_(part_of_rule(rule_text_, "result") == "relative"),
          is_steep_(part_of_rule(rule_text_, "result") == "steep"),
          form_(form_of(part_of_rule(rule_text_, "result"))),
          has_reference_(options.truth || runtime::has_aten_operator(row.overload)),
          is_claimed_(!runtime::has_aten_operator(row.overload) || row.overrides),
          coverage_(row, rule_text_),
          mutants_(row.overload, options.equivalents, options.max_mutants),
          has_mutants_(options.mutants && std::find(options.without_mutants.begin(), options.without_mutants.end(),
                                                    row.overload) == options.without_mutants.end()) {
        report_.overload = row.overload;
        report_.since = row.since;
        report_.until = row.until;
        for (exclusion const& e : options.exclusions)
            if (names(e.operators, row.overload)) excluded_when_.push_back(e.when);
        for (omitted_result const& o : options.omissions)
            if (names(o.operators, row.overload)) omissions_.push_back(&o);
        for (recorded_call const& c : options.calls)
            if (c.call.overload == row.overload) recorded_.push_back(&c);
    }

    row_report run() {
        report_.schema_difference = find_schema_difference(row_, options_.registered_schema, recorded_);
        if (!has_reference_ && recorded_.empty()) {
            report_.not_checked = no_reference + call_of_other_overload(row_, options_.calls);
            return std::move(report_);
        }
        int const first = std::max(row_.since, options_.min_opset);
        int const last = std::min({row_.until, options_.max_opset, onnx::newest_version("")});
        std::set<int> all;
        for (int opset = first; opset <= last; ++opset) all.insert(opset);
        for (dtype const type : sampled_types) report_.types.push_back({type});
        for (recorded_call const* c : recorded_) check_recorded(*c, all);
        if (has_reference_) {
            for (dtype const type : sampled_types)
                for (sampling_profile const& t : profiles_of(type))
                    for (int i = 0; i != options_.samples; ++i) check_sample(t, next_seed(), all);
            for (sampling_profile const& t : extreme_profiles(row_.schema)) check_sample(t, next_seed(), all);
        }
        report_.arguments = coverage_.report();
        report_.opsets.assign(opsets_.begin(), opsets_.end());
        if (has_mutants_) {
            std::set<int> mutated = opsets_;
            std::erase_if(mutated, [this](int opset) { return !is_mutated_at(opset); });
            if (has_reference_) search(mutated);
            report_.mutants = mutants_.report();
            mutants_.add_to(report_.arguments);
        }
        std::erase_if(report_.types,
                      [](type_report const& t) { return t.same + t.different + t.refused + t.declined == 0; });
        if (report_.total(&type_report::same) + report_.total(&type_report::different) == 0)
            report_.not_checked = why_nothing_is_compared(report_, reasons_, has_reference_);
        else if (is_claimed_) report_.not_checked = why_not_run(nested_.not_run());
        return std::move(report_);
    }

private:
    /// The seed of the next call: rows and neighboring seeds do not share calls.
    [[nodiscard]] std::uint64_t next_seed() {
        return runtime::seed_of_draw(options_.seed ^ hash_of(row_.overload), ++calls_drawn_);
    }
    [[nodiscard]] bool is_mutated_at(int opset) const {
        return opset >= options_.min_mutant_opset || row_.until < options_.min_mutant_opset;
    }

    [[nodiscard]] translation translated(int opset, sample const& s, call_types const& types = {}) const {
        translation out = translate(row_, row_.schema, opset, s, options_.exact_nan, options_.where, types);
        if (is_claimed_) require_legal(out.graph);
        return out;
    }
    type_report& counts(dtype t) {
        auto const found =
            std::find_if(report_.types.begin(), report_.types.end(), [&](type_report const& r) { return r.type == t; });
        return found == report_.types.end() ? report_.types.emplace_back(type_report{t}) : *found;
    }

    [[nodiscard]] runtime::aten_results call(sample const& s) const {
        return options_.truth ? options_.truth(s) : runtime::call_aten(s.overload, s.arguments, {options_.where, 0});
    }

    /// The row itself at its newest opset, which tells the conditioning of operators that nothing else can run.
    [[nodiscard]] runtime::aten_results call_row(sample const& s) const {
        return {verify::run(translated(*opsets_.rbegin(), s), options_.where), {}};
    }

    [[nodiscard]] expectation expectation_with(std::vector<value> results, sample const& s, sampling_profile const& t) {
        expectation out;
        reference const run = [this](sample const& o) { return has_reference_ ? call(o) : call_row(o); };
        bool const by_rounding = depends_on_rounding(form_) && is_discontinuous(run, s, row_.schema, results);
        out.in_form = [this, by_rounding](std::vector<value> all) {
            return canonical(std::move(all), form_, row_.overload, by_rounding);
        };
        out.results = out.in_form(std::move(results));
        reference const again = [run, form = out.in_form](sample const& o) -> runtime::aten_results {
            return {form(run(o).results), {}};
        };
        out.bounds_of = [this, s, again, given = out.results] {
            return rounding_bounds(again, s, row_.schema, given, {has_reference_, is_steep_});
        };
        if (has_reference_)
            out.exact_of = [this, s, again, given = out.results] { return in_float64(again, s, row_.schema, given); };
        out.names = names_of_results(row_.schema);
        for (value const& v : out.results) out.terms.push_back(is_relative_ ? 0 : terms_of(s, v));
        auto const is_when = [&](std::string_view when) {
            return when.empty() || when == name_of(t.sizes) || when == name_of(t.values) || when == name(t.type);
        };
        out.values = std::none_of(excluded_when_.begin(), excluded_when_.end(), is_when);
        for (omitted_result const* o : omissions_) out.allow_omission(*o, is_when(o->when));
        return out;
    }

    [[nodiscard]] std::optional<expectation> expectation_of(sample const& s, sampling_profile const& t) {
        try {
            return expectation_with(call(s).results, s, t);
        } catch (error const& e) {
            reasons_.rejection = e.what();
            return {};
        }
    }

    void check_sample(sampling_profile const& t, std::uint64_t seed, std::set<int> const& opsets) {
        check_sample(draw(row_.overload, row_.schema, rule_, t, seed), t, {t, seed}, opsets);
    }

    void check_sample(sample const& s, sampling_profile const& t, call_origin const& from,
                      std::set<int> const& opsets) {
        std::optional<expectation> expected = expectation_of(s, t);
        if (expected && !options_.exact_nan && has_nan(s, expected->results)) return;
        if (expected) (void)check_call(s, t, *expected, opsets, &from, {});
        else ++counts(t.type).undefined;
    }

    void check_recorded(recorded_call const& c, std::set<int> const& opsets) {
        sampling_profile const t = profile_of(c.call, c.results);
        expectation expected = expectation_with(c.results, c.call, t);
        expected.values = expected.values && c.values;
        recorded_report& to = report_.recorded;
        switch (check_call(c.call, t, expected, opsets, nullptr, c.place)) {
        case outcome::same: ++to.same; break;
        case outcome::different: ++to.different; break;
        case outcome::declined: break; // the row below counts it
        case outcome::refused:
            if (to.refused++ == 0)
                to.refusal = c.place + ": " +
                             (reasons_.bodiless.empty() ? reasons_.refusal : reasons_.bodiless + " has no body");
        }
    }

    enum class outcome : std::uint8_t { same, different, refused, declined };

    /// Compares the graphs of a call at all opsets, and counts it. `from`: what it was drawn from; nullptr if recorded at `place`.
    outcome check_call(sample const& s, sampling_profile const& t, expectation& expected, std::set<int> const& opsets,
                       call_origin const* from, std::string const& place) {
        call_watch::set_place(place);
        coverage_.add(s, t.type);
        seen_graphs seen;
        std::vector<translation> graphs;
        bool is_refused = true;
        bool is_declined = false;
        int mistake_at = 0; ///< an opset at which the graph would be illegal
        std::string mistake;
        std::vector<int> order(opsets.begin(), opsets.end()); // first the opsets whose graphs have mutants
        auto const recorded = is_claimed_ ? std::span<value const>(expected.results) : std::span<value const>();
        std::stable_partition(order.begin(), order.end(), [this](int opset) { return is_mutated_at(opset); });
        for (int const opset : order) {
            try {
                translation graph = translated(opset, s, {.results = recorded});
                if (std::string op = operator_without_body(graph.graph); !op.empty()) {
                    reasons_.bodiless = std::move(op);
                    continue;
                }
                is_refused = false;
                if (seen.contain(graph.graph, opset)) continue;
                opsets_.insert(opset);
                runtime::opset_range same;
                std::string why = difference_of(graph, expected, &same);
                if (why.empty() && is_claimed_) why = further_difference_of(graph, opset, s, expected);
                bool const is_mutated = has_mutants_ && is_mutated_at(opset);
                if (why.empty()) seen.add(is_mutated ? graph_data(graph.graph) : std::move(graph.graph), same);
                if (!why.empty() && !wrong_sample_) fail(s, t, opset, std::move(why), place);
                if (!is_mutated) continue;
                inline_functions(graph.graph); // their nodes are changed as well
                graphs.push_back(std::move(graph));
            } catch (unsupported_error const& e) {
                bool const leaves = dynamic_cast<declined const*>(&e) != nullptr;
                is_declined = is_declined || leaves;
                if (std::string& why = leaves ? reasons_.decline : reasons_.refusal;
                    why.empty() || is_mutated_at(opset))
                    why = e.what();
            } catch (refused const& e) {
                if (reasons_.refusal.empty() || is_mutated_at(opset)) reasons_.refusal = e.what();
                if (mistake_at == 0) {
                    mistake_at = opset;
                    mistake = e.what();
                }
            } catch (error const& e) {
                is_refused = false;
                if (!wrong_sample_) fail(s, t, opset, std::string(does_not_convert) + e.what(), place);
            } catch (std::exception const&) {
                is_refused = false;
                if (!wrong_sample_) fail(s, t, opset, std::string(does_not_convert) + describe_thrown(), place);
            }
        }
        bool const must_convert = from == nullptr || (!is_refused && t.type == dtype::float32 && !t.mixed);
        if (mistake_at != 0 && !wrong_sample_ && is_claimed_ && must_convert) {
            is_refused = false;
            fail(s, t, mistake_at, std::string(does_not_convert) + mistake, place);
        }
        if (has_mutants_ && expected.values && !wrong_sample_) run_mutants(s, graphs, expected, from);
        bool const is_wrong = std::exchange(wrong_sample_, false);
        type_report& to = counts(t.type);
        if (is_refused) {
            ++(is_declined ? to.declined : to.refused);
            return is_declined ? outcome::declined : outcome::refused;
        }
        if (!is_wrong && !expected.values) ++to.excluded;
        ++(is_wrong ? to.different : to.same);
        return is_wrong ? outcome::different : outcome::same;
    }

    /// Runs the mutants of the graphs of a call, and those of its arguments in the last of the graphs.
    void run_mutants(sample const& s, std::vector<translation> const& graphs, expectation& expected,
                     call_origin const* from) {
        bool const any_numbers = has_numbers(expected.results);
        auto const is_wrong = [&](std::vector<value> const& got) {
            return !describe_difference(expected.in_form(got), expected).empty();
        };
        for (translation const& graph : graphs) mutants_.run(graph, options_.where, from, any_numbers, is_wrong);
        bool const is_rewrite = row_.overload.starts_with("rewrite::"); // its arguments are what a pattern has found
        if (graphs.empty() || is_rewrite) return;
        for (changed_call const& changed : changed_calls(row_, rule_text_, s)) {
            bool const has_reason = !reason_of_rule(rule_text_, changed.argument).empty();
            auto const run = [&] {
                return outcome_of(changed, graphs.back(), row_, options_.exact_nan, options_.where);
            };
            mutants_.run(changed.what, has_reason, from, any_numbers, run, is_wrong);
        }
    }

    std::string further_difference_of(translation const& graph, int opset, sample const& s, expectation& expected) {
        auto const convert = [&](call_types const& types) { return translated(opset, s, types); };
        auto const difference = [&](translation const& other) { return difference_of(other, expected); };
        return difference_in_other_forms(graph, s, expected.results, convert, difference);
    }

    /// How the graph differs from the call: its results, or those of a function from its declaration.
    /// `same`, if given, becomes the opsets at which the same nodes compute the same.
    std::string difference_of(translation const& graph, expectation& expected, runtime::opset_range* same = nullptr) {
        try {
            std::string undeclared;
            auto const observe = [&](graph_node const& n, std::span<value const> results) {
                if (undeclared.empty()) undeclared = declared_difference(graph, n, results, is_claimed_);
            };
            watched_run const watched;
            runtime::onnx_options options{options_.where};
            if (is_claimed_) nested_.watch(graph.graph, options);
            std::string out = describe_difference(
                expected.in_form(verify::run(graph, graph.graph, std::move(options), observe, same)),
                expected,
                [this](double error) { report_.add_error(error); });
            return out.empty() ? undeclared : out;
        } catch (error const& e) {
            return std::string(does_not_run) + e.what();
        }
    }

    void fail(sample const& s, sampling_profile const& t, int opset, std::string why, std::string const& place) {
        wrong_sample_ = true;
        constexpr int max = 3; // per row, of which the last gives other numbers
        bool const runs = !why.starts_with(does_not_run) && !why.starts_with(does_not_convert);
        if (std::ssize(report_.failures) >= max - (runs ? 0 : 1)) return;
        if (!place.empty() || why.starts_with(does_not_convert)) {
            report_.failures.push_back({s, opset, std::move(why), place});
            return;
        }
        sample const small = shrink(s, [&](sample const& other) {
            std::optional<expectation> expected = expectation_of(other, t);
            if (!expected || (!options_.exact_nan && has_nan(other, expected->results))) return false;
            try {
                std::string now = difference_of(translated(opset, other), *expected);
                if (now.empty() || now.starts_with(does_not_run) == runs) return false;
                why = std::move(now);
                return true;
            } catch (std::exception const&) { // refused, or another failure
                return false;
            }
        });
        report_.failures.push_back({small, opset, why, {}});
    }

    /// Draws further calls that may detect the remaining mutants.
    void search(std::set<int> const& opsets) {
        constexpr int max_in_vain = 120; // consecutive calls
        using enum value_profile;
        constexpr std::array kept_with = {special, ties, special, ordinary, special, wide};
        int vain = 0;
        for (int i = 0; i != options_.search && vain != max_in_vain; ++i) {
            call_origin const* const from = mutants_.next_call();
            if (from == nullptr) return;
            sampling_profile varied = from->drawn;
            std::size_t const before = mutants_.detected();
            std::uint64_t const seed = next_seed();
            constexpr int profiles = static_cast<int>(value_profile::count_);
            if (i % 2 == 0) { // keep the arguments: few calls may have those that lead to this graph
                varied.values = kept_with[static_cast<std::size_t>(i) / 2 % kept_with.size()];
                sample const s =
                    draw_elements(row_.overload, row_.schema, rule_, from->drawn, from->seed, varied.values, seed);
                check_sample(s, varied, call_origin(*from), opsets);
            } else {
                if (i % 4 == 3) varied.values = static_cast<value_profile>(i / 4 % profiles);
                check_sample(varied, seed, opsets);
            }
            vain = mutants_.detected() == before ? vain + 1 : 0;
        }
    }

    dsl::entry const& row_;
    check_options const& options_;
    sampling_rule const* rule_;
    std::string_view rule_text_;
    bool is_relative_;   ///< results near 0 keep their relative accuracy
    bool is_steep_;      ///< bounds include the effect of one rounding of the inputs
    result_form form_;   ///< in which the results are compared
    bool has_reference_; ///< other than recorded calls
    bool is_claimed_;    ///< a row of a user: it must convert at each of its opsets what is recorded, or refuse it
    std::vector<recorded_call const*> recorded_;
    std::vector<std::string_view> excluded_when_;  ///< of the exclusions that name the row
    std::vector<omitted_result const*> omissions_; ///< that name the row
    argument_coverage coverage_;
    std::uint64_t calls_drawn_ = 0;
    row_report report_;
    std::set<int> opsets_;
    row_mutants mutants_;
    nested_graphs nested_;
    bool has_mutants_; ///< the graphs of the row are changed
    reasons reasons_;
    bool wrong_sample_ = false;
};

} // namespace

row_report check_row(dsl::entry const& row, check_options const& options) { return row_check(row, options).run(); }

} // namespace ATON_NAMESPACE::verify

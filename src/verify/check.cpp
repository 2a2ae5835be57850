// SPDX-License-Identifier: MIT
// Draws samples for each row, runs both sides, and shrinks calls that differ.
#include <aton/verify/check.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/verify/translation.hpp>

#if defined(_OPENMP) && __has_include(<omp.h>)
#include <omp.h>
#define ATON_HAS_THREADS
#endif

#include "argument_coverage.hpp"
#include "expectation.hpp"
#include "mutants.hpp"
#include "rounding.hpp"
#include "rule_reader.hpp"
#include "shrink.hpp"
#include "themes.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::value;

/// Rows run in parallel, and their tensors are small: threads inside kernels would cost more than they save.
void use_one_thread_for_kernels() {
#if defined(ATON_HAS_THREADS)
    omp_set_num_threads(1); // for this thread only
#endif
}

class row_check {
public:
    row_check(dsl::entry const& row, check_options const& options)
        : row_(row),
          options_(options),
          rule_(find_rule(options.rules, row.overload) != nullptr ? find_rule(options.rules, row.overload)
                                                                  : find_rule(aten_sampling_rules(), row.overload)),
          is_relative_(rule_ != nullptr && part_of_rule(rule_->text, "result") == "relative"),
          coverage_(row.schema, rule_ == nullptr ? std::string_view() : rule_->text),
          mutants_(row.overload, options.equivalents) {
        report_.overload = row.overload;
        report_.since = row.since;
        report_.until = row.until;
        for (exclusion const& e : options.exclusions)
            if (names(e.operators, row.overload)) excluded_when_.push_back(e.when);
    }

    row_report run() {
        if (!options_.truth && !runtime::has_aten_operator(row_.overload)) {
            report_.not_checked = "it has no reference to compare with";
            return std::move(report_);
        }
        int const first = std::max(row_.since, options_.min_opset);
        int const last = std::min({row_.until, options_.max_opset, onnx::newest_version("")});
        std::set<int> all;
        for (int opset = first; opset <= last; ++opset) all.insert(opset);
        std::uint64_t seed = options_.seed;
        for (dtype const type : sampled_types) {
            report_.types.push_back({type});
            for (theme const& t : themes_of(type))
                for (int i = 0; i != options_.samples; ++i) check_sample(t, ++seed, all);
        }
        report_.arguments = coverage_.report();
        report_.opsets.assign(opsets_.begin(), opsets_.end());
        if (options_.mutants) {
            search(seed, std::set<int>(opsets_));
            report_.mutants = mutants_.report();
        }
        std::erase_if(report_.types,
                      [](type_report const& t) { return t.same + t.different + t.refused + t.declined == 0; });
        if (report_.total(&type_report::same) + report_.total(&type_report::different) == 0)
            report_.not_checked = report_.total(&type_report::declined) != 0
                                      ? "the row leaves every call to the row below: " + refusal_
                                  : refusal_.empty() ? "the reference rejects every sample: " + rejection_
                                                     : "the row refuses every sample: " + refusal_;
        return std::move(report_);
    }

private:
    type_report& counts(dtype t) {
        return *std::find_if(
            report_.types.begin(), report_.types.end(), [&](type_report const& r) { return r.type == t; });
    }

    [[nodiscard]] runtime::aten_results call(sample const& s) const {
        return options_.truth ? options_.truth(s) : runtime::call_aten(s.overload, s.arguments, {options_.where, 0});
    }

    [[nodiscard]] std::optional<expectation> expectation_of(sample const& s, theme const& t) {
        try {
            expectation out;
            out.results = call(s).results;
            out.bounds_of = [this, s, results = out.results] {
                return rounding_bounds([this](sample const& other) { return call(other); }, s, row_.schema, results);
            };
            out.terms = is_relative_ ? 0 : terms_of(s, out.results);
            out.values = std::none_of(excluded_when_.begin(), excluded_when_.end(), [&](std::string_view when) {
                return when.empty() || when == name_of(t.sizes) || when == name_of(t.values) || when == name(t.type);
            });
            return out;
        } catch (error const& e) {
            rejection_ = e.what();
            return {};
        }
    }

    void note_error(double error) {
        report_.worst_error = std::max(report_.worst_error, error);
        std::size_t bin = 0;
        if (error > 1) bin = 7;
        else if (error > 0) bin = static_cast<std::size_t>(std::clamp(std::ceil(std::log10(error)) + 6, 1.0, 6.0));
        ++report_.errors[bin];
    }

    void check_sample(theme const& t, std::uint64_t seed, std::set<int> const& opsets) {
        check_sample(draw(row_.overload, row_.schema, rule_, t, seed), t, {t, seed}, opsets);
    }

    void check_sample(sample const& s, theme const& t, call_origin const& from, std::set<int> const& opsets) {
        std::optional<expectation> expected = expectation_of(s, t);
        if (!expected) {
            ++counts(t.type).undefined;
            return;
        }
        coverage_.add(s, t.type);
        std::string before;
        std::vector<translation> graphs;
        bool is_refused = true;
        bool is_declined = false;
        for (int const opset : opsets) {
            try {
                translation graph = translate(row_, row_.schema, opset, s);
                is_refused = false;
                std::string structure = structure_of(graph.graph);
                if (structure == before) continue;
                before = std::move(structure);
                opsets_.insert(opset);
                std::string why = difference_of(graph, *expected);
                if (!why.empty() && !wrong_sample_) fail(s, t, opset, std::move(why));
                if (options_.mutants) graphs.push_back(std::move(graph));
            } catch (refused const& e) {
                is_declined = is_declined || dynamic_cast<declined const*>(&e) != nullptr;
                refusal_ = e.what();
                before.clear();
            }
        }
        if (options_.mutants && expected->values && !wrong_sample_) {
            bool const any_numbers = has_numbers(expected->results);
            for (translation const& graph : graphs)
                mutants_.run(graph, options_.where, from, any_numbers, [&](std::vector<value> const& got) {
                    return !describe_difference(got, *expected).empty();
                });
        }
        if (is_refused && is_declined) ++counts(t.type).declined;
        else if (is_refused) ++counts(t.type).refused;
        else if (wrong_sample_) ++counts(t.type).different;
        else if (!expected->values) ++counts(t.type).excluded, ++counts(t.type).same;
        else ++counts(t.type).same;
        wrong_sample_ = false;
    }

    std::string difference_of(translation const& graph, expectation& expected) {
        try {
            return describe_difference(
                verify::run(graph, options_.where), expected, [this](double error) { note_error(error); });
        } catch (error const& e) {
            return std::string("the graph does not run: ") + e.what();
        }
    }

    void fail(sample const& s, theme const& t, int opset, std::string why) {
        wrong_sample_ = true;
        constexpr std::size_t max = 3; // per row
        if (report_.failures.size() >= max) return;
        sample const small = shrink(s, [&](sample const& other) {
            std::optional<expectation> expected = expectation_of(other, t);
            if (!expected) return false;
            try {
                std::string now = difference_of(translate(row_, row_.schema, opset, other), *expected);
                if (now.empty()) return false;
                why = std::move(now);
                return true;
            } catch (refused const&) {
                return false;
            }
        });
        report_.failures.push_back({small, opset, why});
    }

    /// Draws further calls that may detect the remaining mutants.
    void search(std::uint64_t seed, std::set<int> const& opsets) {
        constexpr int max_in_vain = 80; // consecutive calls
        using enum value_theme;
        constexpr std::array kept_with = {special, ties, special, ordinary, special, wide};
        int vain = 0;
        for (int i = 0; i != options_.search && vain != max_in_vain; ++i) {
            call_origin const* const from = mutants_.next_call();
            if (from == nullptr) return;
            theme varied = from->drawn;
            std::size_t const before = mutants_.detected();
            ++seed;
            constexpr int themes = static_cast<int>(value_theme::count_);
            if (i % 2 == 0) { // keep the arguments: few calls may have those that lead to this graph
                varied.values = kept_with[static_cast<std::size_t>(i) / 2 % kept_with.size()];
                sample const s =
                    draw_elements(row_.overload, row_.schema, rule_, from->drawn, from->seed, varied.values, seed);
                check_sample(s, varied, call_origin(*from), opsets);
            } else {
                if (i % 4 == 3) varied.values = static_cast<value_theme>(i / 4 % themes);
                check_sample(varied, seed, opsets);
            }
            vain = mutants_.detected() == before ? vain + 1 : 0;
        }
    }

    dsl::entry const& row_;
    check_options const& options_;
    sampling_rule const* rule_;
    bool is_relative_;                            ///< results near 0 keep their relative accuracy
    std::vector<std::string_view> excluded_when_; ///< of the exclusions that name the row
    argument_coverage coverage_;
    row_report report_;
    std::set<int> opsets_;
    row_mutants mutants_;
    std::string refusal_;
    std::string rejection_;
    bool wrong_sample_ = false;
};

} // namespace

report check(dsl::table_view rows, check_options const& options) {
    std::vector<dsl::entry const*> chosen;
    for (dsl::entry const& row : rows)
        if (row.overload.find(options.only) != std::string_view::npos) chosen.push_back(&row);
    report out;
    out.rows.resize(chosen.size());
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::size_t done = 0;
    std::exception_ptr fault;
    auto const work = [&] {
        use_one_thread_for_kernels();
        try {
            for (std::size_t i = next++; i < chosen.size(); i = next++) {
                out.rows[i] = row_check(*chosen[i], options).run();
                if (!options.progress) continue;
                std::lock_guard const lock(mutex);
                options.progress(++done, chosen.size());
            }
        } catch (...) {
            std::lock_guard const lock(mutex);
            fault = std::current_exception();
            next = chosen.size();
        }
    };
    std::size_t const asked =
        options.threads > 0 ? static_cast<std::size_t>(options.threads) : std::thread::hardware_concurrency();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(std::max<std::size_t>(1, asked), chosen.size()); ++i)
        threads.emplace_back(work);
    for (std::thread& t : threads) t.join();
    if (fault) std::rethrow_exception(fault);
    return out;
}

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// Compares the runtime's ATen kernels with torch, on random calls of every overload that the built-in tables map.
//
//     verify_torch [--only TEXT] [--samples N] [--seed N] [--jobs N] [--refused] [--all]
//
// Each overload runs in its own process: integer division by zero ends torch; such calls are counted, and the next call continues.
// Known differences are listed in known_torch_differences.cpp.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aton/mappings/built_in.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/torch_reference.hpp>

#include "verify/canonical_results.hpp"
#include "verify/rule_reader.hpp"

#include "known_torch_differences.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::aten_results;
using runtime::tensor;

struct options {
    std::string_view only;
    int samples = 1;
    std::uint64_t seed = 0;
    int jobs = 1;
    bool shows_refused = false;
    bool shows_all = false;
};

/// The counts of one overload, or of all.
struct counts {
    int next = 0; ///< number of the next call
    int same = 0;
    int same_in_another_way = 0;
    int same_in_float64 = 0;
    int different = 0;
    int known = 0;
    int refused_by_both = 0;
    int refused_here = 0;
    int refused_by_torch = 0;

    void operator+=(counts const& o) {
        for (int counts::* each : {&counts::same,
                                   &counts::same_in_another_way,
                                   &counts::same_in_float64,
                                   &counts::different,
                                   &counts::known,
                                   &counts::refused_by_both,
                                   &counts::refused_here,
                                   &counts::refused_by_torch})
            this->*each += o.*each;
    }
};

constexpr int max_jobs = 64;
constexpr std::size_t max_known = 256;

/// Memory that the processes share.
struct shared_counts {
    counts of_job[max_jobs];
    bool met[max_known] = {}; ///< which known differences occurred
};

std::vector<sampling_profile> all_profiles() {
    std::vector<sampling_profile> out;
    for (dtype const t : {dtype::float32,
                          dtype::int64,
                          dtype::float64,
                          dtype::float16,
                          dtype::bfloat16,
                          dtype::int32,
                          dtype::uint8,
                          dtype::bool_,
                          dtype::complex64})
        for (size_profile const sizes :
             {size_profile::distinct, size_profile::ones, size_profile::empty, size_profile::scalar})
            for (value_profile const values : {value_profile::ordinary, value_profile::ties, value_profile::special})
                out.push_back({sizes, values, t, out.size() % 3 == 0, out.size() % 4 == 1});
    return out;
}

aten_results try_call(aten_results (*call)(sample const&), sample const& s, std::string& fault) {
    try {
        return call(s);
    } catch (error const& e) {
        fault = e.what();
        return {};
    }
}

aten_results call_here(sample const& s) { return runtime::call_aten(s.overload, s.arguments); }

/// The index of the first result that differs, and how.
struct call_difference {
    std::size_t result = 0;
    std::string why;
};

call_difference difference_of(aten_results const& got, aten_results const& expected, dtype rounded = dtype::undefined) {
    if (got.results.size() != expected.results.size()) return {0, "the number of results is not equal"};
    for (std::size_t k = 0; k != got.results.size(); ++k) {
        std::string why = to_string(compare(got.results[k], expected.results[k], 16, rounded));
        if (!why.empty()) return {k, why};
    }
    return {};
}

/// The results of a call in the form that its rule compares.
aten_results canonical_results(aten_results all, std::string_view overload) {
    sampling_rule const* const rule = find_rule(aten_sampling_rules(), overload);
    if (rule != nullptr)
        all.results = canonical(std::move(all.results), form_of(part_of_rule(rule->text, "result")), overload);
    return all;
}

/// The same elements with gaps between them, so that torch uses neither vectorized loops nor libraries.
tensor spread(tensor const& x) {
    if (!x || x.rank() == 0 || x.is_strings()) return x;
    runtime::sizes to = x.sizes();
    to.push_back(2);
    std::size_t const last = x.rank();
    tensor const pairs = runtime::tensor::empty(x.dtype(), to);
    tensor const out = pairs.sliced(last, 0, 1).squeezed(last);
    runtime::copy(x, out);
    return out;
}

aten_results call_torch_on_spread(sample const& given) {
    sample s = given;
    for (runtime::aten_argument& a : s.arguments) {
        a.tensor = spread(a.tensor);
        for (tensor& t : a.tensors) t = spread(t);
    }
    return call_torch(s);
}

aten_results call_torch_without_mkldnn(sample const& s) {
    at::globalContext().setUserEnabledMkldnn(false);
    aten_results out = call_torch(s);
    at::globalContext().setUserEnabledMkldnn(true);
    return out;
}

/// Torch selects among several kernels by the memory layout of the operands; if their results differ, both are correct.
bool is_same_in_another_way(aten_results const& got, sample const& s) {
    for (auto* const call : {&call_torch_without_mkldnn, &call_torch_on_spread}) {
        std::string fault;
        aten_results const expected = canonical_results(try_call(call, s, fault), s.overload);
        if (fault.empty() && difference_of(got, expected).why.empty()) return true;
    }
    return false;
}

/// The largest finite difference of any elements.
double largest_difference(tensor const& x, tensor const& y) {
    auto const widened = [](tensor const& t) { return runtime::cast(parts_of(t), dtype::float64); };
    tensor const off = runtime::abs(widened(x) - widened(y));
    tensor const finite = runtime::where(runtime::unary(runtime::unary_op::isfinite, off), off, scalar(0));
    return finite.count() == 0 ? 0 : runtime::max(finite, runtime::all_axes(finite)).item().to<double>();
}

/// Computed in float64, the results agree to the precision of float32; computed in float32, they are as accurate as torch's. Rounding grows where
/// a problem is ill-conditioned, as near the poles of a complex tanh, and no more is asked of either.
bool agrees_in_float64(aten_results const& got, aten_results const& expected, sample const& given) {
    constexpr double luck = 64; // in which of both the rounding grows more
    sample s = given;
    auto const widen = [](tensor& x) {
        if (x && x.dtype() == dtype::float32) x = runtime::cast(x, dtype::float64);
        if (x && x.dtype() == dtype::complex64) x = runtime::cast(x, dtype::complex128);
    };
    for (runtime::aten_argument& a : s.arguments) {
        widen(a.tensor);
        for (tensor& t : a.tensors) widen(t);
    }
    std::string fault;
    aten_results const theirs = canonical_results(try_call(call_torch, s, fault), s.overload);
    aten_results const ours = canonical_results(try_call(call_here, s, fault), s.overload);
    if (!fault.empty() || !difference_of(ours, theirs, dtype::float32).why.empty()) return false;
    for (std::size_t k = 0; k != got.results.size(); ++k) {
        if (compare(got.results[k], expected.results[k], 16).same()) continue;
        if (!got.results[k].is_tensor() || !expected.results[k].is_tensor()) return false;
        tensor const& here = got.results[k].one();
        tensor const& there = expected.results[k].one();
        tensor const& truth = theirs.results[k].one();
        if (!here || !there || here.sizes() != there.sizes() || here.sizes() != truth.sizes()) return false;
        if (largest_difference(here, truth) > luck * largest_difference(there, truth)) return false;
        if (!compare(runtime::isnan(here), runtime::isnan(truth)).same()) return false;
    }
    return true;
}

std::ptrdiff_t find_known(sample const& s, sampling_profile const& t, std::size_t result, aten_results const& got,
                          aten_results const& expected) {
    if (got.results.size() != expected.results.size()) return -1;
    auto const of_tensors = [&](tensor const& here, tensor const& there) -> std::ptrdiff_t {
        bool const comparable = here && there && here.sizes() == there.sizes() && here.dtype() == there.dtype();
        return comparable ? find_known_torch_difference({s, t, result, here, there}) : -1;
    };
    runtime::value const& here = got.results[result];
    runtime::value const& there = expected.results[result];
    if (here.is_tensor() && there.is_tensor()) return of_tensors(here.one(), there.one());
    if (!here.is_sequence() || !there.is_sequence() || here.many().size() != there.many().size()) return -1;
    // Of a list, each tensor that differs must do so in a known way.
    std::ptrdiff_t known = -1;
    for (std::size_t i = 0; i != here.many().size(); ++i) {
        if (compare(here.many()[i], there.many()[i]).same()) continue;
        known = of_tensors(here.many()[i], there.many()[i]);
        if (known < 0) return -1;
    }
    return known;
}

bool is_excluded(std::string const& overload) {
    auto const all = known_exclusions();
    return std::any_of(
        all.begin(), all.end(), [&](exclusion const& e) { return e.when.empty() && names(e.operators, overload); });
}

/// Runs the calls of an overload from `to.next` on.
void check_overload(dsl::entry const& row, options const& with, counts& to, bool* met) {
    std::string const overload(row.overload);
    sampling_rule const* const rule = find_rule(aten_sampling_rules(), overload);
    std::vector<sampling_profile> const profiles = all_profiles();
    int const calls = with.samples * static_cast<int>(profiles.size());
    while (to.next != calls) {
        int const i = to.next++;
        sampling_profile const& t = profiles[static_cast<std::size_t>(i / with.samples)];
        sample const s = draw(overload, row.schema, rule, t, with.seed + static_cast<std::uint64_t>(i));
        std::string there;
        std::string here;
        aten_results const expected = canonical_results(try_call(call_torch, s, there), overload);
        aten_results const got = canonical_results(try_call(call_here, s, here), overload);
        std::ostringstream line;
        if (!here.empty() || !there.empty()) {
            bool const both = !here.empty() && !there.empty();
            ++(both ? to.refused_by_both : here.empty() ? to.refused_by_torch : to.refused_here);
            if (with.shows_refused && !both)
                line << (here.empty() ? "torch refuses: " : "refused here: ") << (here + there).substr(0, 200)
                     << "\n    " << to_python(s).substr(0, 400) << '\n';
            std::cout << line.str() << std::flush;
            continue;
        }
        call_difference const found = difference_of(got, expected);
        if (found.why.empty()) {
            ++to.same;
            continue;
        }
        if (is_same_in_another_way(got, s)) {
            ++to.same_in_another_way;
            continue;
        }
        if (std::ptrdiff_t const known = find_known(s, t, found.result, got, expected); known >= 0) {
            met[known] = true;
            ++to.known;
            continue;
        }
        if (agrees_in_float64(got, expected, s)) {
            ++to.same_in_float64;
            continue;
        }
        if (to.different++ == 0 || with.shows_all)
            line << overload << " (" << words_of(t) << "): result " << found.result << ": " << found.why << "\n    "
                 << to_python(s).substr(0, with.shows_all ? 60'000 : 600) << '\n';
        std::cout << line.str() << std::flush;
    }
}

/// A child process that checks one overload.
struct job {
    pid_t process = -1;
    dsl::entry const* row = nullptr;
};

bool start(job& j, options const& with, counts& to, bool* met) {
    j.process = fork();
    if (j.process == 0) {
        check_overload(*j.row, with, to, met);
        _exit(0);
    }
    return j.process > 0;
}

std::vector<dsl::entry const*> rows_of(options const& with) {
    std::vector<dsl::entry const*> out;
    std::set<std::string> overloads;
    for (dsl::table_view const& table : mappings::built_in_tables())
        for (dsl::entry const& row : table) {
            std::string const overload(row.overload);
            if (overload.find(with.only) == std::string::npos || is_excluded(overload)) continue;
            if (overloads.insert(overload).second) out.push_back(&row);
        }
    return out;
}

/// Prints known differences that did not occur. They may occur with other seeds and on other CPUs.
void show_stale(shared_counts const& shared) {
    std::span<known_torch_difference const> const all = known_torch_differences();
    for (std::size_t k = 0; k != all.size(); ++k)
        if (!shared.met[k])
            std::cout << "known difference did not occur: " << all[k].operators << " (" << all[k].where << ")\n";
}

int run(options const& with) {
    auto* const shared = static_cast<shared_counts*>(
        mmap(nullptr, sizeof(shared_counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (shared == MAP_FAILED || known_torch_differences().size() > max_known)
        return 2; // NOLINT(*-cstyle-cast): torch's
    std::vector<dsl::entry const*> const rows = rows_of(with);
    std::vector<job> jobs(static_cast<std::size_t>(std::clamp(with.jobs, 1, max_jobs)));
    counts all;
    int ended = 0;
    int wrong = 0;
    std::size_t next = 0;
    std::size_t running = 0;
    auto const go_on = [&](std::size_t k) {
        if (next == rows.size()) return true;
        jobs[k].row = rows[next++];
        shared->of_job[k] = {};
        ++running;
        return start(jobs[k], with, shared->of_job[k], shared->met);
    };
    for (std::size_t k = 0; k != jobs.size(); ++k)
        if (!go_on(k)) return 2;
    while (running != 0) {
        int status = 0;
        pid_t const process = waitpid(-1, &status, 0);
        auto const at = std::find_if(jobs.begin(), jobs.end(), [&](job const& j) { return j.process == process; });
        if (process < 0 || at == jobs.end()) return 2;
        auto const k = static_cast<std::size_t>(at - jobs.begin());
        if (!WIFEXITED(status)) {
            ++ended;
            if (!start(*at, with, shared->of_job[k], shared->met)) return 2;
            continue;
        }
        --running;
        all += shared->of_job[k];
        if (shared->of_job[k].different != 0) ++wrong;
        if (!go_on(k)) return 2;
    }
    if (with.only.empty()) show_stale(*shared);
    std::cout << rows.size() << " overloads: " << all.same << " calls agree, " << all.same_in_another_way
              << " agree with torch for another memory layout or without its libraries, " << all.known
              << " have known differences, " << all.different << " differ (of " << wrong << " overloads), "
              << all.same_in_float64 << " agree in float64, " << all.refused_by_both << " refused by both, "
              << all.refused_here << " here only, " << all.refused_by_torch << " by torch only, " << ended
              << " ended torch\n";
    return wrong == 0 && all.same != 0 ? 0 : 1;
}

} // namespace

} // namespace ATON_NAMESPACE::verify

int main(int argc, char** argv) {
    aton::verify::options with;
    for (int i = 1; i != argc; ++i) {
        std::string_view const word = argv[i];
        bool const more = i + 1 != argc;
        if (word == "--refused") with.shows_refused = true;
        else if (word == "--all") with.shows_all = true;
        else if (word == "--only" && more) with.only = argv[++i];
        else if (word == "--samples" && more) with.samples = static_cast<int>(std::strtol(argv[++i], nullptr, 10));
        else if (word == "--seed" && more) with.seed = std::strtoull(argv[++i], nullptr, 10);
        else if (word == "--jobs" && more) with.jobs = static_cast<int>(std::strtol(argv[++i], nullptr, 10));
        else {
            std::cerr << "usage: verify_torch [--only TEXT] [--samples N] [--seed N] [--jobs N] [--refused] [--all]\n";
            return 2;
        }
    }
    return aton::verify::run(with);
}

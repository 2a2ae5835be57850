// SPDX-License-Identifier: MIT
// The runtime's ATen beside torch's own, live, on random calls of every overload that the built-in tables map.
//
//     verify_torch [--only TEXT] [--samples N] [--seed N] [--refused] [--most-different N]
//
// A call that ends torch itself (integer division by zero ends the process) is counted, and the next one goes on: overloads run in
// processes of their own.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aton/mappings.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/torch_reference.hpp>

namespace aton::verify {

namespace {

struct options {
    std::string_view only;
    int samples = 1;
    std::uint64_t seed = 0;
    bool shows_refused = false;
    int most_different = 0;
};

/// In memory that the processes share.
struct counts {
    int next = 0; ///< call of the overload
    int same = 0;
    int different = 0;
    int refused_by_both = 0;
    int refused_here = 0;
    int refused_by_torch = 0;
};

std::vector<theme> all_themes() {
    std::vector<theme> out;
    for (dtype const t : {dtype::float32,
                          dtype::int64,
                          dtype::float64,
                          dtype::float16,
                          dtype::bfloat16,
                          dtype::int32,
                          dtype::uint8,
                          dtype::bool_,
                          dtype::complex64})
        for (size_theme const sizes : {size_theme::distinct, size_theme::ones, size_theme::empty, size_theme::scalar})
            for (value_theme const values : {value_theme::ordinary, value_theme::ties, value_theme::special})
                out.push_back({sizes, values, t, out.size() % 3 == 0, out.size() % 4 == 1});
    return out;
}

runtime::aten_results try_call(runtime::aten_results (*call)(sample const&), sample const& s, std::string& fault) {
    try {
        return call(s);
    } catch (error const& e) {
        fault = e.what();
        return {};
    }
}

runtime::aten_results call_here(sample const& s) { return runtime::call_aten(s.overload, s.arguments); }

std::string difference_of(runtime::aten_results const& got, runtime::aten_results const& expected) {
    if (got.results.size() != expected.results.size()) return "another number of results";
    for (std::size_t k = 0; k != got.results.size(); ++k) {
        std::string why = compare(got.results[k], expected.results[k], 16).difference;
        if (!why.empty()) return "result " + std::to_string(k) + ": " + why;
    }
    return {};
}

bool is_excluded(std::string const& overload) {
    auto const all = known_exclusions();
    return std::any_of(
        all.begin(), all.end(), [&](exclusion const& e) { return e.when.empty() && names(e.operators, overload); });
}

/// The calls of an overload from `to.next` on.
void check_overload(dsl::entry const& row, options const& with, counts& to) {
    std::string const overload(row.overload);
    sampling_rule const* const rule = find_rule(aten_sampling_rules(), overload);
    std::vector<theme> const themes = all_themes();
    int const calls = with.samples * static_cast<int>(themes.size());
    while (to.next != calls) {
        int const i = to.next++;
        theme const& t = themes[static_cast<std::size_t>(i / with.samples)];
        sample const s = draw(overload, row.schema, rule, t, with.seed + static_cast<std::uint64_t>(i));
        std::string there;
        std::string here;
        runtime::aten_results const expected = try_call(call_torch, s, there);
        runtime::aten_results const got = try_call(call_here, s, here);
        if (!here.empty() || !there.empty()) {
            bool const both = !here.empty() && !there.empty();
            ++(both ? to.refused_by_both : here.empty() ? to.refused_by_torch : to.refused_here);
            if (with.shows_refused && !both)
                std::cout << (here.empty() ? "torch refuses: " : "refused here: ") << (here + there).substr(0, 200)
                          << "\n    " << to_python(s).substr(0, 400) << '\n'
                          << std::flush;
            continue;
        }
        std::string const why = difference_of(got, expected);
        ++(why.empty() ? to.same : to.different);
        if (!why.empty() && to.different == 1)
            std::cout << overload << ": " << why << "\n    " << to_python(s).substr(0, 600) << '\n' << std::flush;
    }
}

int run(options const& with) {
    auto* const shared =
        static_cast<counts*>(mmap(nullptr, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (shared == MAP_FAILED) return 2;
    counts all;
    int ended = 0;
    std::set<std::string> overloads;
    std::set<std::string> wrong;
    for (dsl::table_view const& table : mappings::library())
        for (dsl::entry const& row : table) {
            std::string const overload(row.overload);
            if (overload.find(with.only) == std::string::npos || is_excluded(overload)) continue;
            if (!overloads.insert(overload).second) continue;
            *shared = {};
            for (bool whole = false; !whole;) {
                pid_t const child = fork();
                if (child == 0) {
                    check_overload(row, with, *shared);
                    _exit(0);
                }
                int status = 0;
                if (child < 0 || waitpid(child, &status, 0) < 0) return 2;
                whole = WIFEXITED(status);
                if (!whole) ++ended;
            }
            all.same += shared->same;
            all.different += shared->different;
            all.refused_by_both += shared->refused_by_both;
            all.refused_here += shared->refused_here;
            all.refused_by_torch += shared->refused_by_torch;
            if (shared->different != 0) wrong.insert(overload);
        }
    std::cout << overloads.size() << " overloads: " << all.same << " calls the same, " << all.different
              << " different (of " << wrong.size() << " overloads), " << all.refused_by_both << " refused by both, "
              << all.refused_here << " here alone, " << all.refused_by_torch << " by torch alone, " << ended
              << " ended torch\n";
    return static_cast<int>(wrong.size()) <= with.most_different && all.same != 0 ? 0 : 1;
}

} // namespace

} // namespace aton::verify

int main(int argc, char** argv) {
    aton::verify::options with;
    for (int i = 1; i != argc; ++i) {
        std::string_view const word = argv[i];
        bool const more = i + 1 != argc;
        if (word == "--refused") with.shows_refused = true;
        else if (word == "--only" && more) with.only = argv[++i];
        else if (word == "--samples" && more) with.samples = std::atoi(argv[++i]);
        else if (word == "--seed" && more) with.seed = std::strtoull(argv[++i], nullptr, 10);
        else if (word == "--most-different" && more) with.most_different = std::atoi(argv[++i]);
    }
    return aton::verify::run(with);
}

// SPDX-License-Identifier: MIT
// Runs each call in a process that may die, and returns its message as a result.
#include "hostile_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <random>
#include <vector>

#include <sys/resource.h>

#include <aton/core/error.hpp>
#include <aton/runtime/memory.hpp>

#include "guarded_run.hpp"

namespace aton::tests {

namespace {

constexpr std::size_t max_tensors = std::size_t{1} << 26; ///< maximum bytes of all tensors

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true; // sanitizers reserve address space and take time
#else
constexpr bool is_sanitized = false;
#endif

void limit_memory(std::size_t addresses) {
    runtime::limit_cpu_memory(max_tensors);
    if (!is_sanitized) {
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, addresses);
        ::setrlimit(RLIMIT_AS, &limit);
    }
    rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
}

/// The peak resident memory since the last reset (proc(5), clear_refs); 0 if the system does not report it.
std::size_t peak_resident() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (std::size_t kib = 0; word == "VmHWM:" && status >> kib) return kib * 1024;
    return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << '5'; }

/// Empty: it ran; "-": it was refused; otherwise what is wrong.
std::string outcome_of(std::function<void()> const& call, hostile_limits const& limits) {
    std::string fault;
    if (limits.resident != 0) forget_peak();
    try {
        call();
    } catch (error const& e) {
        fault = fault_of_message(e.what(), limits);
        if (fault.empty()) fault = "-";
    } catch (std::exception const& e) {
        return "threw something else than aton::error: " + std::string(e.what());
    }
    std::size_t const most = limits.resident == 0 || is_sanitized ? 0 : peak_resident();
    return most > limits.resident ? "held " + std::to_string(most >> 20U) + " MiB of memory" : fault;
}

} // namespace

std::string fault_of_message(std::string_view line, hostile_limits const& limits) {
    std::string const shown(line.substr(0, 400));
    if (line.empty() || line.find('\n') != std::string_view::npos) return "the refusal is not one line: " + shown;
    if (line.size() > limits.message) return "the refusal has " + std::to_string(line.size()) + " characters: " + shown;
    if (limits.library_text) return {};
    for (std::string_view const word : {"std::",
                                        "vector::",
                                        "basic_string",
                                        "bad_alloc",
                                        "bad_optional",
                                        "_M_",
                                        "deque",
                                        "stoi",
                                        "stol",
                                        "stod",
                                        "out_of_range",
                                        "length_error",
                                        "max_size"})
        if (line.find(word) != std::string_view::npos) return "the refusal is the C++ library's: " + shown;
    return {};
}

hostile_options read_hostile_options(int count, char** words, int first) {
    hostile_options o;
    if ((count - first) % 2 != 0) throw error("a word for each option is needed");
    for (int i = first; i + 1 < count; i += 2) {
        std::string_view const key = words[i];
        std::string const word = words[i + 1];
        if (key == "--only") o.only = word;
        else if (key == "--rounds") o.rounds = std::stoul(word);
        else if (key == "--first") o.first = std::stoul(word);
        else if (key == "--seed") o.seed = std::stoul(word);
        else if (key == "--seconds") o.seconds = std::stoul(word);
        else if (key == "--jobs") o.jobs = std::stoul(word);
        else throw error("unknown option " + std::string(key));
    }
    return o;
}

hostile_tally hostile_run(std::string_view program, std::size_t names, hostile_options const& options,
                          std::function<std::string(std::size_t)> const& name_of,
                          std::function<void(std::size_t, std::uint64_t)> const& work, hostile_limits const& limits) {
    limit_memory(limits.addresses);
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i != names; ++i)
        if (name_of(i) == options.only) chosen.push_back(i);
    for (std::size_t i = 0; i != names && (chosen.empty() || name_of(chosen[0]) != options.only); ++i)
        if (name_of(i).find(options.only) != std::string::npos) chosen.push_back(i);
    if (chosen.empty()) throw error("nothing has " + options.only + " in its name");
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
    auto const name_at = [&](std::size_t job) { return name_of(chosen[job % chosen.size()]); };
    auto const round_at = [&](std::size_t job) { return options.first + job / chosen.size(); };
    std::vector<std::string> const results = guarded_run(
        chosen.size() * options.rounds,
        [&](std::size_t job) -> std::string {
            if (options.seconds != 0 && std::chrono::steady_clock::now() > until) return "late";
            std::string const name = name_at(job);
            std::seed_seq mixed(name.begin(), name.end());
            std::uint32_t words[2];
            mixed.generate(std::begin(words), std::end(words));
            std::uint64_t const own =
                (std::uint64_t{words[0]} << 32U | words[1]) + round_at(job) + (options.seed << 40U);
            if (options.jobs == 0) std::printf("%s, round %zu\n", name.c_str(), round_at(job)), std::fflush(stdout);
            return outcome_of([&] { work(chosen[job % chosen.size()], own); }, limits);
        },
        options.jobs,
        is_sanitized ? limits.seconds * 10 : limits.seconds);
    hostile_tally tally;
    for (std::size_t job = 0; job != results.size(); ++job) {
        std::string const& text = results[job];
        if (text == "late") continue;
        if (text.empty()) ++tally.answered;
        else if (text == "-") ++tally.refused;
        else {
            ++tally.found;
            std::printf("%s: %s\n    again: --only %s --first %zu --seed %zu --jobs 0\n",
                        name_at(job).c_str(),
                        text.c_str(),
                        name_at(job).c_str(),
                        round_at(job),
                        static_cast<std::size_t>(options.seed));
        }
    }
    std::printf("%.*s: %zu ran, %zu were refused, %zu findings\n",
                static_cast<int>(program.size()),
                program.data(),
                tally.answered,
                tally.refused,
                tally.found);
    return tally;
}

} // namespace aton::tests

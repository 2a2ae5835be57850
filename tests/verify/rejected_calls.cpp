// SPDX-License-Identifier: MIT
// Calls that torch rejects because of their dtypes, sizes or numbers are refused, and none that it accepts is.
//
//     verify_rejected_calls [--only TEXT] [--rounds N] [--seed N] [--least PERCENT] [--all]
//
// Each overload runs in its own process, as some calls end torch. Draws calls that torch accepts, changes one argument of each and asks torch
// again. Fails if a call that torch accepts violates a requirement (src/mappings/aten_requirements.cpp), or if fewer of the calls that it
// rejects are refused than --least says. --all: prints what is converted although torch rejects it, once for each message.
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/sample.hpp>
#include <aton/verify/torch_reference.hpp>
#include <aton/verify/translation.hpp>

#include "../changed_bytes.hpp"
#include "mapped_rows.hpp"

namespace {

using namespace aton::tests;
using aton::dtype;
using aton::scalar;
using aton::runtime::aten_argument;
using aton::runtime::tensor;
using aton::verify::sample;
using kind = aton::aten::argument_kind;

constexpr int opset = 20;

struct options {
    std::string_view only;
    int rounds = 60;
    std::uint64_t seed = 0;
    double least = 0;
    bool shows_all = false;
};

/// The counts of all overloads, which the processes share.
struct counts {
    int next = 0; ///< round of the current overload
    int rejected = 0;
    int refused = 0;
    int too_strict = 0;
};

sample drawn(aton::dsl::entry const& row, std::mt19937_64& rng) {
    static constexpr dtype types[] = {dtype::float32, dtype::float32, dtype::int64, dtype::bool_, dtype::float64};
    aton::verify::sampling_profile t;
    t.type = types[up_to(rng, std::size(types) - 1)];
    t.sizes = up_to(rng, 3) == 0 ? aton::verify::size_profile::equal : aton::verify::size_profile::distinct;
    return draw(row.overload, row.schema, find_rule(aton::verify::aten_sampling_rules(), row.overload), t, rng());
}

scalar changed(scalar const& x, std::mt19937_64& rng) {
    if (x.is_floating()) {
        static constexpr double all[] = {-1.5, 0.0, 2.5, -0.25, 100.0};
        return all[up_to(rng, std::size(all) - 1)];
    }
    if (x.is_bool()) return !x.to<bool>();
    std::int64_t const n = x.to<std::int64_t>();
    std::int64_t const all[] = {n + 1, n - 1, -1, 0, 9, -9, 1, 2, n * 2, n + 2};
    return all[up_to(rng, std::size(all) - 1)];
}

tensor resized(tensor const& x, std::mt19937_64& rng) {
    aton::runtime::sizes to = x.sizes();
    std::size_t const at = to.empty() ? 0 : up_to(rng, to.size() - 1);
    switch (up_to(rng, 3)) {
    case 0: to.insert(to.begin() + static_cast<std::ptrdiff_t>(at), 1 + up_to(rng, 2)); break;
    case 1:
        if (!to.empty()) to.erase(to.begin() + static_cast<std::ptrdiff_t>(at));
        break;
    default:
        if (!to.empty()) to[at] += up_to(rng, 3) == 0 ? 3 : 1;
    }
    aton::tensor out{x.dtype(), {to.begin(), to.end()}, {}};
    aton::tensor const was = contiguous(x).to_constant();
    auto const count = static_cast<std::size_t>(x.count());
    for (std::size_t i = 0; i != static_cast<std::size_t>(out.element_count()); ++i)
        out.append(count == 0 ? scalar(1) : was.at(i % count));
    return tensor::from_constant(out);
}

tensor changed(tensor const& x, std::mt19937_64& rng) {
    if (!x || is_complex(x.dtype()) || !aton::tensor::can_hold(x.dtype())) return x;
    if (up_to(rng, 4) != 0) return resized(x, rng);
    static constexpr dtype types[] = {dtype::float32, dtype::int64, dtype::bool_, dtype::float64, dtype::int32};
    return aton::runtime::cast(x, types[up_to(rng, std::size(types) - 1)]);
}

void change(std::vector<tensor>& all, std::mt19937_64& rng) {
    if (all.empty()) return;
    tensor& one = all[up_to(rng, all.size() - 1)];
    if (up_to(rng, 4) == 0) all.pop_back();
    else one = changed(one, rng);
}

void change(std::vector<scalar>& all, std::mt19937_64& rng) {
    if (all.empty() || up_to(rng, 5) == 0) all.push_back(all.empty() ? scalar(1) : changed(all.back(), rng));
    else if (up_to(rng, 4) == 0) all.pop_back();
    else {
        scalar& one = all[up_to(rng, all.size() - 1)];
        one = up_to(rng, 3) == 0 ? all.front() : changed(one, rng);
    }
}

void change(aten_argument& a, std::mt19937_64& rng) {
    switch (a.kind) {
    case kind::tensor: a.tensor = changed(a.tensor, rng); return;
    case kind::tensors: change(a.tensors, rng); return;
    case kind::number: a.number = changed(a.number, rng); return;
    case kind::numbers: change(a.numbers, rng); return;
    case kind::text: a.text = up_to(rng, 1) == 0 ? "sum" : "other"; return;
    default: return;
    }
}

/// Torch's message; empty if it accepts the call.
std::string rejection(sample const& s) {
    try {
        (void)aton::verify::call_torch(s);
        return {};
    } catch (aton::error const& e) {
        return e.what();
    }
}

/// Whether torch only lacks a kernel for the dtype, or rejects elements, which nobody knows while a program is converted.
bool is_other_reason(std::string_view why) {
    for (std::string_view const each : {"not implemented",
                                        "not supported",
                                        "Unsupported",
                                        "Could not run",
                                        "out of bounds",
                                        "out of range: tried",
                                        "out of DATA bounds",
                                        "ZeroDivisionError",
                                        "could not create a primitive descriptor",
                                        "(Batch element ",
                                        "Class values must",
                                        "pivots passed to",
                                        "invalid max index",
                                        "on CPU",
                                        "(CPU)"})
        if (why.find(each) != std::string_view::npos) return true;
    return false;
}

/// What of a message is equal for calls with other sizes.
std::string without_digits(std::string_view why) {
    std::string out;
    for (char const c : why.substr(0, 110))
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) out += c;
    return out;
}

class row_rounds {
public:
    row_rounds(aton::dsl::entry const& row, options const& with, counts& to) : row_(row), with_(with), to_(to) {}

    void run() {
        while (to_.next != with_.rounds) {
            std::uint64_t const round = with_.seed * 1'000'003 + static_cast<std::uint64_t>(to_.next++);
            std::mt19937_64 rng(round ^ row_.hash);
            sample s = drawn(row_, rng);
            if (s.arguments.empty() || !rejection(s).empty() || !refusal(s).empty()) continue;
            aten_argument& a = s.arguments[up_to(rng, s.arguments.size() - 1)];
            change(a, rng);
            check(s, a.name, rejection(s));
        }
    }

private:
    /// The row's message; empty if it converts the call.
    [[nodiscard]] std::string refusal(sample const& s) const {
        try {
            (void)translate(row_, row_.schema, opset, s);
            return {};
        } catch (aton::error const& e) {
            return e.what();
        }
    }

    void check(sample const& s, std::string const& changed, std::string const& why) {
        std::string const here = refusal(s);
        if (why.empty()) {
            if (here.find(": requires ") == std::string::npos) return;
            ++to_.too_strict;
            show("torch accepts: ", here, s);
        } else if (!is_other_reason(why)) {
            ++to_.rejected;
            if (!here.empty()) ++to_.refused;
            else if (with_.shows_all && seen_.insert(changed + without_digits(why)).second)
                show("torch rejects '" + changed + "': ", why, s);
        }
    }

    static void show(std::string const& what, std::string const& message, sample const& s) {
        std::cout << what << message.substr(0, 300) << "\n    " << to_python(s).substr(0, 600) << '\n' << std::flush;
    }

    aton::dsl::entry const& row_;
    options const& with_;
    counts& to_;
    std::set<std::string> seen_;
};

int run(options const& with) {
    auto* const shared =
        static_cast<counts*>(mmap(nullptr, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (shared == MAP_FAILED) return 2; // NOLINT(*-cstyle-cast): torch's
    *shared = {};
    for (aton::dsl::entry const* const row : all_rows()) {
        if (row->overload.find(with.only) == std::string_view::npos) continue;
        for (shared->next = 0; shared->next != with.rounds;) {
            pid_t const process = fork();
            if (process == 0) {
                alarm(60); // kernels may loop
                row_rounds(*row, with, *shared).run();
                _exit(0);
            }
            int status = 0;
            if (process < 0 || waitpid(process, &status, 0) < 0) return 2;
        }
    }
    double const percent = shared->rejected == 0 ? 100 : 100.0 * shared->refused / shared->rejected;
    std::cout << std::fixed << std::setprecision(1) << shared->refused << " of " << shared->rejected
              << " calls that torch rejects are refused (" << percent << " %); of those that it accepts, "
              << shared->too_strict << " violate a requirement\n";
    return shared->too_strict == 0 && percent >= with.least ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    options with;
    for (int i = 1; i != argc; ++i) {
        std::string_view const word = argv[i];
        bool const more = i + 1 != argc;
        if (word == "--all") with.shows_all = true;
        else if (word == "--only" && more) with.only = argv[++i];
        else if (word == "--rounds" && more) with.rounds = static_cast<int>(std::strtol(argv[++i], nullptr, 10));
        else if (word == "--seed" && more) with.seed = std::strtoull(argv[++i], nullptr, 10);
        else if (word == "--least" && more) with.least = std::strtod(argv[++i], nullptr);
        else {
            std::cerr
                << "usage: verify_rejected_calls [--only TEXT] [--rounds N] [--seed N] [--least PERCENT] [--all]\n";
            return 2;
        }
    }
    return run(with);
}

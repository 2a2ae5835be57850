// SPDX-License-Identifier: MIT
// Rows with several tensors, on all pairs of dtypes: for each pair that ATen accepts, the graph gives ATen's dtype and numbers, or is refused.
//
//     verify_mixed_types --data FILE [--only TEXT] [--every N] [--seed N] [--refused] [--loose] [--all]
//     verify_mixed_types_torch [--record FILE] ...
//
// The second is built if torch is installed, and calls torch; with --data it also compares the file with torch. The first takes dtypes from
// the file and numbers from the runtime's kernels, which the second compares with torch's.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aton/core/error.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/translation.hpp>
#if defined(ATON_ASKS_TORCH)
#include <aton/verify/torch_reference.hpp>
#endif

#include "mixed_calls.hpp"
#include "verify/expectation.hpp"
#include "verify/rounding.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::aten_results;

struct options {
    std::string_view only;
    std::string data;
    std::string record;
    std::size_t every = 1; ///< check every n-th pair
    std::uint64_t seed = 0;
    bool shows_refused = false;
    bool shows_loose = false;
    bool shows_all = false;
};

enum outcome : std::uint8_t { right, refused, wrong, kernel_wrong, kernel_refuses, kernel_takes_more, ended, count_ };
constexpr std::string_view outcome_names[] = {
    "right", "refused", "wrong", "wrong in the kernel", "refused by the kernel", "refused by ATen only", "ended ATen"};

constexpr std::size_t max_operands = 24;

/// The state of one overload, in memory that its process shares.
struct shared_state {
    std::size_t next = 0; ///< number of the next call
    std::size_t counts[outcome::count_] = {};
    std::size_t operands = 0;
    char names[max_operands][64] = {};
    std::array<pair_letters, operand_kinds> letters[max_operands];
};

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

struct call_result {
    aten_results results;
    std::string refusal;
    bool accepts = false;
};

template <class Call>
call_result result_of(Call call, sample const& s) {
    try {
        return {call(s), {}, true};
    } catch (error const& e) {
        return {{}, first_line(e.what()), false};
    }
}
aten_results call_here(sample const& s) { return runtime::call_aten(s.overload, s.arguments); }
#if defined(ATON_ASKS_TORCH)
constexpr auto call_reference = call_torch;
#else
constexpr auto call_reference = call_here;
#endif

char first_letter(aten_results const& r) {
    return r.results.empty() || !r.results[0].is_tensor() ? '-' : letter_of(r.results[0].one().dtype());
}

dtype narrowest_of(sample const& s) {
    dtype out = dtype::undefined;
    for (runtime::aten_argument const& a : s.arguments) {
        if (a.tensor) out = narrower(a.tensor.dtype(), out);
        for (runtime::tensor const& t : a.tensors)
            if (t) out = narrower(t.dtype(), out);
    }
    return out;
}
bool is_half(dtype t) { return t == dtype::float16 || t == dtype::bfloat16; }

/// Whether numbers are compared: not those of random operators, nor where legitimate rounding moves a result to another integer or
/// beyond the largest number.
bool has_numbers(sample const& s) {
    constexpr std::string_view steps =
        "floor_divide div.Tensor_mode divide.Tensor_mode fmod remainder pow grid_sampler_3d "
        "_scaled_dot_product_attention_math poisson_nll_loss";
    dtype const narrowest = narrowest_of(s);
    if (is_half(narrowest) && names(steps, s.overload)) return false;
    auto const all = known_exclusions();
    return std::none_of(all.begin(), all.end(), [&](exclusion const& e) {
        return (e.when.empty() || e.when == name(narrowest)) && names(e.operators, s.overload);
    });
}

/// Operators that do not check the sizes of these operands on the CPU and read out of bounds: not called with 0-d operands.
constexpr std::string_view read_beyond =
    "_batch_norm_no_update _batch_norm_with_update_functional _native_batch_norm_legit_functional "
    "_native_batch_norm_legit_no_training _native_batch_norm_legit.no_stats native_batch_norm _weight_norm "
    "_weight_norm_interface as_strided_scatter rnn_relu.input rnn_tanh.input lstm.input gru.input masked_scatter";

class overload_check {
public:
    overload_check(std::vector<dsl::entry const*> rows, options const& with,
                   std::map<std::string, recorded_operand> const& recorded, shared_state& state)
        : rows_(std::move(rows)),
          with_(with),
          recorded_(recorded),
          state_(state),
          overload_(rows_[0]->overload) {}

    /// Runs the calls from `next` on, the one after the last call that ended the process.
    void run() {
        std::size_t number = 0;
        for (sample const& base : bases()) {
            std::vector<operand_place> const operands = operands_of(base);
            for (operand_place const& operand : operands) {
                std::size_t const o = place_in_state(text_of(base, operand));
                for (std::size_t k = 0; k != operand_kinds; ++k)
                    for (std::size_t pair = 0; pair != pair_count; ++pair, ++number) {
                        if (number < state_.next || (number + with_.seed) % with_.every != 0) continue;
                        state_.next = number + 1;
                        if (k != 0 && names(read_beyond, overload_)) continue;
                        if (std::optional<sample> const s = mixed(base, operand, static_cast<operand_kind>(k), pair))
                            check(*s, text_of(base, operand), o, k, pair);
                    }
            }
        }
    }

private:
    /// The index of the operand's letters; calls may have different optional operands.
    [[nodiscard]] std::size_t place_in_state(std::string const& operand) {
        std::size_t o = 0;
        while (o != state_.operands && operand != state_.names[o]) ++o;
        if (o == max_operands) throw error(overload_ + ": more than " + std::to_string(max_operands) + " operands");
        if (o == state_.operands) operand.copy(state_.names[state_.operands++], sizeof(state_.names[o]) - 1);
        return o;
    }

    /// The calls that pairs are applied to: one with ordinary elements and one with large ones, which ATen accepts in some dtype.
    [[nodiscard]] std::vector<sample> bases() const {
        sampling_rule const* const rule = find_rule(aten_sampling_rules(), overload_);
        std::vector<sample> out;
        for (value_profile const values : {value_profile::ordinary, value_profile::wide}) {
            constexpr std::uint64_t max_draws = 12;
            for (std::uint64_t i = 0; i != max_draws; ++i) {
                sampling_profile const t{size_profile::distinct, values, dtype::float32, false, i % 2 == 0};
                sample s = draw(overload_, rows_[0]->schema, rule, t, with_.seed + i);
                if (operands_of(s).size() < 2 || operands_of(s).size() > max_operands || !is_accepted(s)) continue;
                out.push_back(std::move(s));
                break;
            }
        }
        return out;
    }

    [[nodiscard]] bool is_accepted(sample const& s) const {
        std::vector<operand_place> const operands = operands_of(s);
        return std::any_of(mixed_types.begin(), mixed_types.end(), [&](dtype t) {
            auto const i = static_cast<std::size_t>(letter_index(t));
            return result_of(call_here, *mixed(s, operands[0], operand_kind::dimensioned, i * (mixed_types.size() + 1)))
                .accepts;
        });
    }
    static std::ptrdiff_t letter_index(dtype t) {
        return std::find(mixed_types.begin(), mixed_types.end(), t) - mixed_types.begin();
    }

    void note(outcome what, sample const& s, std::string const& where, std::string const& why) {
        ++state_.counts[what];
        bool const shown =
            what == wrong || (what == kernel_wrong && with_.shows_loose) || (what == refused && with_.shows_refused) ||
            (what == kernel_refuses && with_.shows_refused) || (what == kernel_takes_more && with_.shows_loose);
        if (!shown || (!with_.shows_all && !shown_.insert(std::to_string(what) + where).second)) return;
        std::cout << overload_ << ", " << where << " (" << outcome_names[what] << "): " << why << "\n    "
                  << to_python(s).substr(0, 700) << '\n'
                  << std::flush;
    }

    /// Compares as aton verify does: beyond the tolerance, errors are bounded by the conditioning of the call.
    [[nodiscard]] std::string difference_of(sample const& s, std::vector<runtime::value> const& got,
                                            aten_results const& results) const {
        expectation expected;
        expected.results = results.results;
        expected.terms.assign(results.results.size(), 64);
        expected.rounded = narrowest_of(s);
        expected.values = has_numbers(s);
        for (omitted_result const& o : known_omissions())
            if (names(o.operators, overload_)) expected.allow_omission(o, o.when.empty());
        expected.bounds_of = [&] { return rounding_bounds(call_reference, s, rows_[0]->schema, results.results); };
        return describe_difference(got, expected);
    }

    /// Compares the graphs with ATen's results, or, without them, with the dtype of the letter.
    void check_graphs(sample const& s, std::string const& where, aten_results const* expected, char letter) {
        std::string refusal;
        bool ran = false;
        std::set<int> opsets;
        for (dsl::entry const* const row : rows_)
            for (int const opset : {std::max(row->since, 13), std::min(row->until, onnx::newest_version(""))}) {
                if (opset < row->since || opset > row->until || !opsets.insert(opset).second) continue;
                try {
                    std::vector<runtime::value> const got = verify::run(translate(*row, row->schema, opset, s));
                    ran = true;
                    std::string why;
                    if (expected != nullptr) why = difference_of(s, got, *expected);
                    else if (got[0] && letter_of(got[0].one().dtype()) != letter)
                        why = "the dtype is " + std::string(name(got[0].one().dtype())) + ", ATen's is " +
                              std::string(name_of_letter(letter));
                    if (!why.empty()) return note(wrong, s, where, "opset " + std::to_string(opset) + ": " + why);
                } catch (aton::refused const& e) {
                    refusal = first_line(e.what());
                } catch (error const& e) {
                    return note(wrong, s, where, "opset " + std::to_string(opset) + ": " + first_line(e.what()));
                }
            }
        note(ran ? right : refused, s, where, refusal);
    }

    void check(sample const& s, std::string const& operand, std::size_t o, std::size_t k, std::size_t pair) {
        constexpr std::string_view kinds[] = {"", " of no dimensions", " as a number"};
        std::string const where = operand + std::string(kinds[k]);
        call_result const here = result_of(call_here, s);
#if defined(ATON_ASKS_TORCH)
        call_result const there = result_of(call_torch, s);
        char const letter = there.accepts ? first_letter(there.results) : refused_letter;
        char& known = state_.letters[o][k][pair];
        if (known == refused_letter) known = letter;
        else if (letter != refused_letter && letter != known) known = open_letter;
        check_recorded(s, operand, where, k, pair, letter);
        if (letter == refused_letter) {
            if (here.accepts) note(kernel_takes_more, s, where, there.refusal);
            return;
        }
        std::string const why = here.accepts ? difference_of(s, here.results.results, there.results) : std::string();
        if (!here.accepts) note(kernel_refuses, s, where, here.refusal);
        else if (!why.empty()) note(kernel_wrong, s, where, why);
        check_graphs(s, where, &there.results, letter);
#else
        static_cast<void>(o);
        auto const found = recorded_.find(overload_ + ' ' + operand);
        char const letter = found == recorded_.end() ? refused_letter : found->second.letters[k][pair];
        if (letter == refused_letter) return;
        if (letter == open_letter) return check_open(s, where, here);
        // If the kernel's dtype differs from ATen's, only the dtype of the graph can be checked.
        bool const knows = here.accepts && first_letter(here.results) == letter;
        if (!here.accepts) note(kernel_refuses, s, where, here.refusal);
        else if (!knows) note(kernel_wrong, s, where, "ATen's dtype is " + std::string(name_of_letter(letter)));
        check_graphs(s, where, knows ? &here.results : nullptr, letter);
#endif
    }

#if !defined(ATON_ASKS_TORCH)
    /// For pairs whose result dtype depends on other arguments, the kernel's dtype is assumed to be correct.
    void check_open(sample const& s, std::string const& where, call_result const& here) {
        if (here.accepts) check_graphs(s, where, &here.results, open_letter);
        else note(kernel_refuses, s, where, here.refusal);
    }
#else
    /// Checks that the recorded dtype is torch's.
    void check_recorded(sample const& s, std::string const& operand, std::string const& where, std::size_t k,
                        std::size_t pair, char letter) {
        if (recorded_.empty() || letter == refused_letter) return;
        auto const found = recorded_.find(overload_ + ' ' + operand);
        char const before = found == recorded_.end() ? refused_letter : found->second.letters[k][pair];
        if (before != letter && before != open_letter)
            note(wrong, s, where, std::string("the file has '") + before + "', torch gives '" + letter + "'");
    }
#endif

    std::vector<dsl::entry const*> rows_;
    options const& with_;
    std::map<std::string, recorded_operand> const& recorded_;
    shared_state& state_;
    std::string overload_;
    std::set<std::string> shown_;
};

/// The rows of overloads with several tensors.
std::map<std::string, std::vector<dsl::entry const*>> chosen_rows(options const& with) {
    std::map<std::string, std::vector<dsl::entry const*>> out;
    for (dsl::table_view const& table : mappings::built_in_tables())
        for (dsl::entry const& row : table) {
            int tensors = 0;
            aten::schema_argument formal;
            for (aten::argument_cursor each{row.schema}; each.next(formal);)
                if (formal.type.base == aten::base_type::tensor) tensors += formal.type.list ? 2 : 1;
            if (tensors > 1 && row.overload.find(with.only) != std::string_view::npos)
                out[std::string(row.overload)].push_back(&row);
        }
    return out;
}

/// Checks in a child process, which is restarted at the next call if a call ends it.
bool check_in_process(overload_check& check, shared_state& state) {
    for (;;) {
        pid_t const process = fork();
        if (process == 0) {
            check.run();
            _exit(0);
        }
        int status = 0;
        if (process < 0 || waitpid(process, &status, 0) != process) return false;
        if (WIFEXITED(status)) return true;
        ++state.counts[ended];
    }
}

int check_all(options const& with) {
    auto* const state = static_cast<shared_state*>(
        mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (state == MAP_FAILED) return 2; // NOLINT(*-cstyle-cast): the system's
    std::map<std::string, recorded_operand> recorded;
    if (!with.data.empty())
        for (recorded_operand const& each : read_mixed_types(with.data))
            recorded[each.overload + ' ' + each.operand] = each;
    std::vector<recorded_operand> all;
    std::size_t counts[outcome::count_] = {};
    std::size_t overloads = 0;
    for (auto const& [overload, rows] : chosen_rows(with)) {
        *state = {};
        for (auto& of : state->letters)
            for (pair_letters& each : of) each.fill(refused_letter);
        overload_check check(rows, with, recorded, *state);
        if (!check_in_process(check, *state)) return 2;
        if (state->operands != 0) ++overloads;
        for (std::size_t i = 0; i != outcome::count_; ++i) counts[i] += state->counts[i];
        for (std::size_t o = 0; o != state->operands; ++o)
            all.push_back({overload, state->names[o], state->letters[o]});
    }
    if (!with.record.empty()) write_mixed_types(with.record, all);
    std::cout << overloads << " overloads with several tensors";
    for (std::size_t i = 0; i != outcome::count_; ++i)
        std::cout << (i == 0 ? ": " : ", ") << counts[i] << ' ' << outcome_names[i];
    std::cout << '\n';
    return counts[wrong] == 0 && counts[right] != 0 ? 0 : 1; // verify_torch checks the kernels
}

} // namespace

} // namespace ATON_NAMESPACE::verify

int main(int argc, char** argv) {
    aton::verify::options with;
    for (int i = 1; i != argc; ++i) {
        std::string_view const word = argv[i];
        bool const more = i + 1 != argc;
        if (word == "--refused") with.shows_refused = true;
        else if (word == "--loose") with.shows_loose = true;
        else if (word == "--all") with.shows_all = true;
        else if (word == "--only" && more) with.only = argv[++i];
        else if (word == "--data" && more) with.data = argv[++i];
        else if (word == "--record" && more) with.record = argv[++i];
        else if (word == "--every" && more) with.every = std::max<std::size_t>(1, std::strtoul(argv[++i], nullptr, 10));
        else if (word == "--seed" && more) with.seed = std::strtoull(argv[++i], nullptr, 10);
        else {
            std::cerr << "usage: verify_mixed_types [--data FILE] [--record FILE] [--only TEXT] [--every N] [--seed N] "
                         "[--refused] [--loose] [--all]\n";
            return 2;
        }
    }
    try {
        return aton::verify::check_all(with);
    } catch (std::exception const& e) {
        std::cerr << "verify_mixed_types: " << e.what() << '\n';
        return 2;
    }
}

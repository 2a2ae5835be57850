// SPDX-License-Identifier: MIT
// The bisection: a range for which a condition is neither certain nor impossible is split in the middle.
#include "integer_search.hpp"

#include <aton/core/scalar.hpp>

#include "python_value.hpp"

namespace ATON_NAMESPACE::program {

namespace {

/// The effort after which a symbol counts as undetermined: ranges per symbol, and evaluations of conditions in total.
constexpr int max_ranges = 4000;
constexpr int max_evaluations = 400000;

/// Takes the next range, in ascending order.
integer_range pop(std::vector<integer_range>& left) {
    integer_range const out = left.back();
    left.pop_back();
    return out;
}

void push_halves(std::vector<integer_range>& left, integer_range r) {
    std::int64_t const middle = r.low + (r.high - r.low) / 2;
    left.push_back({middle + 1, r.high});
    left.push_back({r.low, middle});
}

} // namespace

bool integer_search::gives_up(int ranges) const { return ranges == max_ranges || evaluations_ > max_evaluations; }

truth integer_search::certain(std::string const& symbol, integer_range r, std::vector<fact const*> const& facts) {
    ranges_of_symbols const ranges{{symbol, r}};
    truth out = truth::yes;
    for (fact const* f : facts) {
        ++evaluations_;
        truth t = truth::unknown;
        if (r.low == r.high) {
            std::optional<scalar> const v = python_value(f->condition, {{symbol, r.low}});
            t = v && v->to<bool>() ? truth::yes : truth::no;
        } else {
            t = holds(f->condition, ranges);
        }
        if (t == truth::no) return t;
        if (t == truth::unknown) out = t;
    }
    return out;
}

integer_search::outcome integer_search::only_number(std::string const& symbol, integer_range domain,
                                                    std::vector<fact const*> const& facts) {
    if (facts.empty() && domain.low != domain.high) return {count::several_or_unknown};
    std::optional<std::int64_t> found;
    std::vector<integer_range> left{domain};
    for (int ranges = 0; !left.empty(); ++ranges) {
        if (gives_up(ranges)) return {count::several_or_unknown};
        integer_range const r = pop(left);
        truth const t = certain(symbol, r, facts);
        if (t == truth::no) continue;
        if (r.low == r.high) {
            if (found) return {count::several_or_unknown};
            found = r.low;
            continue;
        }
        if (t == truth::yes) return {count::several_or_unknown};
        push_halves(left, r);
    }
    return found ? outcome{count::one, *found} : outcome{count::none};
}

std::optional<std::vector<integer_range>> integer_search::all_numbers(std::string const& symbol, integer_range domain,
                                                                      fact const& of, std::size_t most) {
    std::vector<integer_range> accepted;
    std::vector<integer_range> left{domain};
    for (int ranges = 0; !left.empty(); ++ranges) {
        if (gives_up(ranges)) return std::nullopt;
        integer_range const r = pop(left);
        truth const t = certain(symbol, r, {&of});
        if (t == truth::unknown) {
            push_halves(left, r);
        } else if (t == truth::yes) {
            if (!accepted.empty() && accepted.back().high + 1 == r.low) accepted.back().high = r.high;
            else accepted.push_back(r);
            if (accepted.size() > most) return std::nullopt;
        }
    }
    return accepted;
}

} // namespace ATON_NAMESPACE::program

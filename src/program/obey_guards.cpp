// SPDX-License-Identifier: MIT
// Solves guards as equations over sizes: finds symbols with a single possible value or that others determine, and the state of each guard.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/program/program.hpp>

#include "intervals.hpp"
#include "linear.hpp"
#include "python_value.hpp"

namespace ATON_NAMESPACE::program {

namespace {

using expressions_of_symbols = std::map<std::string, expression, std::less<>>;
using names = std::set<std::string, std::less<>>;

/// Bounds sizes, so that expressions of them fit in 64 bits.
constexpr std::int64_t max_size = std::int64_t{1} << 48;
/// The effort after which a symbol counts as undetermined: ranges per symbol, and evaluations of conditions in total.
constexpr int max_ranges = 4000;
constexpr int max_evaluations = 400000;

expression whole(std::int64_t n) {
    expression out;
    out.number = n;
    return out;
}
expression named(std::string symbol) {
    expression out;
    out.kind = expression_kind::symbol;
    out.symbol = std::move(symbol);
    return out;
}
expression relation(expression_kind kind, expression left, expression right) {
    expression out;
    out.kind = kind;
    out.operands.push_back(std::move(left));
    out.operands.push_back(std::move(right));
    return out;
}

void collect_symbols(expression const& e, names& to) {
    if (e.kind == expression_kind::symbol) to.insert(e.symbol);
    for (expression const& each : e.operands) collect_symbols(each, to);
}
bool mentions(expression const& e, std::string_view symbol) {
    if (e.kind == expression_kind::symbol) return e.symbol == symbol;
    return std::any_of(
        e.operands.begin(), e.operands.end(), [&](expression const& each) { return mentions(each, symbol); });
}

bool is_number(expression const& e) {
    return e.kind == expression_kind::integer || e.kind == expression_kind::real || e.kind == expression_kind::boolean;
}

/// Whether evaluating the expression involves floats.
bool has_float(expression const& e) {
    switch (e.kind) {
    case expression_kind::real:
    case expression_kind::to_float:
    case expression_kind::true_div:
    case expression_kind::other: return true;
    default: return std::any_of(e.operands.begin(), e.operands.end(), has_float);
    }
}

/// Whether a guard fixes a number that was computed from sizes, such as size // 2 == 3. Floats are always computed for their value.
bool freezes_number(expression const& e) {
    if (e.kind == expression_kind::equal && e.operands.size() == 2 &&
        is_number(e.operands[0]) != is_number(e.operands[1]))
        return true;
    if (e.kind == expression_kind::all_of || e.kind == expression_kind::any_of || e.kind == expression_kind::negation ||
        e.kind == expression_kind::boolean)
        return std::any_of(e.operands.begin(), e.operands.end(), freezes_number);
    return has_float(e);
}

/// One condition that must hold.
struct fact {
    expression condition;  ///< over symbols that are not yet known
    std::size_t guard = 0; ///< the guard that it is part of; the number of guards for a range of the program
    names symbols;
};

class solver {
public:
    explicit solver(program& p) : p_(p) {}

    void run() {
        for (std::size_t i = 0; i != p_.guards.size(); ++i)
            if (p_.guards[i].condition) add_facts(symbolic(*p_.guards[i].condition), i);
        collect_domains();
        for (bool found = true; found;) {
            found = pin_one();
            while (relate_one()) found = true;
        }
        for (auto const& [symbol, e] : known_)
            if (!numbers_.contains(symbol)) p_.relations.emplace(symbol, e);
        write_pins();
        set_states();
    }

private:
    /// The condition of a guard in terms of the program's symbols.
    [[nodiscard]] expression symbolic(expression const& condition) const {
        expressions_of_symbols sizes;
        for (auto const& [name, source] : p_.guard_sources) {
            value const& v = p_.values[source.input];
            extent const e = source.axis < 0 ? v.symbolic.value() : v.sizes.at(static_cast<std::size_t>(source.axis));
            sizes.emplace(name, e.is_number() ? whole(e.number) : p_.expressions[e.expression]);
        }
        return substitute_in_condition(condition, sizes);
    }

    void add_facts(expression condition, std::size_t guard) {
        if (condition.kind == expression_kind::all_of) {
            for (expression& each : condition.operands) add_facts(std::move(each), guard);
            return;
        }
        if (!is_python(condition)) return;
        fact made{std::move(condition), guard, {}};
        collect_symbols(made.condition, made.symbols);
        if (!made.symbols.empty()) facts_.push_back(std::move(made));
    }

    /// Sets the domains to the ranges that the module accepts: it ignores lower bounds up to 2, so that sizes 0 and 1 are accepted.
    void collect_domains() {
        for (input const& in : p_.inputs) {
            if (in.kind != input_kind::user || in.value == no_value) continue;
            value const& v = p_.values[in.value];
            for (extent const& e : v.sizes)
                if (!e.is_number()) collect_symbols(p_.expressions[e.expression], of_inputs_);
            if (v.symbolic && !v.symbolic->is_number())
                collect_symbols(p_.expressions[v.symbolic->expression], of_inputs_);
        }
        std::erase_if(of_inputs_, [&](std::string const& symbol) {
            auto const found = p_.ranges.find(symbol);
            return found != p_.ranges.end() && (found->second.min > max_size || found->second.max < -max_size);
        });
        for (std::string const& symbol : of_inputs_) {
            auto const found = p_.ranges.find(symbol);
            symbol_range const range = found == p_.ranges.end() ? symbol_range{0} : found->second;
            std::int64_t const low = range.min > 2 || range.min < 0 || range.min == range.max ? range.min : 0;
            domains_[symbol] = {std::clamp(low, -max_size, max_size), std::clamp(range.max, -max_size, max_size)};
        }
    }

    [[nodiscard]] bool pin_one() {
        for (std::string const& symbol : of_inputs_) {
            if (known_.contains(symbol)) continue;
            std::vector<fact const*> own;
            for (fact const& f : facts_)
                if (f.symbols.size() == 1 && f.symbols.contains(symbol)) own.push_back(&f);
            integer_range const domain = domains_[symbol];
            std::optional<std::int64_t> const number = only_number(symbol, domain, own);
            if (!number) continue;
            pin(symbol, *number, reason(symbol, domain, own));
            return true;
        }
        return false;
    }

    /// The only number that satisfies all of these facts; nullopt if there are several, or if it cannot be determined.
    std::optional<std::int64_t> only_number(std::string const& symbol, integer_range domain,
                                            std::vector<fact const*> const& own) {
        if (own.empty() && domain.low != domain.high) return std::nullopt;
        std::optional<std::int64_t> found;
        std::vector<integer_range> left{domain};
        for (int ranges = 0; !left.empty(); ++ranges) {
            if (ranges == max_ranges || evaluations_ > max_evaluations) return std::nullopt;
            integer_range const r = left.back();
            left.pop_back();
            truth const t = r.low == r.high ? exactly(symbol, r.low, own) : certain(symbol, r, own);
            if (t == truth::no) continue;
            if (r.low == r.high) {
                if (found) return std::nullopt;
                found = r.low;
                continue;
            }
            if (t == truth::yes) return std::nullopt;
            std::int64_t const middle = r.low + (r.high - r.low) / 2;
            left.push_back({middle + 1, r.high});
            left.push_back({r.low, middle});
        }
        if (found) return found;
        throw error(p_.file + ": no size satisfies the guards of the program: " + texts(own));
    }

    truth certain(std::string const& symbol, integer_range r, std::vector<fact const*> const& own) {
        ranges_of_symbols const ranges{{symbol, r}};
        truth out = truth::yes;
        for (fact const* f : own) {
            ++evaluations_;
            truth const t = holds(f->condition, ranges);
            if (t == truth::no) return t;
            if (t == truth::unknown) out = t;
        }
        return out;
    }

    truth exactly(std::string const& symbol, std::int64_t number, std::vector<fact const*> const& own) {
        for (fact const* f : own) {
            ++evaluations_;
            std::optional<scalar> const v = python_value(f->condition, {{symbol, number}});
            if (!v || !v->to<bool>()) return truth::no;
        }
        return truth::yes;
    }

    /// Names a guard that suffices to determine the symbol, otherwise all guards.
    std::string reason(std::string const& symbol, integer_range domain, std::vector<fact const*> const& own) {
        if (domain.low == domain.high) return "the program's range of the dimension has only this number";
        for (fact const* f : own) {
            try {
                if (only_number(symbol, domain, {f})) return "the program was recorded with the guard " + texts({f});
            } catch (error const&) { // this guard does not suffice
            }
        }
        return "the program was recorded with the guards " + texts(own);
    }

    [[nodiscard]] std::string texts(std::vector<fact const*> const& of) const {
        constexpr std::size_t max_length = 200;
        std::string out;
        names seen;
        for (fact const* f : of) {
            std::string text = f->guard < p_.guards.size() ? p_.guards[f->guard].text : to_string(f->condition);
            if (!seen.insert(text).second) continue;
            if (out.size() + text.size() > max_length)
                return out.empty() ? text.substr(0, max_length) + "..." : out + ", ...";
            (out += out.empty() ? "" : ", ") += text;
        }
        for (char& c : out)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
        return out;
    }

    void pin(std::string const& symbol, std::int64_t number, std::string why) {
        numbers_[symbol] = {number, std::move(why)};
        define(symbol, whole(number));
    }

    void define(std::string const& symbol, expression const& is) {
        known_.insert_or_assign(symbol, is);
        expressions_of_symbols const one{{symbol, is}};
        std::vector<fact> old;
        old.swap(facts_);
        for (fact& f : old) {
            if (f.symbols.contains(symbol)) add_facts(substitute_in_condition(f.condition, one), f.guard);
            else facts_.push_back(std::move(f));
        }
        for (auto& [other, e] : known_)
            if (mentions(e, symbol)) {
                e = substitute_in_condition(e, one);
                if (e.kind == expression_kind::integer && !numbers_.contains(other)) {
                    std::string why = numbers_.contains(symbol) ? numbers_[symbol].why : std::string();
                    numbers_[other] = {e.number, std::move(why)};
                }
            }
    }

    [[nodiscard]] bool relate_one() {
        for (fact const& f : facts_) {
            if (f.condition.kind != expression_kind::equal || f.condition.operands.size() != 2) continue;
            std::optional<linear_sum> sum =
                linear(relation(expression_kind::add, f.condition.operands[0], minus(f.condition.operands[1])));
            if (!sum || sum->terms.size() < 2) continue;
            without_divisions(*sum);
            for (auto in = p_.inputs.rbegin(); in != p_.inputs.rend(); ++in)
                if (in->kind == input_kind::user && in->value != no_value && relate(*sum, symbols_of(in->value)))
                    return true;
        }
        return false;
    }

    static expression minus(expression e) { return {expression_kind::mul, 0, 0, {}, {whole(-1), std::move(e)}}; }

    /// If a guard states y % 2 == 0, multiplies a sum with y // 2 by 2 to get rid of the division.
    void without_divisions(linear_sum& sum) const {
        for (std::size_t i = 0; i != sum.terms.size(); ++i) {
            expression const& e = sum.terms[i].atom;
            if (e.kind != expression_kind::floor_div || e.operands.size() != 2 ||
                e.operands[0].kind != expression_kind::symbol || e.operands[1].kind != expression_kind::integer ||
                e.operands[1].number < 2 || e.operands[1].number > 1 << 20)
                continue;
            expression const none = relation(expression_kind::mod, e.operands[0], e.operands[1]);
            if (std::none_of(facts_.begin(), facts_.end(), [&](fact const& f) {
                    return f.condition == relation(expression_kind::equal, none, whole(0));
                }))
                continue;
            linear_sum scaled;
            bool fits = !__builtin_mul_overflow(sum.number, e.operands[1].number, &scaled.number);
            for (std::size_t k = 0; k != sum.terms.size() && fits; ++k) {
                std::int64_t factor = sum.terms[k].factor;
                fits = (k == i || !__builtin_mul_overflow(factor, e.operands[1].number, &factor)) &&
                       scaled.add(k == i ? e.operands[0] : sum.terms[k].atom, factor);
            }
            if (fits) sum = std::move(scaled);
            return;
        }
    }

    [[nodiscard]] std::vector<std::string> symbols_of(value_index v) const {
        std::vector<std::string> out;
        auto const add = [&](extent const& e) {
            if (!e.is_number() && p_.expressions[e.expression].kind == expression_kind::symbol)
                out.push_back(p_.expressions[e.expression].symbol);
        };
        for (extent const& e : p_.values[v].sizes) add(e);
        if (p_.values[v].symbolic) add(*p_.values[v].symbolic);
        return out;
    }

    /// Solves the equation sum == 0 for one of the candidates, if it occurs only as a term with the factor 1 or -1.
    bool relate(linear_sum const& sum, std::vector<std::string> const& candidates) {
        for (std::string const& symbol : candidates) {
            linear_sum rest;
            rest.number = sum.number;
            std::int64_t own = 0;
            bool elsewhere = false;
            for (linear_sum::term const& t : sum.terms) {
                if (t.atom.kind == expression_kind::symbol && t.atom.symbol == symbol) own = t.factor;
                else if (mentions(t.atom, symbol)) elsewhere = true;
                else rest.terms.push_back(t);
            }
            if (elsewhere || (own != 1 && own != -1) || known_.contains(symbol)) continue;
            constexpr std::int64_t limit = std::int64_t{1} << 40; // factors of real sizes are small
            auto const small = [](std::int64_t n) { return n > -limit && n < limit; };
            if (!small(rest.number) ||
                !std::all_of(rest.terms.begin(), rest.terms.end(), [&](auto const& t) { return small(t.factor); }))
                continue;
            rest.number *= -own;
            for (linear_sum::term& t : rest.terms) t.factor *= -own;
            expression const is = to_expression(rest);
            integer_range const domain = domains_[symbol];
            define(symbol, is);
            if (domain.low > 0)
                add_facts(relation(expression_kind::greater_equal, is, whole(domain.low)), p_.guards.size());
            if (domain.high < max_size)
                add_facts(relation(expression_kind::less_equal, is, whole(domain.high)), p_.guards.size());
            return true;
        }
        return false;
    }

    /// Replaces symbols with a single value everywhere. For an input that is a number, adds a guard with its value.
    void write_pins() {
        if (numbers_.empty()) return;
        expressions_of_symbols numbers;
        for (auto const& [symbol, pinned] : numbers_) numbers.emplace(symbol, whole(pinned.number));
        std::vector<expression> const before = p_.expressions;
        for (expression& e : p_.expressions) e = substitute(e, numbers);
        for (input const& in : p_.inputs) {
            if (in.kind != input_kind::user || in.value == no_value) continue;
            value const& v = p_.values[in.value];
            for (std::size_t axis = 0; axis != v.sizes.size(); ++axis)
                if (auto const n = number_now(v.sizes[axis]))
                    p_.pinned.push_back(
                        {in.target, static_cast<std::int64_t>(axis), *n, why(before[v.sizes[axis].expression])});
            if (v.symbolic)
                if (auto const n = number_now(*v.symbolic)) add_number_guard(in, *n);
        }
        for (value& v : p_.values) {
            for (extent& e : v.sizes) write(e);
            for (extent& e : v.strides) write(e);
            if (v.symbolic) write(*v.symbolic);
        }
    }

    [[nodiscard]] std::optional<std::int64_t> number_now(extent const& e) const {
        if (e.is_number() || p_.expressions[e.expression].kind != expression_kind::integer) return std::nullopt;
        return p_.expressions[e.expression].number;
    }
    void write(extent& e) const {
        if (auto const n = number_now(e)) e = {*n, extent::none};
    }
    [[nodiscard]] std::string why(expression const& was) const {
        names symbols;
        collect_symbols(was, symbols);
        for (std::string const& each : symbols)
            if (auto const found = numbers_.find(each); found != numbers_.end() && !found->second.why.empty())
                return found->second.why;
        return "the program was recorded with this size";
    }
    void add_number_guard(input const& in, std::int64_t n) {
        std::string name = in.target;
        while (!p_.guard_sources.try_emplace(name, guard_source{in.value, -1}).second &&
               (p_.guard_sources[name].input != in.value || p_.guard_sources[name].axis >= 0))
            name += '\'';
        guard made;
        made.text = "L['" + in.target + "'] == " + std::to_string(n);
        made.condition = relation(expression_kind::equal, named(name), whole(n));
        made.state = guard_state::frozen;
        own_guards_.push_back(std::move(made));
    }

    /// Converts a condition with floats on a single number to integer ranges of that number, which are exact; nullopt if there are too many.
    std::optional<expression> in_integers(expression const& condition) {
        names symbols;
        collect_symbols(condition, symbols);
        if (symbols.size() != 1 || !has_float(condition) || !is_python(condition)) return std::nullopt;
        std::string const& symbol = *symbols.begin();
        fact const own{condition, p_.guards.size(), symbols};
        integer_range const domain{p_.guard_sources.at(symbol).axis < 0 ? -max_size : 0, max_size};
        std::vector<integer_range> accepted;
        std::vector<integer_range> left{domain};
        for (int ranges = 0; !left.empty(); ++ranges) {
            if (ranges == max_ranges || evaluations_ > max_evaluations) return std::nullopt;
            integer_range const r = left.back();
            left.pop_back();
            truth const t = r.low == r.high ? exactly(symbol, r.low, {&own}) : certain(symbol, r, {&own});
            if (t == truth::unknown) {
                std::int64_t const middle = r.low + (r.high - r.low) / 2;
                left.push_back({middle + 1, r.high});
                left.push_back({r.low, middle});
            } else if (t == truth::yes) {
                if (!accepted.empty() && accepted.back().high + 1 == r.low) accepted.back().high = r.high;
                else accepted.push_back(r);
                if (accepted.size() > 4) return std::nullopt;
            }
        }
        expression out;
        out.kind = expression_kind::any_of;
        for (integer_range const& r : accepted) {
            expression both;
            both.kind = expression_kind::all_of;
            if (r.low == r.high) both.operands.push_back(relation(expression_kind::equal, named(symbol), whole(r.low)));
            if (r.low != r.high && r.low != domain.low)
                both.operands.push_back(relation(expression_kind::greater_equal, named(symbol), whole(r.low)));
            if (r.low != r.high && r.high != domain.high)
                both.operands.push_back(relation(expression_kind::less_equal, named(symbol), whole(r.high)));
            if (both.operands.empty()) return std::nullopt;
            out.operands.push_back(both.operands.size() == 1 ? both.operands[0] : both);
        }
        if (out.operands.empty()) return std::nullopt;
        return out.operands.size() == 1 ? out.operands[0] : out;
    }

    /// Sets the state of every guard. Runtimes check inputs only against static sizes.
    void set_states() {
        expressions_of_symbols fixed;
        ranges_of_symbols free;
        for (auto const& [name, source] : p_.guard_sources) {
            value const& v = p_.values[source.input];
            if (source.axis >= 0 && v.sizes[static_cast<std::size_t>(source.axis)].is_number())
                fixed.emplace(name, whole(v.sizes[static_cast<std::size_t>(source.axis)].number));
            else free.emplace(name, integer_range{source.axis < 0 ? -max_size : 0, max_size});
        }
        for (guard& g : p_.guards) {
            if (!g.condition) continue;
            expression const now = substitute_in_condition(*g.condition, fixed);
            std::optional<scalar> const value = is_python(now) ? python_value(now, {}) : std::nullopt;
            if (value ? value->to<bool>() : holds(now, free) == truth::yes) {
                g.state = guard_state::kept;
                continue;
            }
            if (freezes_number(now) && !divides_in_view(symbolic(*g.condition))) g.state = guard_state::frozen;
            if (auto exact = in_integers(now)) g.condition = std::move(exact);
        }
        for (guard& g : own_guards_) p_.guards.push_back(std::move(g));
    }

    /// Whether a guard such as size % 2 == 0 comes from a view that splits a dimension; the view itself fails if the guard does not hold.
    [[nodiscard]] bool divides_in_view(expression const& e) const {
        if (e.kind != expression_kind::equal || e.operands.size() != 2) return false;
        expression const& rest = e.operands[0];
        if (rest.kind != expression_kind::mod || rest.operands.size() != 2 || e.operands[1] != whole(0)) return false;
        auto const text_of = [](expression const& size) { return to_string(substitute_in_condition(size, {})); };
        std::string const part = text_of(relation(expression_kind::floor_div, rest.operands[0], rest.operands[1]));
        constexpr std::array<std::string_view, 6> views{"aten::view",
                                                        "aten::reshape",
                                                        "aten::_unsafe_view",
                                                        "aten::unflatten.int",
                                                        "aten::view_copy",
                                                        "aten::_reshape_copy"};
        for (node const& n : p_.main.nodes) {
            if (std::find(views.begin(), views.end(), n.op) == views.end()) continue;
            for (value_index v : result_values(n))
                if (v != no_value)
                    for (extent const& size : p_.values[v].sizes)
                        if (!size.is_number() && text_of(p_.expressions[size.expression]) == part) return true;
        }
        return false;
    }

    struct pinned_symbol {
        std::int64_t number = 0;
        std::string why;
    };

    program& p_;
    std::vector<fact> facts_;
    names of_inputs_;
    ranges_of_symbols domains_;
    expressions_of_symbols known_; ///< numbers, and expressions of unknown symbols
    std::map<std::string, pinned_symbol, std::less<>> numbers_;
    std::vector<guard> own_guards_;
    int evaluations_ = 0;
};

} // namespace

void obey_guards(program& p) { solver(p).run(); }

} // namespace ATON_NAMESPACE::program

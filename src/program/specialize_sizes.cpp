// SPDX-License-Identifier: MIT
// Solves guards as equations over sizes: finds symbols with a single possible value or that others determine, and the state of each guard.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/program/program.hpp>

#include "guard_facts.hpp"
#include "guard_states.hpp"
#include "integer_search.hpp"
#include "intervals.hpp"
#include "linear.hpp"
#include "python_value.hpp"
#include "solve_equation.hpp"

namespace ATON_NAMESPACE::program {

namespace {

class solver {
public:
    explicit solver(program& p) : p_(p) {}

    void run() {
        for (std::size_t i = 0; i != p_.guards.size(); ++i)
            if (p_.guards[i].condition) add_facts(in_symbols(p_, *p_.guards[i].condition), i);
        collect_domains();
        for (bool found = true; found;) {
            found = pin_one();
            while (relate_one()) found = true;
        }
        for (auto const& [symbol, e] : known_)
            if (!numbers_.contains(symbol)) p_.relations.emplace(symbol, e);
        write_pins();
        set_guard_states(p_, search_);
        for (guard& g : own_guards_) p_.guards.push_back(std::move(g));
    }

private:
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
            integer_search::outcome const found = search_.only_number(symbol, domain, own);
            if (found.count == integer_search::count::none)
                throw error(p_.file + ": no size satisfies the guards of the program: " + texts(own));
            if (found.count != integer_search::count::one) continue;
            pin(symbol, found.number, reason(symbol, domain, own));
            return true;
        }
        return false;
    }

    /// Names a guard that suffices to determine the symbol, otherwise all guards.
    std::string reason(std::string const& symbol, integer_range domain, std::vector<fact const*> const& own) {
        if (domain.low == domain.high) return "the program's range of the dimension has only this number";
        for (fact const* f : own)
            if (search_.only_number(symbol, domain, {f}).count == integer_search::count::one)
                return "the program was recorded with the guard " + texts({f});
        return "the program was recorded with the guards " + texts(own);
    }

    [[nodiscard]] std::string texts(std::vector<fact const*> const& of) const {
        constexpr std::size_t max_length = 200;
        std::string out;
        symbol_names seen;
        for (fact const* f : of) {
            std::string text = f->guard < p_.guards.size() ? p_.guards[f->guard].text : to_string(f->condition);
            if (!seen.insert(text).second) continue;
            if (out.size() + text.size() > max_length)
                return out.empty() ? text.substr(0, max_length) + "..." : out + ", ...";
            (out += out.empty() ? "" : ", ") += text;
        }
        return clipped(std::move(out), std::string::npos);
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
        auto const solved =
            solve_equation(p_, facts_, [&](std::string const& symbol) { return known_.contains(symbol); });
        if (!solved) return false;
        integer_range const domain = domains_[solved->symbol];
        define(solved->symbol, solved->is);
        if (domain.low > 0)
            add_facts(relation(expression_kind::greater_equal, solved->is, whole(domain.low)), p_.guards.size());
        if (domain.high < max_size)
            add_facts(relation(expression_kind::less_equal, solved->is, whole(domain.high)), p_.guards.size());
        return true;
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
        symbol_names symbols;
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

    struct pinned_symbol {
        std::int64_t number = 0;
        std::string why;
    };

    program& p_;
    std::vector<fact> facts_;
    symbol_names of_inputs_;
    ranges_of_symbols domains_;
    expressions_of_symbols known_; ///< numbers, and expressions of unknown symbols
    std::map<std::string, pinned_symbol, std::less<>> numbers_;
    std::vector<guard> own_guards_;
    integer_search search_;
};

} // namespace

void specialize_sizes(program& p) { solver(p).run(); }

} // namespace ATON_NAMESPACE::program

// SPDX-License-Identifier: MIT
// Evaluates the conditions that ATen requires of a call.
#include <aton/mappings/requirements.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "requirement_rows.hpp"
#include "requirement_values.hpp"

namespace ATON_NAMESPACE::mappings {

namespace {

using form = quantity::form;

/// Reads and evaluates conditions.
class reader {
public:
    reader(std::string_view text, named_arguments const& given) : text_(text), call_(given) {}

    /// Throws unsupported_error for the first condition that does not hold.
    void run(std::string_view overload) {
        while (skip_space(), at_ != text_.size()) {
            std::size_t const start = at_;
            bool holds = false;
            do {
                holds = comparison() != truth::no || holds;
            } while (word("or"));
            std::string_view const condition = text_.substr(start, at_ - start);
            if (!holds) throw unsupported_error(overload, "requires " + trimmed(condition) + sides_);
            if (!take(';') && at_ != text_.size()) malformed("a semicolon");
        }
    }

private:
    [[noreturn]] void malformed(std::string const& wanted) const {
        throw std::logic_error("'" + std::string(text_) + "', at " + std::to_string(at_) + ": no " + wanted);
    }
    static std::string trimmed(std::string_view s) {
        while (s.ends_with(' ')) s.remove_suffix(1);
        return std::string(s);
    }
    void skip_space() {
        while (at_ != text_.size() && text_[at_] == ' ') ++at_;
    }
    bool take(std::string_view what) {
        skip_space();
        if (!text_.substr(at_).starts_with(what)) return false;
        at_ += what.size();
        return true;
    }
    bool take(char c) { return take(std::string_view(&c, 1)); }
    void expect(char c) {
        if (!take(c)) malformed(std::string("'") + c + "'");
    }
    static bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
    std::string_view name() {
        skip_space();
        std::size_t const start = at_;
        while (at_ != text_.size() && is_letter(text_[at_])) ++at_;
        if (at_ == start) malformed("name");
        return text_.substr(start, at_ - start);
    }
    bool word(std::string_view what) {
        std::size_t const before = at_;
        if (take(what) && (at_ == text_.size() || !is_letter(text_[at_]))) return true;
        at_ = before;
        return false;
    }

    truth comparison() {
        if (std::optional<truth> const known = predicate()) {
            sides_.clear();
            return *known;
        }
        quantity const a = term();
        if (word("in")) return in(a);
        if (word("is")) return shown(is_of_kind(a, name()), a);
        for (std::string_view const op : {"=", "!=", "<=", ">=", "<", ">"}) {
            if (!take(op)) continue;
            quantity const b = term();
            truth const out = compared(op, a, b);
            if (out == truth::no) sides_ = ", but they are " + to_text(a) + " and " + to_text(b);
            return out;
        }
        malformed("comparison");
    }

    /// Reads a predicate; reads nothing if there is none.
    std::optional<truth> predicate() {
        std::size_t const before = at_;
        for (std::string_view const what : {"distinct", "same", "expands", "within"}) {
            if (!word(what) || !take('(')) {
                at_ = before;
                continue;
            }
            std::vector<quantity> const x = operands();
            std::optional<truth> const out = call_predicate(what, x);
            if (!out) malformed_call(what, x.size());
            return out;
        }
        return {};
    }

    /// Notes what `a` is, for the message, where the comparison does not hold.
    truth shown(truth out, quantity const& a) {
        if (out == truth::no) sides_ = ", which is " + to_text(a);
        return out;
    }

    truth in(quantity const& a) {
        skip_space();
        if (text_.substr(at_).starts_with('\'')) {
            bool found = false;
            while (skip_space(), text_.substr(at_).starts_with('\'')) found = term().text == a.text || found;
            return shown(a.is != form::text ? truth::unknown : found ? truth::yes : truth::no, a);
        }
        quantity const low = term();
        if (!take("..")) malformed("'..'");
        quantity const high = term();
        truth const above = compared(">=", a, low);
        truth const below = compared("<=", a, high);
        bool const fails = above == truth::no || below == truth::no;
        return shown(fails ? truth::no : above == truth::yes ? below : above, a);
    }

    quantity term() {
        quantity out = product_term();
        for (;;) {
            char const op = take('+') ? '+' : take('-') ? '-' : ' ';
            if (op == ' ') return out;
            out = computed(op, out, product_term());
        }
    }
    quantity product_term() {
        quantity out = factor();
        for (;;) {
            char const op = take('*') ? '*' : take('/') ? '/' : take('%') ? '%' : ' ';
            if (op == ' ') return out;
            out = computed(op, out, factor());
        }
    }

    quantity factor() {
        skip_space();
        if (take('(')) {
            quantity out = term();
            expect(')');
            return out;
        }
        if (take('-')) return computed('-', number_quantity(0), factor());
        if (take('[')) {
            quantity out = list_quantity({});
            do {
                quantity const each = term();
                out.elements.push_back(each.is == form::number ? each.elements[0] : std::nullopt);
            } while (take(','));
            expect(']');
            return out;
        }
        if (take('\'')) {
            std::size_t const end = std::min(text_.find('\'', at_), text_.size());
            quantity out{form::text, {}, std::string(text_.substr(at_, end - at_))};
            at_ = end;
            expect('\'');
            return out;
        }
        if (at_ != text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return literal();
        std::string_view const what = name();
        return take('(') ? function(what) : value_of(argument_named(what));
    }

    quantity literal() {
        std::size_t const start = at_;
        auto const digits = [&] {
            while (at_ != text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
        };
        digits();
        if (text_.substr(at_).starts_with('.') && !text_.substr(at_).starts_with("..")) {
            ++at_;
            digits();
        }
        return number_quantity(std::stod(std::string(text_.substr(start, at_ - start))));
    }

    [[nodiscard]] dsl::argument const& argument_named(std::string_view what) const {
        dsl::argument const* const a = call_.find(what);
        if (a == nullptr)
            throw std::logic_error("'" + std::string(text_) + "': no argument '" + std::string(what) + "'");
        return *a;
    }

    /// The operands of a call, after the opening parenthesis.
    std::vector<quantity> operands() {
        std::vector<quantity> out;
        do out.push_back(term());
        while (take(','));
        expect(')');
        return out;
    }
    [[noreturn]] void malformed_call(std::string_view what, std::size_t operands) const {
        malformed("function " + std::string(what) + " of " + std::to_string(operands) + " operands");
    }

    quantity function(std::string_view what) {
        if (what == "rank" || what == "shape" || what == "type" || what == "size") {
            dsl::argument const& a = argument_named(name());
            quantity out = what == "rank" ? rank_of(a) : what == "type" ? types_of(a) : shape_of(a);
            if (what == "size") {
                expect(',');
                out = size_of(a, term());
            }
            expect(')');
            return out;
        }
        std::vector<quantity> const x = operands();
        std::optional<quantity> out = call_function(what, x);
        if (!out) malformed_call(what, x.size());
        return *std::move(out);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    named_arguments const& call_;
    std::string sides_; ///< of the last comparison, for the message
};

/// The texts that apply to each operator and overload that the table names.
std::map<std::string_view, std::vector<std::string_view>> const& texts_by_name() {
    static std::map<std::string_view, std::vector<std::string_view>> const all = [] {
        std::map<std::string_view, std::vector<std::string_view>> out;
        for (requirement const& r : aten_requirements())
            for (std::string_view rest = r.operators; !rest.empty();) {
                std::size_t const end = std::min(rest.find(' '), rest.size());
                out[rest.substr(0, end)].push_back(r.text);
                rest.remove_prefix(std::min(end + 1, rest.size()));
            }
        return out;
    }();
    return all;
}

} // namespace

void check_conditions(std::string_view text, std::string_view overload, std::string_view schema,
                      safe_span<dsl::argument const> arguments) {
    named_arguments const given(schema, arguments);
    reader(text, given).run(overload);
}

void check_requirements(std::string_view overload, std::string_view schema, safe_span<dsl::argument const> arguments) {
    constexpr std::string_view prefix = "aten::";
    if (!overload.starts_with(prefix)) return;
    std::string_view const whole = overload.substr(prefix.size());
    std::optional<named_arguments> given;
    auto const check = [&](std::string_view name) { // an operator, or an overload
        auto const at = texts_by_name().find(name);
        if (at == texts_by_name().end()) return;
        if (!given) given.emplace(schema, arguments);
        for (std::string_view const text : at->second) reader(text, *given).run(overload);
    };
    check(whole);
    std::size_t const dot = whole.find('.');
    check(dot == std::string_view::npos ? std::string(whole) + '.' : std::string(whole.substr(0, dot)));
}

} // namespace ATON_NAMESPACE::mappings

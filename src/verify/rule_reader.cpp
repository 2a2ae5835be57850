// SPDX-License-Identifier: MIT
// A tokenizer and evaluator for sampling rules.
#include "rule_reader.hpp"

#include <cctype>
#include <cstdlib>
#include <vector>

namespace ATON_NAMESPACE::verify {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '\''; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// What the rule says about an argument.
std::string_view said_about(std::string_view rule, std::string_view argument) {
    while (!rule.empty()) {
        std::size_t const end = rule.find(';');
        std::size_t close = end; // a list contains a semicolon
        if (std::size_t const open = rule.find('['); open < end) {
            close = rule.find(']', open);
            close = close == std::string_view::npos ? close : rule.find(';', close);
        }
        std::string_view const part = rule.substr(0, close);
        std::size_t const colon = part.find(':');
        if (colon != std::string_view::npos && trimmed(part.substr(0, colon)) == argument)
            return trimmed(part.substr(colon + 1));
        rule = close == std::string_view::npos ? std::string_view() : rule.substr(close + 1);
    }
    return {};
}

constexpr std::string_view before_reason = " because ";

} // namespace

std::string_view part_of_rule(std::string_view rule, std::string_view argument) {
    std::string_view const said = said_about(rule, argument);
    std::string_view const values = trimmed(said.substr(0, said.find(before_reason)));
    return values == "any" ? std::string_view() : values;
}

std::string_view reason_of_rule(std::string_view rule, std::string_view argument) {
    std::string_view const said = said_about(rule, argument);
    std::size_t const at = said.find(before_reason);
    return at == std::string_view::npos ? std::string_view() : trimmed(said.substr(at + before_reason.size()));
}

std::string_view alternative_of_rule(std::string_view rule, std::uint64_t chosen) {
    constexpr std::string_view separator = "; or; ";
    std::vector<std::string_view> all;
    for (std::size_t end = rule.find(separator); end != std::string_view::npos; end = rule.find(separator)) {
        all.push_back(rule.substr(0, end));
        rule.remove_prefix(end + separator.size());
    }
    all.push_back(rule);
    return all[chosen % all.size()];
}

void rule_reader::skip() {
    while (at_ != text_.size() && text_[at_] == ' ') ++at_;
}

bool rule_reader::next_is(std::string_view what) {
    skip();
    if (text_.substr(at_, what.size()) != what) return false;
    std::size_t const after = at_ + what.size();
    return !is_letter(what.front()) || after == text_.size() || !is_word(text_[after]);
}

bool rule_reader::take(std::string_view what) {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
}

void rule_reader::expect(std::string_view what) {
    if (!take(what)) refuse("expected '" + std::string(what) + "'");
}

std::string_view rule_reader::word() {
    skip();
    std::size_t const start = at_;
    if (at_ != text_.size() && is_letter(text_[at_]))
        while (at_ != text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
}

std::int64_t rule_reader::expression() {
    std::int64_t sum = product();
    for (;;) {
        if (take("+")) sum += product();
        else if (!next_is("-") || !take("-")) return sum;
        else sum -= product();
    }
}

std::int64_t rule_reader::product() {
    std::int64_t out = factor();
    for (;;) {
        if (take("*")) out *= factor();
        else if (take("/")) {
            std::int64_t const by = factor();
            if (by == 0) refuse("division by 0");
            out /= by;
        } else return out;
    }
}

std::int64_t rule_reader::factor() {
    if (take("-")) return -factor();
    if (take("(")) {
        std::int64_t const inner = expression();
        expect(")");
        return inner;
    }
    skip();
    if (at_ != text_.size() && is_digit(text_[at_])) {
        std::int64_t out = 0;
        while (at_ != text_.size() && is_digit(text_[at_]) && out < 1000000) out = 10 * out + (text_[at_++] - '0');
        return out;
    }
    std::string_view const name = word();
    if (name.empty()) refuse("expected a size");
    return size_of_(name);
}

double rule_reader::bound(bool& is_real) {
    skip();
    std::size_t const sign = at_ != text_.size() && text_[at_] == '-' ? 1 : 0;
    std::size_t end = at_ + sign;
    while (end != text_.size() && is_digit(text_[end])) ++end;
    bool const point = end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1]);
    if (!point) return static_cast<double>(expression());
    for (++end; end != text_.size() &&
                (is_digit(text_[end]) || text_[end] == 'e' || (text_[end] == '-' && text_[end - 1] == 'e'));)
        ++end;
    double const out = std::strtod(std::string(text_.substr(at_, end - at_)).c_str(), nullptr);
    at_ = end;
    is_real = true;
    return out;
}

std::string rule_reader::quoted() {
    expect("'");
    std::size_t const end = text_.find('\'', at_);
    if (end == std::string_view::npos) refuse("unterminated string");
    std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
}

dtype rule_reader::type_named(std::string_view name, dtype own) const {
    dtype const t = name == "own" ? own : name == "bool" ? dtype::bool_ : dtype_from_name(name);
    if (t == dtype::undefined) refuse("'" + std::string(name) + "' is not a dtype");
    return t;
}

} // namespace ATON_NAMESPACE::verify

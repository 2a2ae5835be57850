// SPDX-License-Identifier: MIT
#include "target_table.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/targets/conditions.hpp>

#include "words.hpp"

namespace ATON_NAMESPACE::targets {

namespace {

std::string_view trimmed(std::string_view text) {
    std::size_t const first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Removes the text before a separator from `text`, and the separator.
std::string_view take(std::string_view& text, char separator) {
    std::size_t const end = std::min(text.find(separator), text.size());
    std::string_view const part = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

class table_reader {
public:
    explicit table_reader(std::function<target const&(std::string_view)> const& base) : base_(base) {}

    target_table read(std::string_view text) {
        while (!text.empty()) {
            std::size_t const end = std::min(text.find('\n'), text.size());
            ++number_;
            line(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        target& made = out_.made;
        if (made.name.empty() || made.version.empty() || made.title.empty() || made.source.empty() || made.date.empty())
            refuse("a table needs runtime, version, title, source and date");
        made.operators = out_.operators;
        out_.about = "the operators and types that " + std::string(made.title) + " states, at opsets " +
                     std::to_string(made.since) + " to " + std::to_string(made.until);
        return std::move(out_);
    }

private:
    [[noreturn]] void refuse(std::string const& what) const {
        throw error("line " + std::to_string(number_) + ": " + what);
    }

    void line(std::string_view text) {
        if (trimmed(text).empty() || text.front() == '#') return;
        if (text.find('|') != std::string_view::npos) return row(text);
        std::string_view rest = text;
        std::string_view const key = take(rest, ' ');
        rest = trimmed(rest);
        target& made = out_.made;
        if (rest.empty()) refuse("'" + std::string(key) + "' without a value");
        if (key == "runtime") made.name = rest;
        else if (key == "version") made.version = rest;
        else if (key == "title") made.title = rest;
        else if (key == "source") made.source = rest;
        else if (key == "date") made.date = rest;
        else if (key == "opsets") opsets(rest);
        else if (key == "types") made.types = types(rest);
        else if (key == "typing" && (rest == "strong" || rest == "weak")) made.is_strongly_typed = rest == "strong";
        else if (key == "sizes" && rest == "static") made.is_static = true;
        else if (key == "quantization" && rest == "symmetric") made.is_symmetric = true;
        else if (key == "base") take_base(rest);
        else refuse("'" + std::string(key) + ' ' + std::string(rest) + "' is unknown");
    }

    void take_base(std::string_view version) {
        target const& other = base_(version);
        out_.operators.assign(other.operators.begin(), other.operators.end());
        target& made = out_.made;
        made.types = other.types;
        made.is_strongly_typed = other.is_strongly_typed;
        made.is_static = other.is_static;
        made.is_symmetric = other.is_symmetric;
    }

    int number(std::string_view text) const {
        int out = 0;
        if (!read_number(text, out)) refuse("opsets are FIRST..LAST");
        return out;
    }
    void opsets(std::string_view text) {
        std::size_t const dots = text.find("..");
        if (dots == std::string_view::npos) refuse("opsets are FIRST..LAST");
        out_.made.since = number(text.substr(0, dots));
        out_.made.until = number(text.substr(dots + 2));
    }

    type_set types(std::string_view text) const {
        type_set all;
        while (!text.empty()) {
            std::string_view const word = take(text, ' ');
            dtype const type = dtype_from_name(word);
            if (type == dtype::undefined) refuse("'" + std::string(word) + "' is not a dtype");
            all = all | tensors(type);
        }
        return all;
    }

    void row(std::string_view text) {
        operator_support to;
        to.op = take(text, '|');
        std::string_view const types_text = take(text, '|');
        std::string_view const when = take(text, '|');
        to.line = trimmed(text);
        if (to.op.empty() || types_text.empty() || to.line.empty())
            refuse("a row has an operator, types, conditions and a source");
        to.is_excluded = types_text == "none";
        if (!to.is_excluded && types_text != "any") to.types = types(types_text);
        if (!when.empty()) to.when = out_.conditions.emplace_back(conditions(when));
        auto const same = [&](operator_support const& o) { return o.op == to.op; };
        auto const at = std::find_if(out_.operators.begin(), out_.operators.end(), same);
        if (at == out_.operators.end()) out_.operators.push_back(to);
        else *at = to;
    }

    std::vector<node_condition> conditions(std::string_view text) const {
        std::vector<node_condition> all;
        while (!text.empty()) {
            std::string_view words = take(text, ';');
            std::string const whole(words);
            node_condition& c = all.emplace_back();
            c.part = take(words, ' ');
            if (c.part != "branches" && c.part != "loop" && c.part != "schema") c.name = take(words, ' ');
            c.test = take(words, ' ');
            c.values = trimmed(words);
            if (!is_known(c)) refuse("'" + whole + "' is not a condition");
        }
        return all;
    }

    std::function<target const&(std::string_view)> const& base_;
    target_table out_;
    std::size_t number_ = 0;
};

} // namespace

target_table read_target(std::string_view text, std::function<target const&(std::string_view version)> const& base) {
    return table_reader(base).read(text);
}

} // namespace ATON_NAMESPACE::targets

// SPDX-License-Identifier: MIT
// The sampling rules of ATen's operators and of the built-in rewrites, read from the files of rules/ and rewrite_rules/, which are part of
// the library as strings.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/verify/rewrites.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

/// The text of each file. Written by src/CMakeLists.txt.
constexpr std::string_view families[] = {
#include <rules.inc>
};
constexpr std::string_view rewrite_families[] = {
#include <rewrite_rules.inc>
};

constexpr std::size_t argument_indent = 4; ///< what is indented further continues the argument

struct rule_text {
    std::string operators;
    std::string arguments;
};

void append(std::string& text, std::string_view separator, std::string_view more) {
    if (!text.empty()) text += separator;
    text += more;
}

/// Appends the rules of a file: operators on lines that are not indented, then one argument on each indented line.
void read_rules(std::string_view file, std::vector<rule_text>& rules) {
    bool in_operators = false;
    while (!file.empty()) {
        std::size_t const end = std::min(file.find('\n'), file.size());
        std::string_view line = file.substr(0, end);
        file.remove_prefix(std::min(end + 1, file.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        std::size_t const indent = line.find_first_not_of(' ');
        if (indent == std::string_view::npos || line.front() == '#') continue;
        line.remove_prefix(indent);
        if (indent == 0) {
            if (line == "or") throw error("sampling rule: 'or' between two alternatives is indented like an argument");
            if (!in_operators) rules.emplace_back();
            append(rules.back().operators, " ", line);
        } else if (rules.empty()) {
            throw error("sampling rule: '" + std::string(line) + "' comes before any operator");
        } else {
            append(rules.back().arguments, indent == argument_indent ? "; " : " ", line);
        }
        in_operators = indent == 0;
    }
}

/// The rules of several files.
class rule_list {
public:
    explicit rule_list(std::span<std::string_view const> files) {
        for (std::string_view const file : files) read_rules(file, texts_);
        for (rule_text const& each : texts_) rules_.push_back({each.operators, each.arguments});
    }
    [[nodiscard]] std::span<sampling_rule const> rules() const { return rules_; }

private:
    std::vector<rule_text> texts_;
    std::vector<sampling_rule> rules_;
};

} // namespace

std::span<sampling_rule const> aten_sampling_rules() {
    static rule_list const list(families);
    return list.rules();
}

std::span<sampling_rule const> rewrite_sampling_rules() {
    static rule_list const list(rewrite_families);
    return list.rules();
}

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// ONNX operators: strings, computed on the host.
#include "call.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <regex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "letter_case.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// A contiguous tensor of strings.
tensor text(call const& c, std::size_t i) {
    if (!c.in(i).is_strings()) throw error("strings are expected, not " + std::string(name(c.in(i).dtype())));
    return c.in(i).contiguous();
}

results string_concat(call const& c) {
    tensor const x = text(c, 0);
    tensor const y = text(c, 1);
    sizes const to = broadcast(x.sizes(), y.sizes());
    tensor const left = x.expanded(to).contiguous();
    tensor const right = y.expanded(to).contiguous();
    expect_cpu_memory(memory_of(left.strings()) + memory_of(right.strings()));
    std::vector<std::string> out(left.strings().begin(), left.strings().end());
    for (std::size_t i = 0; i != out.size(); ++i) out[i] += right.strings()[i];
    return tensor::of_strings(std::move(out), to);
}

constexpr std::string_view spaces = " \t\n\v\f\r";

/// Splits at runs of spaces into at most `max_parts` + 1 parts; the last one is the rest of the string.
std::vector<std::string> words(std::string_view all, std::size_t max_parts) {
    std::vector<std::string> out;
    std::size_t at = all.find_first_not_of(spaces);
    while (at != std::string_view::npos) {
        std::size_t const end = out.size() == max_parts ? std::string_view::npos : all.find_first_of(spaces, at);
        out.emplace_back(all.substr(at, end - at));
        at = end == std::string_view::npos ? end : all.find_first_not_of(spaces, end);
    }
    if (out.size() > max_parts) // the rest without trailing spaces
        out.back().erase(out.back().find_last_not_of(spaces) + 1);
    return out;
}

std::vector<std::string> parts(std::string_view all, std::string_view delimiter, std::size_t max_parts) {
    std::vector<std::string> out;
    for (;;) {
        std::size_t const end = out.size() == max_parts ? std::string_view::npos : all.find(delimiter);
        out.emplace_back(all.substr(0, end));
        if (end == std::string_view::npos) return out;
        all.remove_prefix(end + delimiter.size());
    }
}

results string_split(call const& c) {
    tensor const x = text(c, 0);
    std::string const delimiter = c.s("delimiter", "");
    std::int64_t const max_split = c.i("maxsplit", -1);
    std::size_t const limit = max_split < 0 ? SIZE_MAX : static_cast<std::size_t>(max_split);
    std::vector<std::vector<std::string>> rows;
    std::size_t longest = 0;
    tensor counts = tensor::empty(dtype::int64, x.sizes());
    for (std::string const& s : x.strings()) {
        counts.data<std::int64_t>()[rows.size()] = 0;
        rows.push_back(delimiter.empty() ? words(s, limit) : parts(s, delimiter, limit));
        counts.data<std::int64_t>()[rows.size() - 1] = static_cast<std::int64_t>(rows.back().size());
        longest = std::max(longest, rows.back().size());
    }
    sizes to = x.sizes();
    to.push_back(static_cast<std::int64_t>(longest));
    tensor const out = tensor::empty(dtype::string, to);
    for (std::size_t i = 0; i != rows.size(); ++i)
        std::ranges::move(rows[i], out.strings().begin() + static_cast<std::ptrdiff_t>(i * longest));
    out.strings_changed();
    return {out, to_device(counts, c.where())};
}

using case_change = std::string (*)(std::string_view);

results string_normalizer(call const& c) {
    tensor const x = text(c, 0);
    if (x.rank() == 0 || x.rank() > 2 || (x.rank() == 2 && x.size(0) != 1))
        throw error("strings of shape [C] or [1, C] are expected, not " + to_string(x.sizes()));
    std::string const action = c.s("case_change_action", "NONE");
    if (action != "NONE" && action != "LOWER" && action != "UPPER")
        throw error("unknown case_change_action '" + action + "'");
    bool const exact = c.i("is_case_sensitive", 0) != 0;
    auto const compared = [&](std::string_view s) { return exact ? std::string(s) : lower_case(s); };
    std::unordered_set<std::string> stops;
    for (std::string const& s : c.strings("stopwords")) stops.insert(compared(s));
    std::vector<std::string> out;
    for (std::string const& s : x.strings()) {
        if (stops.contains(compared(s))) continue;
        out.push_back(action == "LOWER" ? lower_case(s) : action == "UPPER" ? upper_case(s) : s);
    }
    if (out.empty()) out.emplace_back();
    sizes to(x.rank(), 1);
    to.back() = static_cast<std::int64_t>(out.size());
    return tensor::of_strings(std::move(out), to);
}

/// Accepts the common subset of RE2 and std::regex patterns and refuses the rest: flags, Unicode classes, named groups.
/// Bytes count as letters. Matching does not backtrack if the library supports that, so its recursion depth does not
/// grow with the text.
class pattern {
public:
    explicit pattern(std::string text) : text_(std::move(text)) {
        constexpr std::size_t max_bytes = 2000; // each parenthesis may recurse in the library
        if (text_.size() > max_bytes)
            throw error("a pattern of " + std::to_string(text_.size()) + " bytes is too long");
        auto flags = std::regex::ECMAScript;
#if defined(__GLIBCXX__)
        flags |= std::regex_constants::__polynomial;
#endif
        try {
            compiled_.assign(text_, flags);
        } catch (std::regex_error const& e) {
            throw error("the pattern '" + text_ + "' is not supported: " + e.what());
        }
    }

    [[nodiscard]] bool matches(std::string const& s) const {
        try {
            return std::regex_match(s, compiled_);
        } catch (std::regex_error const& e) {
            throw error("matching the pattern '" + text_ + "' failed: " + e.what());
        }
    }

private:
    std::string text_;
    std::regex compiled_;
};

results regex_full_match(call const& c) {
    tensor const x = text(c, 0);
    pattern const p(c.s("pattern"));
    tensor const out = tensor::empty(dtype::bool_, x.sizes());
    std::ranges::transform(x.strings(), out.data<bool>(), [&](std::string const& s) { return p.matches(s); });
    return to_device(out, c.where());
}

} // namespace

rows strings() {
    static constexpr row all[] = {
        {"RegexFullMatch", regex_full_match},
        {"StringConcat", string_concat},
        {"StringNormalizer", string_normalizer},
        {"StringSplit", string_split},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels

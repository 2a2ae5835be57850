// SPDX-License-Identifier: MIT
#include "source_ranges.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <aton/core/error.hpp>

#include "object_reader.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

constexpr std::size_t max_length = 200; ///< of a name in a message

/// The part of the user's code that a range is: its text, the file if it is known, and the line at which the text starts.
struct source {
    std::string text;
    std::string file;
    std::int64_t first_line = 0;
};

std::string plain(std::string_view text) {
    std::string out(text.substr(0, max_length));
    while (out.size() == max_length && (static_cast<unsigned char>(out.back()) & 0x80U) != 0) out.pop_back();
    return clipped(std::move(out), std::string::npos);
}

std::string_view file_name(std::string_view file) { return file.substr(file.find_last_of("/\\") + 1); }

bool is_library(std::string_view file) {
    return file.starts_with('<') || file.find("/torch/") != std::string_view::npos ||
           file.find("\\torch\\") != std::string_view::npos;
}

/// `/home/me/net.py(12): forward`, a frame of the stack that the tracer records, as "net.py:12 in forward"; empty if it is none.
std::string of_frame(std::string_view line, bool& is_users) {
    std::size_t const stop = line.rfind("): ");
    std::size_t const start = stop == std::string_view::npos ? stop : line.rfind('(', stop);
    if (start == std::string_view::npos || start == 0 || stop - start < 2) return {};
    std::string_view const digits = line.substr(start + 1, stop - start - 1);
    if (digits.find_first_not_of("0123456789") != std::string_view::npos) return {};
    is_users = !is_library(line.substr(0, start));
    return plain(file_name(line.substr(0, start))) + ':' + plain(digits) + " in " + plain(line.substr(stop + 3));
}

/// The innermost frame that is not torch's, or the innermost one.
std::string of_stack(std::string_view text) {
    std::string first;
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        bool is_users = false;
        std::string found = of_frame(line, is_users);
        if (is_users) return found;
        if (first.empty()) first = std::move(found);
    }
    return first;
}

/// The function whose `def` precedes a place of a text.
std::string_view function_at(std::string_view text) {
    for (std::size_t at = text.rfind("def "); at != std::string_view::npos;
         at = at == 0 ? std::string_view::npos : text.rfind("def ", at - 1)) {
        if (at != 0 && text[at - 1] != ' ' && text[at - 1] != '\n' && text[at - 1] != '\t') continue;
        std::string_view const name = text.substr(at + 4);
        return name.substr(0, name.find('('));
    }
    return {};
}

std::string describe(source const& from, std::int64_t start) {
    std::string stack = of_stack(from.text);
    if (!stack.empty()) return stack;
    if (from.file.empty() || start < 0 || static_cast<std::size_t>(start) > from.text.size() || is_library(from.file))
        return {};
    std::string_view const before = std::string_view(from.text).substr(0, static_cast<std::size_t>(start));
    std::int64_t line = 0;
    if (__builtin_add_overflow(from.first_line, std::count(before.begin(), before.end(), '\n'), &line)) return {};
    // The range of the `def` itself starts in it.
    std::string_view const text = from.text;
    std::string_view const function = function_at(text.substr(0, text.find('\n', before.size())));
    std::string out = plain(file_name(from.file)) + ':' + std::to_string(line);
    return function.empty() ? out : out + " in " + plain(function);
}

class reader {
public:
    source_ranges run(std::string_view pickle) {
        value const all =
            read_object(pickle, {}, [](std::string_view) -> file_span { throw error("no storages"); }, heap_);
        std::vector<value> const* records = items(all);
        if (records == nullptr) return {};
        // With a table of texts: ("FORMAT_WITH_STRING_TABLE", texts, records). Older releases wrote the records alone.
        if (records->size() == 3 && (*records)[0].is() == kind::text) {
            texts_ = items((*records)[1]);
            records = items((*records)[2]);
        }
        if (records == nullptr) return {};
        std::vector<source_ranges::range> ranges;
        for (value const& each : *records) {
            std::vector<value> const* const record = items(each);
            std::vector<value> const* const range =
                record != nullptr && record->size() >= 2 ? items((*record)[1]) : nullptr;
            if (range == nullptr || range->size() != 3 || !(*record)[0].integer()) continue;
            ranges.push_back({static_cast<std::uint64_t>(*(*record)[0].integer()), place_of(*range)});
        }
        return {std::move(ranges), std::move(places_)};
    }

private:
    static std::vector<value> const* items(value const& v) {
        return v.is() == kind::list || v.is() == kind::tuple ? &v.list()->items : nullptr;
    }

    /// The index of the line of a range: (source, start, end).
    std::size_t place_of(std::vector<value> const& range) {
        std::optional<std::int64_t> const at = range[1].integer();
        if (!at) return 0;
        auto const [known, is_new] = known_.try_emplace({range[0].list(), *at}, 0);
        if (!is_new || range[0].list() == nullptr) return known->second;
        source const& from = source_of(range[0]);
        if (from.text.size() > left_to_search_) return 0;
        left_to_search_ -= from.text.size();
        std::string line = describe(from, *at);
        if (line.empty()) return 0;
        places_.push_back(std::move(line));
        return known->second = places_.size() - 1;
    }

    [[nodiscard]] std::string text_at(value const& index) const {
        auto const text_or_nothing = [](value const& v) { return v.text() == nullptr ? std::string() : *v.text(); };
        std::optional<std::int64_t> const at = index.integer();
        if (!at) return text_or_nothing(index);
        if (texts_ == nullptr || *at < 0 || static_cast<std::size_t>(*at) >= texts_->size()) return {};
        return text_or_nothing((*texts_)[static_cast<std::size_t>(*at)]);
    }

    source const& source_of(value const& from) {
        auto const [known, is_new] = sources_.try_emplace(from.list());
        source& out = known->second;
        std::vector<value> const& given = from.list()->items;
        if (!is_new || given.size() != 3) return out;
        if (std::vector<value> const* const parts = items(given[0])) {
            for (value const& each : *parts)
                if (out.text.size() < max_text) out.text += text_at(each);
        } else {
            out.text = text_at(given[0]);
        }
        out.file = text_at(given[1]);
        if (given[2].integer()) out.first_line = *given[2].integer();
        left_ -= std::min(left_, out.text.size());
        if (left_ == 0) throw error("too long");
        return out;
    }

    static constexpr std::size_t max_text = std::size_t{1} << 20U;

    heap heap_;
    std::vector<value> const* texts_ = nullptr;
    std::map<list_of_values const*, source> sources_;
    std::map<std::pair<list_of_values const*, std::int64_t>, std::size_t> known_;
    std::vector<std::string> places_{std::string()};
    std::size_t left_ = std::size_t{1} << 26U; ///< of all texts
    /// Characters that may still be searched for lines: many ranges of a long text would take hours otherwise.
    std::size_t left_to_search_ = std::size_t{1} << 27U;
};

} // namespace

source_ranges::source_ranges(std::vector<range> ranges, std::vector<std::string> places)
    : ranges_(std::move(ranges)),
      places_(std::move(places)) {
    std::stable_sort(
        ranges_.begin(), ranges_.end(), [](range const& a, range const& b) { return a.offset < b.offset; });
}

std::string const& source_ranges::at(std::uint64_t offset) const {
    auto const after = std::upper_bound(
        ranges_.begin(), ranges_.end(), offset, [](std::uint64_t wanted, range const& r) { return wanted < r.offset; });
    return places_[after == ranges_.begin() ? 0 : std::prev(after)->place];
}

source_ranges read_source_ranges(std::string_view pickle) {
    try {
        return reader().run(pickle);
    } catch (error const&) {
        return {};
    }
}

} // namespace ATON_NAMESPACE::torchscript

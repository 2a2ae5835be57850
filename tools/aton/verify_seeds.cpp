// SPDX-License-Identifier: MIT
// Runs one seed after another. Each is a record of the log: indented lines with details, then one line with the result.
#include "verify_seeds.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/model_io/model_io.hpp>

#include "commands.hpp"
#include "system/paths.hpp"

namespace aton::tool {

namespace {

constexpr std::string_view differ = "; differ: ";

bool read_number(std::string_view text, std::uint64_t& to) {
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), to);
    return fault == std::errc() && end == text.data() + text.size() && !text.empty();
}

/// "seed 7: 764 of 764 rows give ATen's numbers on 61234 calls; differ: aten::a, aten::b"
std::string line_of(std::uint64_t seed, verify::report const& r) {
    std::size_t same = 0;
    int calls = 0;
    std::string wrong;
    for (verify::row_report const& row : r.rows) {
        calls += row.total(&verify::type_report::same) + row.total(&verify::type_report::different);
        if (row.passed()) ++same;
        else wrong += (wrong.empty() ? std::string(differ) : std::string(", ")) + row.overload;
    }
    return "seed " + std::to_string(seed) + ": " + std::to_string(same) + " of " + std::to_string(r.rows.size()) +
           " rows give ATen's numbers on " + std::to_string(calls) + " calls" + wrong + '\n';
}

/// The lines of a report about failing calls, indented.
std::string details_of(verify::report const& r) {
    verify::report failed;
    std::ranges::copy_if(
        r.rows, std::back_inserter(failed.rows), [](verify::row_report const& row) { return !row.passed(); });
    std::string out;
    std::string const text = failed.rows.empty() ? std::string() : failed.to_text();
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = std::min(text.find('\n', at), text.size());
        std::string const line = text.substr(at, end - at);
        at = end + 1;
        if (line.find(" rows give ATen's numbers on ") != std::string::npos) break; // the totals
        out += "    " + line + '\n';
    }
    return out;
}

/// The log of finished seeds.
class seed_log {
public:
    seed_log(std::string path, std::string const& settings) : path_(std::move(path)) {
        if (path_.empty()) return;
        std::string const head = "# " + settings + '\n';
        std::string text;
        if (std::filesystem::path const file = system::path_of(path_); std::filesystem::exists(file)) {
            std::ifstream in(file, std::ios::binary);
            text.assign(std::istreambuf_iterator<char>(in), {});
            if (!text.empty() && !text.starts_with(head))
                throw error(plain(path_) + ": was written with other options; name another file or delete it");
        }
        text.resize(complete(text)); // drop an incomplete record
        for (std::size_t at = 0; at < text.size();) {
            std::size_t const end = text.find('\n', at);
            note(std::string_view(text).substr(at, end - at));
            at = end + 1;
        }
        write_file(text.empty() ? head : text, path_);
    }

    [[nodiscard]] bool has(std::uint64_t seed) const { return seen_.contains(seed); }
    [[nodiscard]] std::string const& line(std::uint64_t seed) const { return seen_.at(seed); }

    /// The line is written last: a record without it is incomplete.
    void add(std::string const& line, std::string const& details) {
        note(std::string_view(line).substr(0, line.size() - 1));
        if (!path_.empty()) append(details + line);
    }

private:
    /// The length of the text up to the end of the last complete record.
    static std::size_t complete(std::string const& text) {
        std::size_t out = 0;
        for (std::size_t at = 0; at < text.size();) {
            std::size_t const end = text.find('\n', at);
            if (end == std::string::npos) break;
            if (text[at] != ' ') out = end + 1;
            at = end + 1;
        }
        return out;
    }

    void note(std::string_view line) {
        constexpr std::string_view word = "seed ";
        std::uint64_t seed = 0;
        if (!line.starts_with(word) || line.find(':') == std::string_view::npos) return;
        if (read_number(line.substr(word.size(), line.find(':') - word.size()), seed))
            seen_[seed] = std::string(line) + '\n';
    }

    void append(std::string const& text) const {
        std::ofstream file(system::path_of(path_), std::ios::binary | std::ios::app);
        file << text;
        file.close();
        if (!file) throw error(plain(path_) + ": cannot be written: " + std::strerror(errno));
    }

    std::string path_;
    std::map<std::uint64_t, std::string> seen_;
};

using seeds_of_rows = std::map<std::string, std::vector<std::uint64_t>, std::less<>>;

std::string as_json(seed_range const& seeds, seeds_of_rows const& wrong) {
    json_writer out;
    out.begin_object().field("first", seeds.first).field("last", seeds.last).field("passed", wrong.empty());
    out.name("differ").begin_array();
    for (auto const& [row, where] : wrong) out.begin_object().field("row", row).name("seeds").array(where).end_object();
    return out.end_array().end_object().text() + '\n';
}

} // namespace

std::optional<seed_range> read_seeds(std::string const& text) {
    constexpr std::uint64_t max_seeds = 1000000;
    std::size_t const dots = text.find("..");
    seed_range out;
    if (!read_number(std::string_view(text).substr(0, dots), out.first)) return {};
    out.last = out.first;
    if (dots != std::string::npos && !read_number(std::string_view(text).substr(dots + 2), out.last)) return {};
    if (out.last < out.first || out.last - out.first >= max_seeds) return {};
    return out;
}

int verify_seeds(verify_request const& request, std::string const& settings,
                 std::function<verify::report(std::uint64_t)> const& check) {
    seed_range const seeds = read_seeds(request.seeds).value();
    bool const has_lines = !request.quiet && !request.is_json();
    seed_log done(request.log, settings);
    seeds_of_rows wrong;
    for (std::uint64_t seed = seeds.first; seed - seeds.first <= seeds.last - seeds.first; ++seed) {
        if (!done.has(seed)) {
            verify::report const r = check(seed);
            std::string const details = details_of(r);
            done.add(line_of(seed, r), details);
            if (has_lines || (request.quiet && !request.is_json() && !details.empty()))
                print_out(details + done.line(seed));
        } else if (has_lines) {
            print_out(done.line(seed));
        }
        std::string_view const line = done.line(seed);
        std::size_t const at = line.find(differ);
        std::string_view left = at == std::string_view::npos ? std::string_view() : line.substr(at + differ.size());
        while (!left.empty()) {
            std::size_t const end = std::min(left.find_first_of(",\n"), left.size());
            wrong[std::string(left.substr(0, end))].push_back(seed);
            left.remove_prefix(std::min(end + (left.substr(end).starts_with(", ") ? 2 : 1), left.size()));
        }
    }
    if (request.is_json()) {
        if (!request.quiet || !wrong.empty()) print_out(as_json(seeds, wrong));
        return wrong.empty() ? 0 : 1;
    }
    std::string end = std::to_string(seeds.last - seeds.first + 1) + " seeds: ";
    end += wrong.empty() ? "no row differs\n" : std::to_string(wrong.size()) + " rows differ\n";
    for (auto const& [row, where] : wrong) {
        end += "    " + row + ": seeds";
        for (std::size_t i = 0; i != where.size(); ++i) end += (i == 0 ? " " : ", ") + std::to_string(where[i]);
        end += '\n';
    }
    if (!request.quiet || !wrong.empty()) print_out(end);
    return wrong.empty() ? 0 : 1;
}

} // namespace aton::tool

// SPDX-License-Identifier: MIT
#include <aton/targets/faults.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/ir/kernels.hpp>

#include "words.hpp"

namespace ATON_NAMESPACE::targets {

namespace {

constexpr std::string_view fault_texts[] = {
#include <faults.inc>
};

/// "21.." or "21..25"
bool read_range(std::string_view text, int& first, int& last) {
    std::size_t const dots = text.find("..");
    last = std::numeric_limits<int>::max();
    if (dots == std::string_view::npos || !read_number(text.substr(0, dots), first)) return false;
    return dots + 2 == text.size() || read_number(text.substr(dots + 2), last);
}

bool is_dtype(std::string const& word) {
    for (std::size_t i = 1; i != onnx_dtype_count; ++i)
        if (name(static_cast<dtype>(i)) == word) return true;
    return false;
}

class fault_reader {
public:
    std::vector<runtime_fault> read(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            std::size_t const end = std::min(text.find('\n', at), text.size());
            line(text.substr(at, end - at));
            at = end + 1;
        }
        for (runtime_fault const& f : out_)
            if (f.releases.empty() || f.ops.empty() || f.says.empty() || f.source.empty())
                throw error("fault " + f.name + ": needs releases, ops, says and source");
        return std::move(out_);
    }

private:
    [[noreturn]] void refuse(std::string const& what) const {
        throw error("line " + std::to_string(number_) + ": " + what);
    }

    void line(std::string_view text) {
        ++number_;
        if (text.empty() || text.front() == '#') return;
        std::size_t const blank = std::min(text.find(' '), text.size());
        std::string const key(text.substr(0, blank));
        std::string_view rest = text.substr(blank);
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        if (rest.empty()) refuse("'" + key + "' without a value");
        if (key == "fault") out_.emplace_back().name = rest;
        else if (out_.empty()) refuse("'" + key + "' before the first fault");
        else if (key == "releases") releases(rest);
        else if (key == "ops") out_.back().ops = words_in<std::string>(rest);
        else if (key == "when") conditions(rest);
        else if (key == "says") out_.back().says = rest;
        else if (key == "source") out_.back().source = rest;
        else refuse("'" + key + "' is unknown");
    }

    void releases(std::string_view text) {
        runtime_fault& to = out_.back();
        std::size_t const dots = text.find("..");
        if (dots == std::string_view::npos) refuse("releases are FIRST..LAST");
        to.releases = text;
        to.since = parse_release(text.substr(0, dots));
        to.is_open = dots + 2 == text.size();
        if (to.is_open) return;
        to.until = parse_release(text.substr(dots + 2));
        if (std::ranges::count(text.substr(dots + 2), '.') == 1) to.until.parts[2] = std::numeric_limits<int>::max();
    }

    void conditions(std::string_view text) {
        while (!text.empty()) {
            std::size_t const end = std::min(text.find(';'), text.size());
            condition(words_in<std::string>(text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }

    void condition(std::vector<std::string> words) {
        using enum fault_condition::kind_of;
        fault_condition& to = out_.back().when.emplace_back();
        auto const rest = [&](std::size_t from) {
            if (from >= words.size()) refuse("a condition without values");
            return std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(from), words.end());
        };
        std::string const first = words.empty() ? "" : words[0];
        std::string const third = words.size() > 2 ? words[2] : "";
        if (first == "opset" && words.size() == 2 && read_range(words[1], to.first, to.last)) {
            to.kind = opset;
        } else if (first == "input" && third == "is" && read_number(words[1], to.first)) {
            to.kind = input;
            to.words = rest(3);
            for (std::string const& each : to.words)
                if (!is_dtype(each)) refuse("'" + each + "' is not a dtype");
        } else if (first == "attribute" && (third == "is" || third == "over")) {
            to.kind = third == "is" ? attribute_is : attribute_over;
            to.attribute = words[1];
            to.words = rest(3);
        } else if (first == "read" && words.size() > 1 && words[1] == "by") {
            to.kind = read_by;
            to.words = rest(2);
        } else if (first == "reads") {
            to.kind = reads;
            to.words = rest(1);
        } else {
            refuse("a condition that is unknown: '" + first + "'");
        }
    }

    std::vector<runtime_fault> out_;
    std::size_t number_ = 0;
};

std::string full_name(graph_node const& n) { return n.domain.empty() ? n.op : n.domain + "::" + n.op; }

bool has_word(std::vector<std::string> const& all, std::string_view word) {
    return std::ranges::find(all, word) != all.end();
}

/// Of operators that the table of kernels does not have.
runtime_fault const& no_kernel() {
    static runtime_fault const fault{
        .name = "no_kernel",
        .releases = std::string(onnx::onnxruntime::release) + ".." + std::string(onnx::onnxruntime::release),
        .says = "has no kernel for it at this opset and with these types, so that the model does not load",
        .source = "include/aton/onnx/generated/onnxruntime_kernels.hpp"};
    return fault;
}

/// The nodes of one graph.
class fault_finder {
public:
    fault_finder(std::span<runtime_fault const> faults, release_number const& release) {
        for (runtime_fault const& f : faults)
            if (f.is_in(release)) found_.push_back({&f, 0, {}});
        release_number const known = parse_release(onnx::onnxruntime::release);
        knows_kernels_ = std::equal(known.parts, known.parts + 2, release.parts);
    }

    void visit(graph_data const& g) {
        for (graph_node const& n : g.nodes) {
            bool is_named = false;
            for (met_fault& each : found_) {
                if (!meets(g, n, *each.fault)) continue;
                is_named = true;
                if (each.count++ == 0) each.place = place_of(g, n);
            }
            if (!is_named && knows_kernels_ && !kernels::runs(g, n, g.opset)) add_missing(g, n);
            for (node_attribute const& a : n.attributes)
                for (graph_data const& inner : a.graphs) visit(inner);
        }
        for (graph_function const& f : g.functions)
            for (graph_data const& body : f.body) visit(body);
    }

    std::vector<met_fault> found() {
        std::erase_if(found_, [](met_fault const& each) { return each.count == 0; });
        found_.insert(found_.end(), missing_.begin(), missing_.end());
        return std::move(found_);
    }

private:
    /// One entry for each operator.
    void add_missing(graph_data const& g, graph_node const& n) {
        std::string const place = place_of(g, n);
        auto const same = [&](met_fault const& each) {
            return each.place.substr(0, each.place.find(' ')) == place.substr(0, place.find(' '));
        };
        auto const found = std::ranges::find_if(missing_, same);
        if (found == missing_.end()) missing_.push_back({&no_kernel(), 1, place});
        else ++found->count;
    }

    static std::string place_of(graph_data const& g, graph_node const& n) {
        std::string const& named = n.origin < g.origins.size() ? g.origins[n.origin].name : std::string();
        if (!named.empty()) return full_name(n) + " '" + named + "'";
        for (value_id const id : n.outputs)
            if (id != no_value && !g.values[id].name.empty()) return full_name(n) + " of value " + g.values[id].name;
        return full_name(n);
    }

    static bool meets(graph_data const& g, graph_node const& n, runtime_fault const& f) {
        if (f.ops.front() != "*" && !has_word(f.ops, full_name(n))) return false;
        return std::ranges::all_of(f.when, [&](fault_condition const& c) { return holds(g, n, c); });
    }

    static bool holds(graph_data const& g, graph_node const& n, fault_condition const& c) {
        using enum fault_condition::kind_of;
        switch (c.kind) {
        case opset: return c.first <= g.opset && g.opset <= c.last;
        case input: {
            auto const i = static_cast<std::size_t>(c.first);
            return i < n.inputs.size() && n.inputs[i] != no_value &&
                   has_word(c.words, name(g.values[n.inputs[i]].type.dtype));
        }
        case attribute_is:
        case attribute_over: return holds(n.attribute(c.attribute), c);
        case reads:
            return std::ranges::any_of(n.inputs, [&](value_id id) {
                std::int64_t const producer = id == no_value ? -1 : g.values[id].producer;
                return producer >= 0 && has_word(c.words, full_name(g.nodes[static_cast<std::size_t>(producer)]));
            });
        case read_by:
            return std::ranges::any_of(g.nodes, [&](graph_node const& other) {
                return has_word(c.words, full_name(other)) && std::ranges::any_of(other.inputs, [&](value_id id) {
                           return id != no_value && std::ranges::find(n.outputs, id) != n.outputs.end();
                       });
            });
        }
        return false;
    }

    static bool holds(node_attribute const* a, fault_condition const& c) {
        if (a == nullptr) return false;
        if (c.kind == fault_condition::kind_of::attribute_is)
            return has_word(c.words, std::to_string(a->i)) || has_word(c.words, a->s);
        int limit = 0;
        return read_number(c.words.front(), limit) && a->i > limit;
    }

    std::vector<met_fault> found_;
    std::vector<met_fault> missing_; ///< kernels
    bool knows_kernels_ = false;     ///< the table is that of the release
};

} // namespace

release_number parse_release(std::string_view text) {
    release_number out;
    std::size_t part = 0;
    for (std::string_view rest = text; part != 3; ++part) {
        std::size_t const dot = std::min(rest.find('.'), rest.size());
        if (!read_number(rest.substr(0, dot), out.parts[part])) break;
        if (dot == rest.size()) return out;
        rest.remove_prefix(dot + 1);
    }
    throw error("'" + std::string(text) + "' is not a release, such as 1.31.1");
}

bool runtime_fault::is_in(release_number const& r) const { return since <= r && (is_open || r <= until); }

std::span<runtime_fault const> onnxruntime_faults() {
    static std::vector<runtime_fault> const all = parse_faults(fault_texts[0]);
    return all;
}

std::vector<runtime_fault> parse_faults(std::string_view text) { return fault_reader().read(text); }

std::vector<met_fault> find_faults(graph_data const& graph, std::span<runtime_fault const> faults,
                                   release_number const& release) {
    fault_finder finder(faults, release);
    finder.visit(graph);
    return finder.found();
}

} // namespace ATON_NAMESPACE::targets

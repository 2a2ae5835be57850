// SPDX-License-Identifier: MIT
// Reads guards_code of a program. Its names are paths into the arguments of forward, which the treespec of the inputs describes.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parse_guard.hpp"
#include "read_program_json.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

using path = std::vector<std::string>;

/// Programs written by torch have a few hundred.
constexpr std::size_t max_parsed = 5000;

/// Inputs by the paths that guards use for them.
class input_paths {
public:
    explicit input_paths(program::program const& p) {
        for (program::input const& in : p.inputs)
            if (in.kind == program::input_kind::user || in.kind == program::input_kind::baked) {
                leaves_.push_back(in.value);
                names_.emplace(in.target, in.value);
            }
    }

    /// Leaves of a treespec: "0" or "1" for args or kwargs, then the index or the key of the argument, then the path inside it.
    void add(std::vector<path> const& leaves, path const& argument_names) {
        for (std::size_t i = 0; i != leaves_.size(); ++i)
            known_.emplace(path{"flat_args", std::to_string(i)}, leaves_[i]);
        if (leaves.size() != leaves_.size()) return;
        for (std::size_t i = 0; i != leaves.size(); ++i) {
            path const& leaf = leaves[i];
            if (leaf.size() < 2) continue;
            bool const is_positional = leaf[0] == "0";
            path way(leaf.begin() + 1, leaf.end());
            path grouped = way;
            grouped.insert(grouped.begin(), is_positional ? "args" : "kwargs");
            std::size_t const position = is_positional ? position_of(way[0]) : argument_names.size();
            if (position < argument_names.size()) way[0] = argument_names[position];
            known_.emplace(std::move(way), leaves_[i]);
            known_.emplace(std::move(grouped), leaves_[i]);
        }
    }

    [[nodiscard]] program::value_index find(path const& p) const {
        if (auto const found = known_.find(p); found != known_.end()) return found->second;
        std::string joined; // torch's name for an input without a recorded path: d_a_1
        for (std::string const& each : p) {
            if (!joined.empty()) joined += '_';
            for (char c : each) {
                auto const u = static_cast<unsigned char>(c);
                joined += std::isalnum(u) != 0 ? (&each == &p[0] ? c : static_cast<char>(std::tolower(u))) : '_';
            }
        }
        auto const found = names_.find(joined);
        return found == names_.end() ? program::no_value : found->second;
    }

private:
    static std::size_t position_of(std::string const& text) {
        std::size_t out = 0;
        for (char c : text)
            out = c >= '0' && c <= '9' && out < 100000 ? out * 10 + static_cast<std::size_t>(c - '0') : ~std::size_t{0};
        return out;
    }

    std::vector<program::value_index> leaves_;
    std::map<path, program::value_index> known_;
    std::map<std::string, program::value_index> names_;
};

input_paths read_paths(json_value const& module, program::program const& p) {
    input_paths out(p);
    std::vector<path> leaves;
    path names;
    if (auto const calls = module.optional_member("module_call_graph"))
        calls->for_each([&](json_value const& call, std::size_t i) {
            if (i != 0) return;
            auto const signature = call.optional_member("signature");
            if (!signature) return;
            if (auto const treespec = signature->optional_member("in_spec"); treespec && treespec->is_text())
                leaves = read_leaf_paths(treespec->text(), module);
            if (auto const given = signature->optional_member("forward_arg_names"); given && given->is_array())
                given->for_each([&](json_value const& each, std::size_t) {
                    if (each.is_text()) names.emplace_back(each.text());
                });
        });
    out.add(leaves, names);
    return out;
}

} // namespace

void read_guards(json_value const& root, json_value const& module, program::program& out) {
    auto const list = root.optional_member("guards_code");
    if (!list || !list->is_array() || list->size() == 0) return;
    input_paths const paths = read_paths(module, out);
    guard_lookup const lookup = [&](guard_number const& n) -> std::string {
        program::value_index const v = paths.find(n.path);
        if (v == program::no_value) return {};
        program::value const& x = out.values[v];
        if (n.axis ? x.kind != program::value_kind::tensor || !x.has_type ||
                         *n.axis >= static_cast<std::int64_t>(x.sizes.size())
                   : x.kind != program::value_kind::sym_int || !x.symbolic)
            return {};
        std::string name = x.name;
        if (n.axis) name += ".size()[" + std::to_string(*n.axis) + ']';
        out.guard_sources.emplace(name, program::guard_source{v, n.axis.value_or(-1)});
        return name;
    };
    list->for_each([&](json_value const& each, std::size_t) {
        if (!each.is_text()) return;
        program::guard made;
        made.text = each.text();
        if (out.guards.size() < max_parsed) made.condition = parse_guard(made.text, lookup);
        out.guards.push_back(std::move(made));
    });
}

} // namespace ATON_NAMESPACE::pt2

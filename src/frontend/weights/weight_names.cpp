// SPDX-License-Identifier: MIT
#include "weight_names.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include <aton/core/error.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::weights {

namespace {

constexpr std::size_t max_pieces = 16384;
/// Components of a prefix: "model.language_model.".
constexpr std::size_t max_prefix_depth = 3;

/// Weights that checkpoints have under other names, or in pieces, than the modules of transformers 5.
struct usual_rule {
    std::string_view wanted;
    std::string_view given;
};
constexpr usual_rule usual_rules[] = {
    {"*.experts.gate_up_proj", "*.experts.#.gate_proj.weight+*.experts.#.up_proj.weight"},
    {"*.experts.down_proj", "*.experts.#.down_proj.weight"},
    {"*.experts.gate_up_proj", "*.experts.#.w1.weight+*.experts.#.w3.weight"},
    {"*.experts.down_proj", "*.experts.#.w2.weight"},
    {"*.mlp.experts.gate_up_proj", "*.block_sparse_moe.experts.#.w1.weight+*.block_sparse_moe.experts.#.w3.weight"},
    {"*.mlp.experts.down_proj", "*.block_sparse_moe.experts.#.w2.weight"},
    {"*.mlp.gate.weight", "*.block_sparse_moe.gate.weight"},
};

/// Weights that checkpoints leave out because they are the same as others, by the ends of their names.
struct usual_tie {
    std::string_view wanted;
    std::string_view given;
};
constexpr usual_tie usual_ties[] = {
    {"lm_head.weight", "embed_tokens.weight"},
    {"lm_head.weight", "wte.weight"},
    {"lm_head.weight", "tokens_embed.weight"},
    {"lm_head.weight", "embed_in.weight"},
    {"lm_head.weight", "word_embeddings.weight"},
    {"lm_head.weight", "tok_embeddings.weight"},
    {"lm_head.weight", "shared.weight"},
    {"lm_head.weight", "backbone.embeddings.weight"},
    {"lm_head.decoder.weight", "word_embeddings.weight"},
    {"lm_head.decoder.bias", "lm_head.bias"},
    {"predictions.decoder.weight", "word_embeddings.weight"},
    {"predictions.decoder.bias", "predictions.bias"},
    {"proj_out.weight", "embed_tokens.weight"},
    {"output_projection.weight", "embed_tokens.weight"},
    {"vocab_projector.weight", "word_embeddings.weight"},
    {"embed_tokens.weight", "shared.weight"},
    {"embed_tokens.weight", "lm_head.weight"},
};

bool ends_with_name(std::string_view name, std::string_view end) {
    return name.ends_with(end) && (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
}

/// What `*` stands for; nothing if the name does not match. A pattern without `*` matches itself.
std::optional<std::string_view> captured(std::string_view pattern, std::string_view name) {
    std::size_t const star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == name ? std::optional(std::string_view()) : std::nullopt;
    std::string_view const head = pattern.substr(0, star);
    std::string_view const tail = pattern.substr(star + 1);
    if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return {};
    return name.substr(head.size(), name.size() - head.size() - tail.size());
}

std::string filled(std::string_view pattern, std::string_view text, char mark) {
    std::string out;
    for (char const c : pattern) {
        if (c == mark) out += text;
        else out += c;
    }
    return out;
}

/// The prefixes that at least half of the names have, and the empty one.
std::vector<std::string> common_prefixes(std::vector<std::string_view> const& names) {
    std::map<std::string_view, std::size_t> counts;
    for (std::string_view const name : names) {
        std::size_t dot = name.find('.');
        for (std::size_t depth = 0; depth != max_prefix_depth && dot != std::string_view::npos; ++depth) {
            ++counts[name.substr(0, dot + 1)];
            dot = name.find('.', dot + 1);
        }
    }
    std::vector<std::string> out{""};
    for (auto const& [prefix, count] : counts)
        if (count * 2 >= names.size()) out.emplace_back(prefix);
    return out;
}

std::string with_prefixes(std::string_view name, std::string_view removed, std::string_view added) {
    return std::string(added) + std::string(name.starts_with(removed) ? name.substr(removed.size()) : name);
}

} // namespace

void require_valid(name_rule const& rule) {
    auto const& [wanted, given] = rule;
    auto const refuse = [&](std::string_view why) {
        throw error("--weights-map " + files::in_quotes(wanted + '=' + given) + ": " + std::string(why));
    };
    if (wanted.empty() || given.empty()) refuse("write it as OLD=NEW, such as 'model.*=*'");
    if (std::count(wanted.begin(), wanted.end(), '*') > 1) refuse("OLD has more than one '*'");
    if (wanted.find('*') == std::string::npos && given.find('*') != std::string::npos)
        refuse("NEW has a '*', but OLD has none");
}

weight_names::weight_names(std::vector<std::string_view> const& wanted, std::vector<std::string_view> given,
                           std::vector<name_rule> rules)
    : given_(std::move(given)),
      rules_(std::move(rules)) {
    std::size_t best = 0;
    std::vector<std::string> const additions = common_prefixes(given_);
    for (std::string const& removed : common_prefixes(wanted)) {
        for (std::string const& added : additions) {
            auto const found = std::count_if(wanted.begin(), wanted.end(), [&](std::string_view name) {
                return has(with_prefixes(name, removed, added));
            });
            if (static_cast<std::size_t>(found) <= best) continue; // of equal ones, the first: no prefix
            best = static_cast<std::size_t>(found);
            removed_ = removed;
            added_ = added;
        }
    }
}

bool weight_names::has(std::string_view name) const { return std::binary_search(given_.begin(), given_.end(), name); }

/// As the rules say, or else with the prefixes of most names, or else as it is.
std::string weight_names::mapped(std::string_view wanted) const {
    for (auto const& [pattern, to] : rules_)
        if (auto const text = captured(pattern, wanted)) return filled(to, *text, '*');
    std::string out = with_prefixes(wanted, removed_, added_);
    return !has(out) && has(wanted) ? std::string(wanted) : out;
}

/// The names of "A+B", or of "A.#+B.#" for each number; none if one does not exist.
std::vector<std::string> weight_names::pieces(std::string_view list) const {
    std::vector<std::string> patterns{""};
    for (char const c : list) {
        if (c == '+') patterns.emplace_back();
        else patterns.back() += c;
    }
    bool const is_numbered = list.find('#') != std::string_view::npos;
    std::vector<std::string> out;
    for (std::size_t number = 0; out.size() <= max_pieces; ++number) {
        std::vector<std::string> names;
        for (std::string const& each : patterns) names.push_back(filled(each, std::to_string(number), '#'));
        auto const found = std::count_if(names.begin(), names.end(), [&](auto const& name) { return has(name); });
        if (found == 0 && number != 0) return out;
        if (static_cast<std::size_t>(found) != names.size()) return {};
        out.insert(out.end(), names.begin(), names.end());
        if (!is_numbered) return out;
    }
    return {};
}

std::vector<std::string> weight_names::find(std::string_view wanted) const {
    std::string const name = mapped(wanted);
    if (has(name)) return {name};
    std::vector<std::string> out = pieces(name);
    for (usual_rule const& rule : usual_rules) {
        if (!out.empty()) break;
        if (auto const text = captured(rule.wanted, name)) out = pieces(filled(rule.given, *text, '*'));
    }
    return out;
}

std::string weight_names::expected(std::string_view wanted) const { return mapped(wanted); }

std::vector<std::string> weight_names::ties(std::string_view wanted) const {
    std::vector<std::string> out;
    for (usual_tie const& tie : usual_ties)
        if (ends_with_name(wanted, tie.wanted))
            for (std::string_view const name : given_)
                if (ends_with_name(name, tie.given)) out.emplace_back(name);
    return out;
}

} // namespace ATON_NAMESPACE::weights

// SPDX-License-Identifier: MIT
// ONNX operators: ensembles of decision trees (ai.onnx.ml), evaluated row by row on the host.
#include "call.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "classifiers.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// Numbered as in TreeEnsemble; `leaf` is only in the older operators.
enum class branch_mode : std::uint8_t { leq, lt, gte, gt, eq, neq, member, leaf };

struct vote {
    std::int64_t target = 0;
    double weight = 0;
};

struct tree_node {
    branch_mode mode = branch_mode::leaf;
    std::int64_t feature = 0;
    double split = 0;
    std::set<double> members; ///< for branch_mode::member
    bool missing_is_true = false;
    std::size_t yes = 0;
    std::size_t no = 0;
    std::vector<vote> votes; ///< for leaves
};

struct ensemble {
    std::vector<tree_node> nodes;
    std::vector<std::size_t> roots;
    std::int64_t targets = 0;
};

bool takes(tree_node const& n, double x) {
    if (std::isnan(x) && n.missing_is_true) return true;
    switch (n.mode) {
    case branch_mode::leq: return x <= n.split;
    case branch_mode::lt: return x < n.split;
    case branch_mode::gte: return x >= n.split;
    case branch_mode::gt: return x > n.split;
    case branch_mode::eq: return x == n.split;
    case branch_mode::neq: return x != n.split;
    default: return n.members.contains(x);
    }
}

tree_node const& leaf_of(ensemble const& e, std::size_t at, double const* row) {
    for (std::size_t steps = 0; steps <= e.nodes.size(); ++steps) {
        tree_node const& n = e.nodes[at];
        if (n.mode == branch_mode::leaf) return n;
        at = takes(n, row[n.feature]) ? n.yes : n.no;
    }
    throw error("a tree has a cycle");
}

/// Throws aton::error for nodes, features and targets out of range.
void check(ensemble const& e, std::int64_t features) {
    auto const require = [](bool holds, char const* what) {
        if (!holds) throw error("a tree has " + std::string(what) + " that does not exist");
    };
    for (std::size_t root : e.roots) require(root < e.nodes.size(), "a root");
    for (tree_node const& n : e.nodes) {
        for (vote const& v : n.votes) require(v.target >= 0 && v.target < e.targets, "a target");
        if (n.mode == branch_mode::leaf) continue;
        require(n.feature >= 0 && n.feature < features, "a feature");
        require(n.yes < e.nodes.size() && n.no < e.nodes.size(), "a branch");
    }
}

/// How the votes of all trees are combined; a target without votes has 0.
enum class aggregate : std::uint8_t { average, sum, min, max };

/// [N, targets], float64.
tensor predicted(ensemble const& e, tensor const& x, aggregate how) {
    check(e, x.size(1));
    tensor const rows = to_host(cast(x, dtype::float64)).contiguous();
    tensor const out = tensor::empty(dtype::float64, {x.size(0), e.targets});
    std::fill_n(out.data<double>(), out.count(), 0.0);
    std::vector<bool> voted;
    for (std::int64_t r = 0; r != x.size(0); ++r) {
        double* const scores = out.data<double>() + r * e.targets;
        voted.assign(static_cast<std::size_t>(e.targets), false);
        for (std::size_t root : e.roots)
            for (vote const& v : leaf_of(e, root, rows.data<double const>() + r * x.size(1)).votes) {
                double& score = scores[v.target];
                bool const first = !voted[static_cast<std::size_t>(v.target)];
                voted[static_cast<std::size_t>(v.target)] = true;
                if (how == aggregate::min) score = first ? v.weight : std::min(score, v.weight);
                else if (how == aggregate::max) score = first ? v.weight : std::max(score, v.weight);
                else score += how == aggregate::sum ? v.weight : v.weight / static_cast<double>(e.roots.size());
            }
    }
    return out;
}

/// A list of numbers from a tensor attribute ('..._as_tensor') or a list of floats; empty if both are missing.
std::vector<double> reals(call const& c, std::string const& name) {
    if (c.has_attribute(name + "_as_tensor")) return reals(c, name + "_as_tensor");
    node_attribute const* const a = c.attribute(name);
    if (a == nullptr) return {};
    if (a->type != onnx::attr_type::t) {
        std::vector<float> const list = c.floats(name);
        return {list.begin(), list.end()};
    }
    tensor const all = to_host(cast(c.t(name), dtype::float64)).contiguous();
    return {all.data<double const>(), all.data<double const>() + all.count()};
}

template <class List>
void require_length(List const& list, std::size_t expected, char const* name) {
    if (list.size() != expected)
        throw error("'" + std::string(name) + "' has " + std::to_string(list.size()) + " elements, not " +
                    std::to_string(expected));
}

bool at(std::vector<std::int64_t> const& flags, std::size_t i) { return i < flags.size() && flags[i] != 0; }

std::size_t index(std::int64_t i) { return i < 0 ? SIZE_MAX : static_cast<std::size_t>(i); }

std::size_t node_after(std::int64_t i, bool is_leaf, std::size_t nodes, std::size_t leaves) {
    if (i < 0 || static_cast<std::size_t>(i) >= (is_leaf ? leaves : nodes))
        throw error("a tree has a branch that does not exist");
    return static_cast<std::size_t>(i) + (is_leaf ? nodes : 0);
}

/// Assigns sets of members, each terminated by NaN, to the nodes that need them, in order.
void add_members(std::vector<tree_node>& nodes, std::vector<double> const& members) {
    std::size_t next = 0;
    for (tree_node& n : nodes) {
        if (n.mode != branch_mode::member) continue;
        for (; next < members.size() && !std::isnan(members[next]); ++next) n.members.insert(members[next]);
        if (next++ >= members.size()) throw error("'membership_values' has too few sets");
    }
}

/// The ensemble of TreeEnsemble, in which leaves follow the nodes.
ensemble whole(call const& c) {
    std::vector<std::int64_t> const features = c.ints("nodes_featureids");
    std::vector<double> const modes = reals(c, "nodes_modes");
    std::vector<double> const splits = reals(c, "nodes_splits");
    std::vector<std::int64_t> const yes = c.ints("nodes_truenodeids");
    std::vector<std::int64_t> const no = c.ints("nodes_falsenodeids");
    std::vector<std::int64_t> const yes_leafs = c.ints("nodes_trueleafs");
    std::vector<std::int64_t> const no_leafs = c.ints("nodes_falseleafs");
    std::vector<std::int64_t> const missing = c.ints("nodes_missing_value_tracks_true");
    std::vector<std::int64_t> const leaf_targets = c.ints("leaf_targetids");
    std::vector<double> const leaf_weights = reals(c, "leaf_weights");
    std::size_t const count = features.size();
    require_length(modes, count, "nodes_modes");
    require_length(splits, count, "nodes_splits");
    require_length(yes, count, "nodes_truenodeids");
    require_length(no, count, "nodes_falsenodeids");
    require_length(yes_leafs, count, "nodes_trueleafs");
    require_length(no_leafs, count, "nodes_falseleafs");
    require_length(leaf_weights, leaf_targets.size(), "leaf_weights");
    ensemble e;
    e.targets = c.i("n_targets");
    e.nodes.resize(count + leaf_targets.size());
    for (std::size_t i = 0; i != count; ++i) {
        tree_node& n = e.nodes[i];
        if (!(modes[i] >= 0 && modes[i] < static_cast<double>(branch_mode::leaf))) throw error("unknown node mode");
        n.mode = static_cast<branch_mode>(static_cast<int>(modes[i]));
        n.feature = features[i];
        n.split = splits[i];
        n.missing_is_true = at(missing, i);
        n.yes = node_after(yes[i], at(yes_leafs, i), count, leaf_targets.size());
        n.no = node_after(no[i], at(no_leafs, i), count, leaf_targets.size());
    }
    for (std::size_t i = 0; i != leaf_targets.size(); ++i)
        e.nodes[count + i].votes = {{leaf_targets[i], leaf_weights[i]}};
    add_members(e.nodes, reals(c, "membership_values"));
    for (std::int64_t root : c.ints("tree_roots")) e.roots.push_back(index(root));
    return e;
}

tensor scores_like(tensor const& scores, std::string const& transform, call const& c, dtype type) {
    return cast(transformed_scores(to_device(scores, c.where()), transform), type);
}

results tree_ensemble(call const& c) {
    constexpr std::array transforms = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    tensor const& x = c.in(0);
    if (x.rank() != 2) throw error("features of shape [N, F] are expected, not " + to_string(x.sizes()));
    std::int64_t const how = c.i("aggregate_function", 1);
    std::int64_t const transform = c.i("post_transform", 0);
    if (how < 0 || how > 3) throw error("unknown aggregate_function " + std::to_string(how));
    if (transform < 0 || transform > 4) throw error("unknown post_transform " + std::to_string(transform));
    ensemble const e = whole(c);
    return scores_like(
        predicted(e, x, static_cast<aggregate>(how)), transforms[static_cast<std::size_t>(transform)], c, x.dtype());
}

branch_mode branch_of(std::string_view mode) {
    constexpr std::array<std::string_view, 8> names = {
        "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "", "LEAF"};
    auto const* const found = std::ranges::find(names, mode);
    if (mode.empty() || found == names.end()) throw error("unknown node mode '" + std::string(mode) + "'");
    return static_cast<branch_mode>(found - names.begin());
}

/// The ensemble of the older operators: nodes are numbered within their tree, and the first one is its root. `kind` is
/// "class" or "target".
ensemble parts(call const& c, std::string const& kind, std::int64_t targets) {
    std::vector<std::int64_t> const trees = c.ints("nodes_treeids");
    std::vector<std::int64_t> const ids = c.ints("nodes_nodeids");
    std::vector<std::int64_t> const features = c.ints("nodes_featureids");
    std::vector<double> const values = reals(c, "nodes_values");
    std::vector<std::string> const modes = c.strings("nodes_modes");
    std::vector<std::int64_t> const yes = c.ints("nodes_truenodeids");
    std::vector<std::int64_t> const no = c.ints("nodes_falsenodeids");
    std::vector<std::int64_t> const missing = c.ints("nodes_missing_value_tracks_true");
    std::size_t const count = trees.size();
    require_length(ids, count, "nodes_nodeids");
    require_length(features, count, "nodes_featureids");
    require_length(values, count, "nodes_values");
    require_length(modes, count, "nodes_modes");
    require_length(yes, count, "nodes_truenodeids");
    require_length(no, count, "nodes_falsenodeids");
    ensemble e;
    e.targets = targets;
    e.nodes.resize(count);
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places;
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i != count; ++i) {
        places.emplace(std::pair(trees[i], ids[i]), i);
        if (seen.insert(trees[i]).second) e.roots.push_back(i);
    }
    auto const place = [&](std::int64_t tree, std::int64_t id) {
        auto const found = places.find({tree, id});
        return found == places.end() ? SIZE_MAX : found->second;
    };
    for (std::size_t i = 0; i != count; ++i) {
        tree_node& n = e.nodes[i];
        n.mode = branch_of(modes[i]);
        n.feature = features[i];
        n.split = values[i];
        n.missing_is_true = at(missing, i);
        n.yes = place(trees[i], yes[i]);
        n.no = place(trees[i], no[i]);
    }
    std::vector<std::int64_t> const vote_trees = c.ints(kind + "_treeids");
    std::vector<std::int64_t> const vote_nodes = c.ints(kind + "_nodeids");
    std::vector<std::int64_t> const vote_targets = c.ints(kind + "_ids");
    std::vector<double> const vote_weights = reals(c, kind + "_weights");
    require_length(vote_nodes, vote_trees.size(), "nodeids");
    require_length(vote_targets, vote_trees.size(), "ids");
    require_length(vote_weights, vote_trees.size(), "weights");
    for (std::size_t i = 0; i != vote_trees.size(); ++i) {
        std::size_t const leaf = place(vote_trees[i], vote_nodes[i]);
        if (leaf == SIZE_MAX) throw error("a weight refers to a node that does not exist");
        e.nodes[leaf].votes.push_back({vote_targets[i], vote_weights[i]});
    }
    return e;
}

/// Adds one number per target.
tensor based(call const& c, tensor const& scores) {
    std::vector<double> const base = reals(c, "base_values");
    if (base.empty()) return scores;
    if (base.size() != 1) require_length(base, static_cast<std::size_t>(scores.size(1)), "base_values");
    tensor const values = tensor::empty(dtype::float64, {static_cast<std::int64_t>(base.size())});
    std::ranges::copy(base, values.data<double>());
    return scores + values;
}

results tree_ensemble_regressor(call const& c) {
    constexpr std::array<std::string_view, 4> names = {"AVERAGE", "SUM", "MIN", "MAX"};
    std::string const how = c.s("aggregate_function", "SUM");
    auto const* const found = std::ranges::find(names, how);
    if (found == names.end()) throw error("unknown aggregate_function '" + how + "'");
    ensemble const e = parts(c, "target", c.i("n_targets", 1));
    tensor const scores = predicted(e, features(c), static_cast<aggregate>(found - names.begin()));
    return scores_like(based(c, scores), c.s("post_transform", "NONE"), c, dtype::float32);
}

// If all weights belong to one of two classes, they are scores of the second: the scores are 1 - s and s if no weight
// is negative and post_transform is NONE or PROBIT, otherwise -s and s.
results tree_ensemble_classifier(call const& c) {
    std::vector<std::int64_t> integers = c.ints("classlabels_int64s");
    std::vector<std::string> strings = c.strings("classlabels_strings");
    std::string const transform = c.s("post_transform", "NONE");
    std::vector<std::int64_t> const ids = c.ints("class_ids");
    std::size_t const classes = std::max(integers.size(), strings.size());
    if (classes == 0) throw error("class labels are expected");
    ensemble const e = parts(c, "class", static_cast<std::int64_t>(classes));
    tensor scores = based(c, predicted(e, features(c), aggregate::sum));
    bool const one = !ids.empty() && std::ranges::all_of(ids, [&](std::int64_t id) { return id == ids[0]; });
    if (one && classes <= 2) {
        tensor const second = scores.sliced(1, ids[0], 1);
        std::vector<double> const weights = reals(c, "class_weights");
        bool const likely = (transform == "NONE" || transform == "PROBIT") &&
                            std::ranges::all_of(weights, [](double w) { return w >= 0; });
        std::vector<tensor> const both = {likely ? 1.0 - second : -second, second};
        scores = concat(both, 1);
        if (strings.size() == 1) strings.insert(strings.begin(), "");
        if (integers.size() == 1) integers.insert(integers.begin(), 0);
    }
    tensor const all = scores_like(scores, transform, c, dtype::float32);
    return {labels_at(c, arg_max(all, 1), integers, strings), all};
}

} // namespace

rows trees() {
    static constexpr row all[] = {
        {"TreeEnsemble", tree_ensemble, ml_domain},
        {"TreeEnsembleClassifier", tree_ensemble_classifier, ml_domain},
        {"TreeEnsembleRegressor", tree_ensemble_regressor, ml_domain},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels

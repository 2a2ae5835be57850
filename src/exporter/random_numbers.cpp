// SPDX-License-Identifier: MIT
// Random numbers of a model: the warning that it draws them, their seeds, or inputs in their place.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/passes/passes.hpp>

#include "converter.hpp"
#include "occurrences.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

float float_attribute(graph_node const& n, std::string_view name, float otherwise) {
    node_attribute const* const a = n.attribute(name);
    return a == nullptr ? otherwise : a->f;
}

/// "uniform in [0, 1)"
std::string distribution_of(graph_node const& n) {
    auto const number = [&](std::string_view name, float otherwise) {
        char text[24];
        float const f = float_attribute(n, name, otherwise);
        return std::string(text, std::to_chars(text, text + sizeof text, f).ptr);
    };
    if (n.op.starts_with("RandomUniform")) return "uniform in [" + number("low", 0) + ", " + number("high", 1) + ")";
    if (n.op.starts_with("RandomNormal"))
        return "normal with mean " + number("mean", 0) + " and standard deviation " + number("scale", 1);
    return n.op == "Bernoulli" ? "0 or 1" : "categories";
}

/// "aten::rand (at model.py:3 in forward), aten::dropout (3 times, first at model.py:4 in forward)"
std::string list_of(std::vector<graph_node> const& draws, graph_data const& graph) {
    std::vector<std::string> all;
    for (auto const& [first, count] : grouped_by(draws, &graph_node::subject))
        all.push_back(shortened(first->subject()) + where_it_occurs(count, graph.origins.at(first->origin).source));
    return list_of_some(all, max_message / 3);
}

} // namespace

std::vector<drawn_input> apply_random_options(graph_data& graph, export_options const& options,
                                              std::vector<warning>& warnings) {
    std::vector<drawn_input> out;
    if (options.random == random_mode::inputs) {
        if (options.seed)
            throw unsupported_error("a seed has no effect where random numbers are inputs; omit one of the options");
        for (random_input const& made : replace_draws_by_inputs(graph))
            out.push_back({graph.values[made.input].name,
                           distribution_of(made.replaced),
                           made.replaced.subject(),
                           graph.origins.at(made.replaced.origin).source});
        return out;
    }
    std::vector<graph_node> const draws = find_draws(graph);
    if (draws.empty()) return out;
    if (options.seed) seed_draws(graph, *options.seed);
    warnings.push_back({warning_kind::random_operator,
                        "the model draws random numbers, which are not those of torch: " + list_of(draws, graph) +
                            "; in inference, export the model in eval mode"});
    return out;
}

} // namespace ATON_NAMESPACE::exporter

// SPDX-License-Identifier: MIT
// Every built-in rewrite applies to its examples, in every variant of its pattern, and not to those that it must leave alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "instance.hpp"

using namespace fusion_tests;

TEST_CASE("every rewrite has an example, and every example a rewrite") {
    auto const examples = every_example();
    for (aton::rewrite_entry const& r : every_rewrite()) {
        CAPTURE(r.name);
        auto const is_its = [&](example const& e) { return e.rewrite == r.name && e.applies; };
        CHECK(std::any_of(examples.begin(), examples.end(), is_its));
    }
    for (example const& e : examples) {
        CAPTURE(e.rewrite);
        auto const rewrites = every_rewrite();
        CHECK(std::any_of(rewrites.begin(), rewrites.end(), [&](auto const& r) { return r.name == e.rewrite; }));
    }
}

TEST_CASE("rewrites apply to all variants of their examples") {
    for (aton::rewrite_entry const& r : every_rewrite())
        for (example const& e : every_example()) {
            if (e.rewrite != r.name) continue;
            int const opset = r.until;
            for (aton::pattern_variant const& v : aton::variants_of(r.pattern)) {
                aton::graph_data with = instance(r, v, e, opset);
                aton::graph_data without = with;
                std::string const before = optimized(without, {});
                std::string const after = optimized(with, std::span(&r, 1));
                CAPTURE(r.name);
                CAPTURE(before);
                CAPTURE(after);
                CHECK((before != after) == e.applies);
                // Two of the nodes keep ONNX Runtime from hiding rows (src/passes/attention_masks.cpp).
                std::size_t const raised = after.find("Equal Where Attention") != std::string::npos ? 2 : 0;
                bool const is_of_target = r.name.find("tensorrt.") == 0;
                bool const is_among_heads = r.name.find("onnxruntime.attention_") == 0; // Transposes next to it cancel
                if (e.applies && !is_of_target && !is_among_heads)
                    CHECK(with.nodes.size() <= without.nodes.size() + raised);
            }
        }
}

TEST_CASE("an output of the graph inside a match keeps the match from being replaced") {
    for (aton::rewrite_entry const& r : every_rewrite())
        for (example const& e : every_example()) {
            auto const& nodes = r.pattern.nodes;
            bool const shares = std::any_of(nodes.begin(), nodes.end(), [](auto const& n) { return n.shared; });
            if (e.rewrite != r.name || !e.applies || shares) continue;
            aton::graph_data const graph = instance(r, aton::variants_of(r.pattern).front(), e, r.until);
            for (aton::graph_node const& n : graph.nodes) {
                if (std::find(graph.outputs.begin(), graph.outputs.end(), n.outputs[0]) != graph.outputs.end())
                    continue;
                aton::graph_data with = graph;
                with.outputs.push_back(n.outputs[0]);
                aton::graph_data without = with;
                CAPTURE(r.name);
                CAPTURE(n.op);
                CHECK(optimized(with, std::span(&r, 1)) == optimized(without, {}));
            }
        }
}

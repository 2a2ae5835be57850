// SPDX-License-Identifier: MIT
// The bytes of a model do not depend on the order in which its nodes and values were added.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <aton/aton.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/passes/passes.hpp>

#include "function_graph.hpp"
#include "random_nested.hpp"

using namespace aton::dsl;

namespace {

std::vector<aton::value_id> operands(aton::graph_node const& n) {
    std::vector<aton::value_id> out = n.inputs;
    for (aton::node_attribute const& a : n.attributes)
        for (aton::graph_data const& nested : a.graphs)
            for (aton::graph_value const& v : nested.values)
                if (v.outer != aton::no_value) out.push_back(v.outer);
    return out;
}

/// The same graph with nodes in another topological order, and with other numbers for all values and unnamed initializers.
void shuffle(aton::graph_data& g, std::mt19937_64& rng) {
    std::vector<aton::value_id> ids(g.values.size());
    std::iota(ids.begin(), ids.end(), aton::value_id{0});
    std::shuffle(ids.begin(), ids.end(), rng);
    auto const renumber = [&](aton::value_id& id) {
        if (id != aton::no_value) id = ids[id];
    };
    std::vector<aton::graph_node> nodes;
    std::vector<char> placed(g.nodes.size(), 0);
    auto const is_ready = [&](std::size_t i) {
        std::vector<aton::value_id> const read = operands(g.nodes[i]);
        return placed[i] == 0 && std::all_of(read.begin(), read.end(), [&](aton::value_id id) {
                   std::int64_t const from = id == aton::no_value ? -1 : g.values[id].producer;
                   return from < 0 || placed[static_cast<std::size_t>(from)] != 0;
               });
    };
    for (; nodes.size() != g.nodes.size();) {
        std::vector<std::size_t> ready;
        for (std::size_t i = 0; i != g.nodes.size(); ++i)
            if (is_ready(i)) ready.push_back(i);
        std::size_t const chosen = ready[rng() % ready.size()];
        placed[chosen] = 1;
        nodes.push_back(g.nodes[chosen]);
    }
    std::deque<aton::graph_value> values(g.values.size());
    for (std::size_t i = 0; i != ids.size(); ++i) values[ids[i]] = g.values[i];
    g.values = std::move(values);
    for (std::vector<aton::value_id>* list : {&g.inputs, &g.outputs})
        std::for_each(list->begin(), list->end(), renumber);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i != g.initializers.size(); ++i) {
        renumber(g.initializers[i].value);
        if (g.values[g.initializers[i].value].name.empty()) places.push_back(i);
    }
    for (std::size_t i = places.size(); i > 1; --i)
        std::swap(g.initializers[places[i - 1]], g.initializers[places[rng() % i]]);
    for (std::size_t i = 0; i != g.initializers.size(); ++i)
        g.values[g.initializers[i].value].initializer = static_cast<std::int64_t>(i);
    g.nodes = std::move(nodes);
    for (std::size_t i = 0; i != g.nodes.size(); ++i) {
        for (std::vector<aton::value_id>* list : {&g.nodes[i].inputs, &g.nodes[i].outputs})
            std::for_each(list->begin(), list->end(), renumber);
        for (aton::value_id id : g.nodes[i].outputs)
            if (id != aton::no_value) g.values[id].producer = static_cast<std::int64_t>(i);
        for (aton::node_attribute& a : g.nodes[i].attributes)
            for (aton::graph_data& nested : a.graphs) {
                for (aton::graph_value& v : nested.values) renumber(v.outer);
                shuffle(nested, rng);
            }
    }
    for (aton::graph_function& f : g.functions)
        for (aton::graph_data& body : f.body) shuffle(body, rng);
}

std::string bytes_of(aton::graph_data g) {
    order_canonically(g);
    return to_model_proto(g);
}

} // namespace

TEST_CASE("a model has the same bytes however the compiler orders calls that a row nests") {
    auto const exported = [](bool left_first) {
        aton::graph_data data;
        data.opset = 18;
        graph<18> const g(data, 18);
        value const x(data, data.add_input("x", {dtype::float32, {2, 3}}));
        value left, right;
        auto const make_left = [&] { left = g.op<"Mul">(x, g.scalar(2.0, dtype::float32)); };
        auto const make_right = [&] { right = g.op<"Exp">(g.op<"Mul">(x, g.scalar(3.0, dtype::float32))); };
        if (left_first) make_left(), make_right();
        else make_right(), make_left();
        data.outputs.push_back(g.op<"Sub">(left, right).id());
        std::deque<aton::stored_tensor> weights;
        optimize(data, weights);
        return data;
    };
    CHECK(to_model_proto(exported(true)) != to_model_proto(exported(false)));
    CHECK(bytes_of(exported(true)) == bytes_of(exported(false)));
}

TEST_CASE("nodes stay in the order of the program") {
    aton::graph_data data;
    data.opset = 18;
    graph<18> const g(data, 18);
    value const x(data, data.add_input("x", {dtype::float32, {2, 3}}));
    data.origins.resize(3);
    data.context.origin = 1;
    value const a = g.op<"Exp">(x);
    data.context.origin = 2;
    value const b = g.op<"Log">(x);
    data.outputs = {b.id(), a.id()}; // a walk from the outputs meets Log first
    order_canonically(data);
    REQUIRE(data.nodes.size() == 2);
    CHECK(data.nodes[0].op == "Exp");
    CHECK(data.nodes[1].op == "Log");
}

TEST_CASE("weights keep the order of their file, and constants take their first use's") {
    aton::graph_data data;
    data.opset = 18;
    graph<18> const g(data, 18);
    value const x(data, data.add_input("x", {dtype::float32, {2}}));
    std::vector<value> initial;
    for (char const* name : {"", "second", "", "first", ""}) {
        aton::value_id const id = data.add_value(aton::value_type{dtype::float32, {2}}, name);
        data.set_initializer(id, aton::tensor{dtype::float32, {2}, std::string(8, static_cast<char>(initial.size()))});
        initial.emplace_back(data, id);
    }
    value y = x;
    for (std::size_t i : {3U, 1U, 4U, 2U, 0U}) y = g.op<"Add">(y, initial[i]);
    data.outputs.push_back(y.id());
    order_canonically(data);
    std::string found;
    for (aton::graph_initializer const& i : data.initializers) {
        found += static_cast<char>('0' + i.data.bytes[0]);
        CHECK(data.constant(i.value) == &i.data);
    }
    CHECK(found == "41230"); // 1 and 3 have names
}

TEST_CASE("shuffled graphs with nested graphs and captured values become the same model") {
    std::size_t shuffled = 0;
    for (std::uint64_t seed = 0; seed != 120; ++seed) {
        CAPTURE(seed);
        aton::graph_data data = random_graphs::random_nested(seed, 18).data;
        std::deque<aton::stored_tensor> weights;
        if (seed % 2 == 0) optimize(data, weights);
        else remove_unused(data);
        std::string const expected = bytes_of(data);
        CHECK_NOTHROW(aton::check_model_bytes(expected));
        std::mt19937_64 rng(seed);
        for (int i = 0; i != 3; ++i) {
            aton::graph_data other = data;
            shuffle(other, rng);
            shuffled += to_model_proto(other) != to_model_proto(data) ? 1 : 0;
            CHECK(bytes_of(other) == expected);
        }
    }
    CHECK(shuffled > 200); // the test changes what it should
}

TEST_CASE("bodies of functions are ordered") {
    aton::graph_data const data = random_graphs::function_graph(18, false);
    std::string const expected = bytes_of(data);
    std::mt19937_64 rng(7);
    for (int i = 0; i != 20; ++i) {
        aton::graph_data other = data;
        shuffle(other, rng);
        CHECK(bytes_of(other) == expected);
    }
}

// SPDX-License-Identifier: MIT
// with_effects(token, operator, ...), which run_decompositions() writes for operators that must keep their order.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "json_tree.hpp"
#include "program_json.hpp"

namespace ordered_operators_test {

using namespace aton::tests;
using aton::program::node;
using aton::program::node_kind;
using aton::program::program;

TEST_CASE("an operator that a token orders is read as the operator itself") {
    auto const ordered = [](std::string_view inputs, std::string_view results) {
        json_tree t = parse_tree(small_program);
        json_tree& n = at_path(t, "graph_module.graph.nodes[1]");
        n = parse_tree(R"({"target": "torch.ops.higher_order.with_effects", "name": "relu", "metadata": {}})");
        std::string const token = R"([{"name": "", "arg": {"as_tensor": {"name": "tok"}}, "kind": 1}, )";
        add(n, "inputs", parse_tree(token + std::string(inputs) + "]"));
        add(n, "outputs", parse_tree(R"([{"as_tensor": {"name": "tok1"}}, )" + std::string(results) + "]"));
        return print_tree(t);
    };
    constexpr std::string_view relu = R"({"name": "", "arg": {"as_operator": "torch.ops.aten.relu.default"}}, )"
                                      R"({"name": "", "arg": {"as_tensor": {"name": "x"}}})";
    program const p = read_small(ordered(relu, R"({"as_tensor": {"name": "relu"}})"));
    CHECK(holds(p));
    node const& n = find_node(p, "relu");
    CHECK(n.op == "aten::relu");
    CHECK(n.kind == node_kind::aten);
    REQUIRE(n.arguments.size() == 1);
    CHECK(n.arguments[0].name == "self");
    REQUIRE(n.results.size() == 1);
    CHECK(p.values.at(n.results[0].values.at(0)).name == "relu");
    CHECK(json_error(ordered(R"({"name": "", "arg": {"as_int": 1}})", R"({"as_tensor": {"name": "relu"}})"))
              .find("with_effects requires a token and an operator") != std::string::npos);
    CHECK(json_error(ordered(relu, R"({"as_none": true}, {"as_tensor": {"name": "relu"}})"))
              .find("aten::relu has 1 results, but the node has 2") != std::string::npos);
}

TEST_CASE("an ordered operator without results has none") {
    json_tree t = parse_tree(small_program);
    json_tree& n = at_path(t, "graph_module.graph.nodes[1]");
    json_tree const before = n;
    n = parse_tree(R"({"target": "torch.ops.higher_order.with_effects", "name": "check", "metadata": {}, "inputs": [
        {"name": "", "arg": {"as_tensor": {"name": "tok"}}},
        {"name": "", "arg": {"as_operator": "torch.ops.aten._assert_async.msg"}},
        {"name": "", "arg": {"as_tensor": {"name": "x"}}}, {"name": "", "arg": {"as_string": "must be true"}}],
        "outputs": [{"as_tensor": {"name": "tok1"}}, {"as_none": true}]})");
    at_path(t, "graph_module.graph.nodes").values.insert(at_path(t, "graph_module.graph.nodes").values.begin(), before);
    program const p = read_small(print_tree(t));
    node const& check = find_node(p, "check");
    CHECK(check.op == "aten::_assert_async.msg");
    CHECK(check.results.empty());
    CHECK(check.arguments.at(1).name == "assert_msg");
}

} // namespace ordered_operators_test

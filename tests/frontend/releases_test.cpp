// SPDX-License-Identifier: MIT
// Programs of other releases of torch: calls of overloads whose schema is another there (tests/data/aten_releases.tsv, docs/drift.md).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/dsl/table.hpp>
#include <aton/mappings/built_in.hpp>

#include "frontend/pt2/renamed_arguments.hpp"

#include "json_tree.hpp"
#include "program_json.hpp"

using namespace aton::tests;
using aton::program::node;
using aton::program::program;

namespace {

struct schema_there {
    std::string overload;
    std::string releases;
    std::string schema; ///< "-": does not exist there; "+...": exists only there
};

std::vector<schema_there> all_schemas_there() {
    std::ifstream file(ATON_RELEASES);
    std::vector<schema_there> out;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::size_t const first = line.find('\t');
        std::size_t const second = line.find('\t', first + 1);
        REQUIRE(second != std::string::npos);
        out.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)});
    }
    return out;
}

bool has_row(std::string_view overload) {
    for (aton::dsl::table_view const table : aton::mappings::built_in_tables())
        for (aton::dsl::entry const& row : table)
            if (row.overload == overload) return true;
    return false;
}

std::vector<aton::aten::schema_argument> arguments_of(std::string_view schema) {
    std::vector<aton::aten::schema_argument> out;
    aton::aten::argument_cursor cursor{schema};
    for (aton::aten::schema_argument each; cursor.next(each);) out.push_back(each);
    return out;
}

/// "0.0" is "0.".
bool is_same_default(std::string_view a, std::string_view b) {
    auto const without_zero = [](std::string_view text) {
        return text.ends_with(".0") ? text.substr(0, text.size() - 1) : text;
    };
    return without_zero(a) == without_zero(b);
}

} // namespace

TEST_CASE("calls that other releases of torch write bind, with the same defaults") {
    std::set<std::string> unknown;  // arguments that are not in Aton's schema
    std::set<std::string> required; // arguments that other releases do not have, without a default
    std::set<std::string>
        optional; // arguments with a default there, but not here: calls that leave them out are refused
    int compared = 0;
    for (schema_there const& there : all_schemas_there()) {
        if (there.schema.starts_with('-') || there.schema.starts_with('+') || !has_row(there.overload)) continue;
        CAPTURE(there.schema);
        ++compared;
        auto const ours = arguments_of(aton::aten::find_schema(there.overload));
        std::set<std::string_view> given;
        for (aton::aten::schema_argument const& theirs : arguments_of(there.schema)) {
            std::string_view const name = aton::pt2::name_here(there.overload, theirs.name);
            auto const found =
                std::find_if(ours.begin(), ours.end(), [&](auto const& each) { return each.name == name; });
            given.insert(name);
            if (found == ours.end()) unknown.insert(there.overload + " " + std::string(theirs.name));
            else if (theirs.has_default && !found->has_default)
                optional.insert(there.overload + " " + std::string(name));
            else if (theirs.has_default) CHECK(is_same_default(theirs.default_text, found->default_text));
        }
        for (aton::aten::schema_argument const& each : ours)
            if (!each.has_default && !given.contains(each.name))
                required.insert(there.overload + " " + std::string(each.name));
    }
    CHECK(compared > 10);
    // torch 2.8 gave the number of dimensions instead of their sizes; such a call is refused by name.
    CHECK(unknown == std::set<std::string>{"aten::_fused_rms_norm normalized_shape_ndim"});
    CHECK(required == std::set<std::string>{"aten::_fused_rms_norm normalized_shape",
                                            "aten::_scaled_dot_product_cudnn_attention attn_bias", // before torch 2.5
                                            "aten::_scaled_dot_product_cudnn_attention compute_log_sumexp"});
    CHECK(optional == std::set<std::string>{"aten::_scaled_mm scale_a", "aten::_scaled_mm scale_b"}); // torch 2.4
}

TEST_CASE("a renamed argument is bound to the one with the same meaning") {
    json_tree tree = parse_tree(small_program);
    at_path(tree, "graph_module.graph.nodes[1].target") = parse_tree(R"("torch.ops.aten._cdist_backward.default")");
    at_path(tree, "graph_module.graph.nodes[1].inputs") = parse_tree(R"([
        {"name": "grad", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
        {"name": "x1", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
        {"name": "x2", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
        {"name": "p", "arg": {"as_float": 1.5}, "kind": 1},
        {"name": "cdist", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}])");
    program const p = read_small(print_tree(tree));
    node const& n = p.main.nodes[1];
    REQUIRE(n.op == "aten::_cdist_backward");
    REQUIRE(n.arguments.size() == 5);
    CHECK(n.arguments[0].name == "grad_output");
    CHECK(n.arguments[3].name == "p");
}

TEST_CASE("both names of an argument are a duplicate") {
    json_tree tree = parse_tree(small_program);
    at_path(tree, "graph_module.graph.nodes[1].target") = parse_tree(R"("torch.ops.aten._cdist_backward.default")");
    at_path(tree, "graph_module.graph.nodes[1].inputs") = parse_tree(R"([
        {"name": "grad", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
        {"name": "grad_output", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}])");
    std::string const what = json_error(print_tree(tree));
    CHECK_MESSAGE(what.find("duplicate argument 'grad_output' of aten::_cdist_backward") != std::string::npos, what);
}

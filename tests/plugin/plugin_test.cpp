// SPDX-License-Identifier: MIT
// Plugins loaded into this process: their rows, exceptions of their mappings, plugins of other compilers, and refusals.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/exporter/plugin.hpp>
#include <aton/passes/passes.hpp>
#include <aton/version.hpp>

#include "../faults.hpp"
#include "../program/program_builder.hpp"

namespace {

using namespace aton::dsl;
using aton::tests::contains;

std::string plugin_path(std::string const& name) { return ATON_TEST_PLUGINS "/lib" + name + ".so"; }

/// "" for the compiler of the build; the others are file suffixes, from a list with commas in the environment.
std::vector<std::string> compilers() {
    std::vector<std::string> all{""};
    char const* const others = std::getenv("ATON_OTHER_COMPILERS");
    std::istringstream names(others == nullptr ? "" : others);
    for (std::string each; std::getline(names, each, ',');) all.push_back("_" + each);
    return all;
}

/// The message without the path in front.
std::string load_fault(std::string const& path) {
    std::string const what = aton::tests::fault_of([&] { return aton::load_plugin(path); });
    CHECK(what.find('\n') == std::string::npos);
    REQUIRE(what.starts_with(path + ": "));
    return what.substr(path.size() + 2);
}

struct fixture {
    graph_data data;
    value x{data, data.add_input("x", {dtype::float32, {2, 3}})};

    std::vector<result> run(aton::plugin const& p, std::string_view overload, std::vector<argument> more = {}) {
        more.insert(more.begin(), argument::of_tensor(x));
        std::vector<table_view> const tables = p.tables();
        entry const* const row = find(tables, overload, 20);
        REQUIRE(row != nullptr);
        return convert(data, *row, 20, std::move(more));
    }
    std::string refusal(aton::plugin const& p, std::string_view overload) {
        try {
            (void)run(p, overload);
        } catch (aton::unsupported_error const& e) {
            return std::string("unsupported: ") + e.what();
        } catch (aton::illegal_call const& e) {
            return std::string("illegal: ") + e.what();
        } catch (aton::error const& e) {
            return std::string("error: ") + e.what();
        } catch (std::bad_alloc const&) {
            return "no memory";
        }
        return "nothing was thrown";
    }
};

std::string shown(entry const& e) {
    std::string out = std::string(e.schema) + ' ' + std::to_string(e.since) + '-' + std::to_string(e.until);
    for (std::uint8_t position : e.named) out += ' ' + std::to_string(position);
    return out + (e.overrides ? " overrides" : "");
}

} // namespace

TEST_CASE("the version of the headers is that of the project") { CHECK(aton::version == ATON_PROJECT_VERSION); }

TEST_CASE("the rows of a plugin are those of its tables, for every compiler") {
    for (std::string const& compiler : compilers()) {
        CAPTURE(compiler);
        aton::plugin const p = aton::load_plugin(plugin_path("custom_plugin" + compiler));
        CHECK(p.path() == plugin_path("custom_plugin" + compiler));
        std::vector<std::string> rows;
        for (table_view const& table : p.tables())
            for (entry const& e : table) rows.push_back(shown(e));
        std::string const last = std::to_string(newest);
        CHECK(rows ==
              std::vector<std::string>{
                  "custom_ops::foo_forward(Tensor x, Tensor y, float a, int b) -> Tensor 13-" + last + " 0 1 2 3",
                  "mylib::my_relu(Tensor input) -> Tensor 13-" + last + " 0",
                  "mylib::my_clip(Tensor input, float min, float? max=None) -> Tensor 13-" + last + " 0 1 2",
                  "mylib::extremes(Tensor input, SymInt dim) -> (Tensor, Tensor) 13-17 0 1",
                  "mylib::extremes(Tensor input, SymInt dim) -> (Tensor, Tensor) 18-" + last + " 0 1",
                  "mylib::parts(Tensor input, SymInt[] sizes) -> Tensor[] 13-" + last + " 0 1",
                  "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor 13-" + last +
                      " 0 1 overrides"});
    }
}

TEST_CASE("rewrites of a plugin are applied, refuse and fail, for every compiler") {
    for (std::string const& compiler : compilers()) {
        CAPTURE(compiler);
        aton::plugin const p = aton::load_plugin(plugin_path("rewriting_plugin" + compiler));
        REQUIRE(p.rewrites().size() == 4);
        CHECK(p.rewrites()[0].name == "mine.double");
        CHECK(p.tables()[0].size() == 1);
        auto const ops = [&](auto const& build) {
            fixture f;
            f.data.opset = 20;
            f.data.outputs.push_back(value(build(graph<13>(f.data, 20), f.x)).id());
            std::deque<aton::stored_tensor> weights;
            aton::optimize(f.data, weights, {.rewrites = p.rewrites()});
            std::string all;
            for (auto const& n : f.data.nodes) all += n.op + ' ';
            return all;
        };
        CHECK(ops([](auto g, value x) { return g.template op<"Add">(x, x); }) == "Mul ");
        CHECK(ops([](auto g, value x) { return g.template op<"Sin">(g.template op<"Cos">(x)); }) == "Cos Sin ");
        CHECK(aton::tests::fault_of([&] {
                  return ops([](auto g, value x) { return g.template op<"Cos">(g.template op<"Sin">(x)); });
              }) == "rewrite mine.throws: out of luck");

        namespace pr = aton::program;
        pr::program_builder made;
        pr::value_index const x = made.input(pr::input_kind::user, "x", {2, 3});
        pr::value_index const positive = made.add("aten::relu", {pr::tensor("self", x)}, {2, 3});
        made.output(made.add("mine::scaled", {pr::tensor("x", positive), pr::real("by", 0.5)}, {2, 3}));
        aton::export_options options;
        CHECK(aton::find_unconvertible(made.p, options).size() == 1);
        options.rewrites = {p.rewrites()};
        aton::graph_data const graph = aton::convert_program(made.p, options);
        REQUIRE(graph.nodes.size() == 1);
        CHECK(graph.nodes[0].op == "ThresholdedRelu");
    }
}

TEST_CASE("a row of a plugin that declines leaves the call to the next plugin, across compilers") {
    for (std::string const& compiler : compilers()) {
        CAPTURE(compiler);
        fixture f;
        aton::plugin const declining = aton::load_plugin(plugin_path("declining_plugin" + compiler));
        aton::plugin const custom = aton::load_plugin(plugin_path("custom_plugin"));
        std::vector<table_view> const tables{declining.tables()[0], custom.tables()[0]};
        (void)convert(f.data, tables, "aten::add.Tensor", 20, {argument::of_tensor(f.x), argument::of_tensor(f.x)});
        CHECK(f.data.nodes.size() == 2);
        CHECK(f.data.nodes.back().op == "Sub");
        CHECK(f.data.opset_imports.empty());
        CHECK(f.data.values.size() == 3);
        CHECK_THROWS_AS((void)f.run(declining, "aten::add.Tensor", {argument::of_tensor(f.x)}), aton::declined);
    }
}

TEST_CASE("a mapping of a plugin builds nodes in our graph and returns values") {
    for (std::string const& compiler : compilers()) {
        CAPTURE(compiler);
        fixture f;
        {
            aton::plugin const p = aton::load_plugin(plugin_path("custom_plugin" + compiler));
            auto const foo = f.run(p,
                                   "custom_ops::foo_forward",
                                   {argument::of_tensor(f.x), argument::of_number(0.1), argument::of_number(3)});
            REQUIRE(foo.size() == 1);
            CHECK(f.data.nodes.back().op == "Add");
            CHECK(f.data.nodes.back().source == "custom_ops::foo_forward");
            CHECK(foo[0].single->shape() == aton::shape{2, 3});
            auto const parts = f.run(p, "mylib::parts", {argument::of_numbers({1, 2})});
            REQUIRE(parts.size() == 1);
            REQUIRE(parts[0].is_list);
            REQUIRE(parts[0].list.size() == 2);
            CHECK(parts[0].list[1].shape() == aton::shape{2, 2});
            auto const extremes = f.run(p, "mylib::extremes", {argument::of_number(-1)});
            REQUIRE(extremes.size() == 2);
            CHECK(extremes[1].single->shape() == aton::shape{2});
            f.data.context.module = "inner";
            f.data.context.expected = {{dtype::float32, {"rows", 3}}};
            CHECK(f.run(p, "mylib::my_relu")[0].single->shape() == aton::shape{"rows", 3});
        } // its nodes stay when it is unloaded
        CHECK(f.data.nodes.back().op == "Clip");
        CHECK(to_string(f.data).size() > 100);
    }
}

TEST_CASE("exceptions of mappings are converted to ours") {
    for (std::string const& compiler : compilers()) {
        CAPTURE(compiler);
        std::string const path = plugin_path("throwing_plugin" + compiler);
        aton::plugin const p = aton::load_plugin(path);
        fixture f;
        CHECK(f.refusal(p, "fail::refuses") == "unsupported: fail::refuses (opset 20): this way");
        CHECK(f.refusal(p, "fail::is_wrong") == "error: all wrong");
        CHECK(f.refusal(p, "fail::throws") ==
              "error: fail::throws (" + path + "): the mapping threw an exception (std::out_of_range): one two");
        CHECK(f.refusal(p, "fail::throws_a_number") ==
              "error: fail::throws_a_number (" + path + "): the mapping threw something that is not a std::exception");
        CHECK(f.refusal(p, "fail::throws_a_long_text").size() < 400 + path.size());
        CHECK(f.refusal(p, "fail::has_no_memory") == "no memory");
        f.data.context.node_name = "works_7";
        f.data.context.module = "net.layer1";
        f.data.context.source = "net.py:3 in forward";
        CHECK(f.refusal(p, "fail::shows_its_context") ==
              "unsupported: fail::shows_its_context (opset 20): fail::shows_its_context|works_7|net.layer1|net.py:3 in "
              "forward|2|3");
        CHECK(f.data.context.arguments().empty());
        CHECK_NOTHROW(f.run(p, "fail::works"));
        f.x.set_type({dtype::int32, {2, 3}});
        CHECK(contains(f.refusal(p, "fail::is_illegal"), "illegal: fail::is_illegal: onnx::Sin (opset 20): input"));
    }
}

TEST_CASE("tables of the same name and type in two plugins are separate, and plugins are unloaded") {
    fixture f;
    for (int round = 0; round != 2; ++round) {
        aton::plugin const a = aton::load_plugin(plugin_path("namesake_abs"));
        aton::plugin b = aton::load_plugin(plugin_path("namesake_neg"));
        aton::plugin const moved = std::move(b);
        f.run(a, "same::op");
        CHECK(f.data.nodes.back().op == "Abs");
        f.run(moved, "same::op");
        CHECK(f.data.nodes.back().op == "Neg");
        CHECK(contains(f.refusal(a, "same::op"), "called 2 times"));
        CHECK(contains(f.refusal(moved, "same::op"), "called 2 times"));
    }
}

TEST_CASE("a plugin of another version is refused before its rows are read") {
    CHECK(load_fault(plugin_path("old_plugin")) == "built against Aton 0.0.9, but this is Aton " +
                                                       std::string(aton::version) +
                                                       "; rebuild it with the headers of this version");
    CHECK(contains(load_fault(plugin_path("hostile_4")), "built against Aton 99.1.2, but this is Aton"));
}

TEST_CASE("files that are not plugins are refused in one line") {
    CHECK(load_fault("no/such/libfile.so") == "no such file");
    CHECK(load_fault("") == "no such file");
    CHECK(load_fault(ATON_TEST_PLUGINS) == "is a folder, not a plugin");
    CHECK(load_fault("/dev/null") == "is not a regular file");
    std::filesystem::path const folder = std::filesystem::temp_directory_path() / "aton_plugin_test";
    std::filesystem::create_directories(folder);
    std::string const file = (folder / "libfile.so").string();
    auto const holding = [&](std::string const& content) {
        std::ofstream(file, std::ios::binary) << content;
        return load_fault(file);
    };
    CHECK(contains(holding(""), "cannot be loaded as a shared library: "));
    CHECK(contains(holding("just text\n"), "cannot be loaded as a shared library: "));
    std::ifstream in(plugin_path("custom_plugin"), std::ios::binary);
    std::string const whole((std::istreambuf_iterator<char>(in)), {});
    REQUIRE(whole.size() > 1000);
    CHECK(contains(holding(whole.substr(0, 200)), "cannot be loaded as a shared library: "));
    std::filesystem::remove_all(folder);
    CHECK(contains(load_fault(plugin_path("hostile_43")), "not an Aton plugin: it has no symbol 'aton_plugin'"));
}

TEST_CASE("a malformed description is refused, not followed") {
    struct wrong {
        int number;
        std::string expected;
    };
    wrong const all[] = {
        {1, "malformed: it differs from what ATON_PLUGIN generates"},
        {2, "malformed: it differs from"},
        {3, "malformed: its version is not a valid string"},
        {5, "built with libother, ABI 7, but this Aton with lib"},
        {6, "the layout of its structures differs from that of this Aton"},
        {7, "malformed: it claims to have 1 rows"},
        {8, "malformed: it claims to have 0 rows"},
        {9, "malformed: it claims to have 18446744073709551615 rows"},
        {10, "malformed: it claims to have 99999 rows"},
        {11, "malformed: it has no function that runs rows"},
        {12, "malformed: hostile::op: two rows of the table cover opset 13"},
        {20, "malformed: its name of row 1 is not a valid string"},
        {21, "malformed: its schema of row 1 is not a valid string"},
        {22, "malformed: its schema of row 1 is not a valid string"},
        {23, "malformed: its name of row 1 is not a valid string"},
        {24, "malformed: row 1 (hostile::op) has a schema that does not declare it"},
        {25, "malformed: row 1 (hostile::another) has a schema that does not declare it"},
        {26, "malformed: row 1 (hostile::op) names arguments that its schema does not have"},
        {27, "malformed: row 1 (hostile::op) names arguments"},
        {28, "malformed: row 1 (hostile::op) names arguments"},
        {29, "malformed: row 1 (hostile::op) covers opsets 0 to 28"},
        {30, "malformed: row 1 (hostile::op) covers opsets 13 to 1000"},
        {31, "malformed: row 1 (hostile::op) covers opsets 13 to 12"},
        {32, "malformed: row 1 (aten::relu) has a different schema than torch"},
        {33, "malformed: its name of row 1 is not a valid string"},
        {40, "malformed: it differs from"},
        {41, "malformed: it differs from"},
        {42, "malformed: its version is not a valid string"},
        {44, "malformed: its version is not a valid string"},
        {50, "malformed: rewrite 1 has parts that do not exist"}, // a node before its operand
        {51, "malformed: rewrite 1 has parts that do not exist"}, // alternatives that are themselves
        {52, "malformed: rewrite 1 has parts that do not exist"}, // an attribute with integers that do not exist
        {53, "malformed: rewrite 1 has parts that do not exist"}, // operands that do not exist
        {54, "malformed: rewrite 1 has parts that do not exist"}, // a capture of no kind
        {55, "malformed: its name of rewrite 1 is not a valid string"},
        {56, "malformed: rewrite 1 is not one that rewrite<...> makes"},
        {57, "malformed: rewrite 1 covers opsets 0 to 28"},
        {58, "malformed: rewrite 1 has parts that do not exist"}, // a result that does not exist
        {59, "malformed: it claims to have 18446744073709551615 rewrites"},
        {60, "malformed: it claims to have 1 rewrites"},
        {61, "malformed: rewrite 1 has parts that do not exist"}, // a call without an argument of its schema
        {62, "malformed: rewrite 1 has parts that do not exist"}, // a call of a node
        {63, "malformed: rewrite 1 has parts that do not exist"}, // a list that contains itself
        {64, "malformed: rewrite 1 has parts that do not exist"}, // a dtype that does not exist
    };
    for (wrong const& each : all) {
        CAPTURE(each.number);
        std::string const said = load_fault(plugin_path("hostile_" + std::to_string(each.number)));
        CHECK_MESSAGE(contains(said, each.expected), said);
    }
    // The same file without an error is a plugin.
    fixture f;
    aton::plugin const fine = aton::load_plugin(plugin_path("hostile_0"));
    CHECK(f.refusal(fine, "hostile::op") == "unsupported: hostile::op (opset 20): has run");
}

namespace {

constexpr auto relu = [](graph<13, 15> g, value x) { return g.op<"Abs">(x); };
constexpr auto old_relu = [](graph<6, 6> g, value x) { return g.op<"Abs">(x); };
constexpr auto mine = [](graph<14> g, value x) { return g.op<"Abs">(x); };
constexpr auto hides = table(symbolic<"aten::relu(self)">(relu));
constexpr auto overrides = table(override_<"aten::relu(self)">(relu));
constexpr auto earlier = table(symbolic<"aten::relu(self)">(old_relu));
constexpr auto first = table(symbolic<"my::op(Tensor x) -> Tensor">(relu));
constexpr auto second = table(symbolic<"my::op(Tensor x) -> Tensor">(mine));
constexpr auto first_overrides = table(override_<"my::op(Tensor x) -> Tensor">(relu));

std::string table_fault(std::vector<table_view> const& tables) {
    try {
        aton::check_tables(tables);
    } catch (aton::error const& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST_CASE("a row that shadows another one needs override_") {
    CHECK(table_fault({}).empty());
    CHECK(table_fault({hides}) == "the row aten::relu of table 1 hides the built-in one at opsets 13 to 15; if this is "
                                  "intended, write override_<...> instead of symbolic<...>");
    CHECK(table_fault({overrides}).empty());
    CHECK(table_fault({earlier}).empty()); // the built-in row starts at 7
    CHECK(contains(table_fault({first, overrides, second}),
                   "the row my::op of table 1 hides the row of table 3 at opsets 14 to 15; if"));
    CHECK(contains(table_fault({second, first_overrides}), "the row my::op of table 1 hides the row of table 2 at"));
    CHECK(table_fault({first_overrides, second}).empty());
    CHECK(contains(table_fault({first, first}), "of table 1 hides the row of table 2 at opsets 13 to 15"));
}

TEST_CASE("an export with a table that hides a built-in row is refused before anything is converted") {
    aton::export_options options;
    aton::program::program const empty; // also refused, but later
    auto const fault = [&](auto const& work) {
        try {
            (void)work(empty, options);
        } catch (aton::error const& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    options.tables = {hides};
    CHECK(contains(fault(aton::convert_program), "hides the built-in one"));
    CHECK(contains(fault(aton::find_unconvertible), "hides the built-in one"));
    options.tables = {overrides};
    CHECK(contains(fault(aton::convert_program), "the program returns nothing"));
}

// SPDX-License-Identifier: MIT
// Custom operators that write to their arguments, and the auto_functionalized nodes that run them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "program_builder.hpp"

using namespace aton::program;

namespace {

std::string_view schema_of(std::string_view op) {
    if (op == "m::bump_") return "m::bump_(Tensor(a!) x, float by) -> ()";
    if (op == "m::same_") return "m::same_(Tensor(a!) x) -> Tensor(a!)";
    if (op == "m::view_") return "m::view_(Tensor(a!) x) -> Tensor(a)";
    if (op == "m::both") return "m::both(Tensor(a!) x, Tensor y, Tensor(b!)? z) -> Tensor";
    if (op == "m::out") return "m::out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)";
    if (op == "m::peek") return "m::peek(Tensor(a) x) -> Tensor(a)";
    return {};
}

void with_schemas(program& p) { functionalize(p, schema_of); }

argument op(std::string name) { return argument::of_op(std::move(name)); }

node const& last_of(program_builder const& b, std::string const& op) {
    node const* found = nullptr;
    for (node const& n : b.p.main.nodes)
        if (n.op == op) found = &n;
    REQUIRE(found != nullptr);
    return *found;
}

} // namespace

TEST_CASE("the new value replaces the tensor that was written to") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const y = b.add("aten::relu", {tensor("self", x)}, {3, 4});
    b.add_node("m::bump_", {tensor("x", y), real("by", 3)}, {});
    b.output(y);
    with_schemas(b.p);
    node const& made = last_of(b, "m::bump_");
    CHECK(made.is_functional);
    REQUIRE(made.results.size() == 1);
    CHECK(argument_of(made, "x").tensor == y);
    CHECK(b.p.main.outputs.back().tensor == made.results[0].values.front());
    CHECK(made.results[0].values.front() != y);
    with_schemas(b.p); // is idempotent
    CHECK(b.ops() == strings{"aten::relu", "m::bump_"});
}

TEST_CASE("a write to a view is put back, and a write to an input becomes an output") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const row = b.add("aten::select.int", {tensor("self", x), integer("dim", 0), integer("index", 1)}, {4});
    b.add_node("m::bump_", {tensor("x", row), real("by", 3)}, {});
    b.output(row);
    with_schemas(b.p);
    CHECK(b.ops() == strings{"aten::select.int", "m::bump_", "aten::select_scatter"});
    REQUIRE(b.p.outputs.size() == 2);
    CHECK(b.p.outputs[0].kind == output_kind::input_mutation);
}

TEST_CASE("a result with the alias set of an argument is its new value") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const y = b.add("aten::relu", {tensor("self", x)}, {3});
    value_index const z = b.add("m::same_", {tensor("x", y)}, {3});
    b.add_node("aten::add_.Scalar", {tensor("self", z), integer("other", 1)}, {b.value_of("w", {3})});
    b.output(y);
    with_schemas(b.p);
    CHECK(last_of(b, "m::same_").results.size() == 1);
    CHECK(b.producer(b.p.main.outputs.back().tensor)->op == "aten::add.Scalar");
}

TEST_CASE("results come first, then new values in the order of the schema, except for None") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const y = b.add("aten::relu", {tensor("self", x)}, {3});
    argument const none = argument::none().named("z");
    b.add("m::both", {tensor("x", y), tensor("y", x), none}, {});
    b.output(y);
    with_schemas(b.p);
    node const& made = last_of(b, "m::both");
    REQUIRE(made.results.size() == 3);
    CHECK(b.p.main.outputs.back().tensor == made.results[1].values.at(0));
    CHECK(made.results[2].values.empty());
}

TEST_CASE("arguments that share memory are refused, unless they do not overlap") {
    auto const call = [](numbers const& first, numbers const& second) {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {4, 6});
        value_index const y = b.add("aten::relu", {tensor("self", x)}, {4, 6});
        auto const part = [&](numbers const& of) {
            return b.add("aten::slice.Tensor",
                         {tensor("self", y), integer("dim", of[0]), integer("start", of[1]), integer("end", of[2])},
                         of[0] == 0 ? numbers{of[2] - of[1], 6} : numbers{4, of[2] - of[1]});
        };
        value_index const a = part(first);
        b.add("m::both", {tensor("x", a), tensor("y", part(second))}, {});
        b.output(y);
        return message_of(with_schemas, b.p);
    };
    CHECK(call({0, 0, 2}, {0, 2, 4}) == "no error");
    CHECK(call({1, 4, 6}, {1, 0, 4}) == "no error");
    CHECK(is_said(call({0, 0, 3}, {0, 2, 4}), "writes to its argument x, which shares memory with its argument y"));
    CHECK(is_said(call({0, 0, 2}, {1, 2, 4}), "pass a clone()"));
    CHECK(is_said(call({0, 0, 2}, {0, 0, 2}), "m::both"));
}

TEST_CASE("a custom view is recomputed after a write to the viewed tensor") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const y = b.add("aten::relu", {tensor("self", x)}, {3});
    value_index const v = b.add("m::peek", {tensor("x", y)}, {3});
    b.add_node("m::bump_", {tensor("x", y), real("by", 3)}, {});
    b.output(v);
    with_schemas(b.p);
    CHECK(b.ops() == strings{"aten::relu", "m::peek", "m::bump_", "m::peek"});
    remove_dead_nodes(b.p); // by its schema, it does not write
    CHECK(b.ops() == strings{"aten::relu", "m::bump_", "m::peek"});
    program_builder bad;
    value_index const z = bad.input(input_kind::user, "z", {3});
    bad.output(bad.add("m::view_", {tensor("x", z)}, {3}));
    CHECK(is_said(message_of(with_schemas, bad.p), "a result is a view of one"));
}

TEST_CASE("auto_functionalized_v2 becomes a call on copies, with and without a schema") {
    for (bool const known : {true, false}) {
        CAPTURE(known);
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 4});
        value_index const y = b.input(input_kind::user, "y", {4});
        value_index const sum = b.value_of("sum", {});
        value_index const now = b.value_of("now", {3, 4});
        b.add_node("higher_order::auto_functionalized_v2",
                   {op("m::both"),
                    tensor("y", y),
                    integer("_x_base_index", 0),
                    integers("_x_size", {4}),
                    integers("_x_stride", {1}),
                    integer("_x_storage_offset", 4),
                    argument::none().named("_z_base_index"),
                    tensors("_all_bases", {x})},
                   {sum, now});
        b.output(now);
        b.output(sum);
        if (known) with_schemas(b.p);
        else functionalize(b.p);
        CHECK(b.ops() == strings{"aten::clone", "aten::select.int", "m::both", "aten::select_scatter"});
        node const& made = last_of(b, "m::both");
        CHECK(made.arguments[known ? 0 : 1].name == "x");
        CHECK(made.results.size() == 3);
        CHECK(made.results[0].values.front() == sum);
        CHECK(b.p.outputs.size() == 2); // the input is not mutated
    }
}

TEST_CASE("out tensors of auto_functionalized_v2 are created") {
    for (bool const known : {true, false}) {
        CAPTURE(known);
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 4});
        value_index const made = b.value_of("made", {4});
        b.add_node("higher_order::auto_functionalized_v2",
                   {op("m::out"),
                    tensor("x", x),
                    integers("_out_size", {4}),
                    integers("_out_stride", {1}),
                    type("_out_dtype", aton::dtype::float32),
                    text("_out_device", "cpu"),
                    tensors("_all_bases", {})},
                   {made});
        b.output(made);
        if (known) with_schemas(b.p);
        else functionalize(b.p);
        CHECK(b.ops() == strings{"aten::empty.memory_format", "m::out"});
        CHECK(last_of(b, "m::out").results.size() == 1);
        CHECK(b.p.main.outputs.back().tensor == made);
    }
}

TEST_CASE("auto_functionalized without a schema becomes a functional call") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const now = b.value_of("now", {3});
    b.add_node("higher_order::auto_functionalized", {op("m::unknown_"), tensor("x", x), real("by", 2)}, {now});
    b.p.main.nodes.back().results.insert(b.p.main.nodes.back().results.begin(), result{});
    b.output(now);
    functionalize(b.p);
    node const& made = last_of(b, "m::unknown_");
    CHECK(made.is_functional);
    REQUIRE(made.results.size() == 1);
    CHECK(made.results[0].values.front() == now);
    CHECK(made.arguments.size() == 2);
}

TEST_CASE("inconsistent auto_functionalized nodes are refused with one line") {
    auto const said = [](std::vector<argument> arguments, std::size_t results = 2) {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 4});
        arguments.push_back(tensors("_all_bases", {x}));
        std::vector<value_index> made;
        for (std::size_t i = 0; i != results; ++i) made.push_back(b.value_of(std::to_string(i), {3, 4}));
        b.add_node("higher_order::auto_functionalized_v2", std::move(arguments), made);
        for (value_index v : made) b.output(v);
        std::string const what = message_of(with_schemas, b.p);
        CHECK(what.find('\n') == std::string::npos);
        return what;
    };
    CHECK(is_said(said({}), "the operator that it runs is not recorded"));
    CHECK(is_said(said({op("nothing")}), "the operator that it runs is not recorded"));
    CHECK(is_said(said({op("m::same_")}), "its row has the arguments x, but the program calls it with none"));
    CHECK(is_said(said({op("m::same_"), integer("_x_base_index", 1)}), "is not the index of a base tensor"));
    CHECK(is_said(said({op("m::same_"), integer("_x_base_index", -1)}), "is not the index of a base tensor"));
    CHECK(is_said(said({op("m::same_"), integer("_x_base_index", 0)}, 0), "fewer results than copied tensors"));
    CHECK(is_said(said({op("m::same_"), integer("_x_base_index", 0)}, 1), "has 0 results, but its row has 1"));
    CHECK(is_said(said({op("m::same_"), integer("_x_base_index", 0), integer("wrong", 0)}),
                  "its row has the arguments x, but the program calls it with wrong, x"));
    auto const sliced = [&](std::int64_t dim, std::int64_t start, std::int64_t end) {
        return said({op("m::same_"),
                     integer("_x_base_index", 0),
                     integer("_x_slice_dim", dim),
                     integer("_x_slice_start", start),
                     integer("_x_slice_end", end)});
    };
    CHECK(sliced(1, 1, 3) == "no error");
    for (auto const& [dim, start, end] :
         {std::array<std::int64_t, 3>{2, 0, 1}, {-1, 0, 1}, {0, 2, 1}, {0, -1, 2}, {0, 0, 4}})
        CHECK(is_said(sliced(dim, start, end), "do not describe a view of its base"));
    CHECK(is_said(said({op("m::same_"),
                        integer("_x_base_index", 0),
                        integers("_x_size", {2}),
                        integers("_x_stride", {1, 1}),
                        integer("_x_storage_offset", 0)}),
                  "do not describe a view of its base"));
    CHECK(is_said(said({op("m::unknown_"), integer("_xs_length", 1 << 30)}), "is not a length"));
}

TEST_CASE("S1: a written argument that the program has under another name is refused") {
    auto const said = [](std::vector<argument> const& arguments, std::vector<value_index> const& results = {}) {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 4});
        value_index const y = b.add("aten::relu", {tensor("self", x)}, {3, 4});
        std::vector<argument> given;
        for (argument const& each : arguments)
            given.push_back(each.kind == argument_kind::none ? tensor(each.name, y) : each);
        b.add_node("m::bump_", given, results);
        b.output(y);
        std::string const what = message_of(with_schemas, b.p);
        CHECK(what.find('\n') == std::string::npos);
        return what;
    };
    auto const of_y = [](std::string const& name) { return argument::none().named(name); };
    CHECK(said({of_y("x"), real("by", 3)}) == "no error");
    CHECK(is_said(said({of_y("result"), real("by", 3)}),
                  "its row has the arguments x, by, but the program calls it with result, by; write the "
                  "operator's own schema in the row"));
    CHECK(is_said(said({of_y("x"), real("factor", 3)}), "but the program calls it with x, factor"));
    CHECK(is_said(said({of_y("x")}), "but the program calls it with x;")); // `by` has no default
    CHECK(is_said(said({of_y(""), real("by", 3)}), "an unnamed one, by"));
    CHECK(is_said(said({real("by", 3)}), "its row has the arguments x, by"));
}

TEST_CASE("S1: a call with another number of results than its row is refused") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const y = b.add("aten::relu", {tensor("self", x)}, {3, 4});
    value_index const z = b.add("m::bump_", {tensor("x", y), real("by", 3)}, {3, 4});
    b.output(z);
    CHECK(is_said(message_of(with_schemas, b.p), "has 1 result, but its row has 0"));
}

TEST_CASE("S1, S2: a decomposed call that writes to something else than its row says is refused") {
    auto const said = [](std::string const& name, std::vector<argument> arguments) {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 4});
        value_index const y = b.input(input_kind::user, "y", {3, 4});
        std::vector<value_index> bases;
        for (argument& a : arguments)
            if (a.name.ends_with("_base_index")) bases.push_back(bases.empty() ? x : y);
            else if (a.kind == argument_kind::none) a = tensor(a.name, y);
        arguments.insert(arguments.begin(), op(name));
        arguments.push_back(tensors("_all_bases", bases));
        std::vector<value_index> now;
        for (std::size_t i = 0; i != bases.size(); ++i) now.push_back(b.value_of("now" + std::to_string(i), {3, 4}));
        b.add_node("higher_order::auto_functionalized_v2", std::move(arguments), now);
        auto& results = b.p.main.nodes.back().results;
        if (name == "m::both") results.insert(results.begin(), result{{b.value_of("own", {})}, false});
        else results.insert(results.begin(), result{});
        for (value_index v : now) b.output(v);
        std::string const what = message_of(with_schemas, b.p);
        CHECK(what.find("damaged") == std::string::npos);
        return what;
    };
    CHECK(said("m::bump_", {integer("_x_base_index", 0), real("by", 3)}) == "no error");
    CHECK(is_said(said("m::bump_", {integer("_result_base_index", 0), real("by", 3)}),
                  "its row has the arguments x, by, but the program calls it with by, result"));
    CHECK(is_said(said("m::bump_", {integer("_x_base_index", 0), real("factor", 3)}), "calls it with factor, x"));
    CHECK(said("m::both", {integer("_x_base_index", 0), argument::none().named("y"), integer("_z_base_index", 1)}) ==
          "no error");
    CHECK(is_said(
        said("m::both", {integer("_x_base_index", 0), integer("_y_base_index", 1), argument::none().named("z")}),
        "writes to its argument y, which its row only reads; mark it with !"));
    CHECK(is_said(
        said("m::both", {integer("_z_base_index", 0), argument::none().named("y"), argument::none().named("x")}),
        "only reads its argument x, which its row marks as written"));
}

TEST_CASE("S1, S2: auto_functionalized with other arguments than its row is refused") {
    auto const said = [](std::vector<argument> arguments, std::size_t copies) {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3});
        for (argument& a : arguments)
            if (a.kind == argument_kind::none) a = tensor(a.name, x);
        arguments.insert(arguments.begin(), op("m::bump_"));
        std::vector<value_index> now;
        for (std::size_t i = 0; i != copies; ++i) now.push_back(b.value_of("now" + std::to_string(i), {3}));
        b.add_node("higher_order::auto_functionalized", std::move(arguments), now);
        b.p.main.nodes.back().results.insert(b.p.main.nodes.back().results.begin(), result{});
        for (value_index v : now) b.output(v);
        return message_of(with_schemas, b.p);
    };
    CHECK(said({argument::none().named("x"), real("by", 2)}, 1) == "no error");
    CHECK(is_said(said({argument::none().named("result"), real("by", 2)}, 1),
                  "but the program calls it with result, by"));
    CHECK(is_said(said({argument::none().named("x"), real("by", 2)}, 2),
                  "writes to 2 arguments, but its row marks 1 as written (x)"));
}

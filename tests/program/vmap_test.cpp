// SPDX-License-Identifier: MIT
// inline_wrappers(): hidden dimensions of torch.vmap become ordinary ones, or the program is refused. Results are compared with torch's in
// tests/models/zoo_vmap.py.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/program/program.hpp>

#include "program_builder.hpp"

using namespace aton::program;

namespace {

constexpr char const* add_dim = "torch._functorch.predispatch._add_batch_dim";
constexpr char const* remove_dim = "torch._functorch.predispatch._remove_batch_dim";

struct mapped_program : program_builder {
    value_index x = input(input_kind::user, "x", {2, 7, 3});
    value_index y = input(input_kind::user, "y", {3});

    value_index hidden(value_index v, std::int64_t dim, std::int64_t level, numbers const& sizes) {
        return add(add_dim, {tensor("", v), integer("", dim), integer("", level)}, sizes);
    }
    value_index shown(value_index v, std::int64_t level, std::int64_t size, std::int64_t dim, numbers const& sizes) {
        return add(remove_dim, {tensor("", v), integer("", level), integer("", size), integer("", dim)}, sizes);
    }
    [[nodiscard]] numbers sizes_of(value_index v) const {
        numbers out;
        for (extent const& each : p.values[v].sizes) out.push_back(each.number);
        return out;
    }
    std::string refusal() {
        try {
            inline_wrappers(p);
        } catch (aton::error const& e) {
            return e.what();
        }
        return "";
    }
};

} // namespace

TEST_CASE("a hidden dimension comes first, and operators with dimensions leave it alone") {
    mapped_program b;
    b.add_node("torch._functorch.predispatch._vmap_increment_nesting", {integer("", 7), text("", "error")}, {});
    value_index const inner = b.hidden(b.x, 1, 1, {2, 3});
    value_index const sum = b.add("aten::sum.dim_IntList", {tensor("self", inner), integers("dim", {0})}, {3});
    value_index const added = b.add("aten::add.Tensor", {tensor("self", sum), tensor("other", b.y)}, {3});
    b.output(b.shown(added, 1, 7, -1, {3, 7}));
    inline_wrappers(b.p);
    REQUIRE(b.ops() == strings{"aten::movedim.int", "aten::sum.dim_IntList", "aten::add.Tensor", "aten::movedim.int"});
    CHECK(argument_of(b.p.main.nodes[0], "source").number.integer() == 1);
    CHECK(argument_of(b.p.main.nodes[0], "destination").number.integer() == 0);
    CHECK(integers_of(argument_of(b.p.main.nodes[1], "dim")) == numbers{1});
    CHECK(b.sizes_of(inner) == numbers{7, 2, 3});
    CHECK(b.sizes_of(sum) == numbers{7, 3});
    CHECK(argument_of(b.p.main.nodes[3], "destination").number.integer() == 1);
}

TEST_CASE("operands of two nested maps get dimensions of size 1, and a result of neither is repeated") {
    mapped_program b;
    value_index const outer = b.hidden(b.y, 0, 1, {});
    value_index const inner = b.hidden(b.x, 2, 2, {2, 7});
    value_index const product = b.add("aten::mul.Tensor", {tensor("self", outer), tensor("other", inner)}, {2, 7});
    value_index const first = b.shown(product, 2, 3, 0, {3, 2, 7});
    b.output(b.shown(first, 1, 3, 0, {3, 3, 2, 7}));
    b.output(b.shown(b.x, 1, 5, 3, {2, 7, 3, 5}));
    inline_wrappers(b.p);
    CHECK(b.sizes_of(product) == numbers{3, 3, 2, 7});
    node const& last = b.p.main.nodes.back();
    CHECK(last.op == "aten::expand");
    CHECK(integers_of(argument_of(last, "size")) == numbers{-1, -1, -1, 5});
}

TEST_CASE("the products of all pairs of vectors are one product of matrices, in the order of the maps") {
    for (bool const swapped : {false, true}) {
        mapped_program b;
        value_index const z = b.input(input_kind::user, "z", {5, 3});
        value_index const outer = b.hidden(z, 0, 1, {3});
        value_index const matrix =
            b.add("aten::select.int", {tensor("self", b.x), integer("dim", 0), integer("index", 1)}, {7, 3});
        value_index const inner = b.hidden(matrix, 0, 2, {3});
        value_index const product = b.add(
            "aten::dot", {tensor("self", swapped ? inner : outer), tensor("tensor", swapped ? outer : inner)}, {});
        value_index const first = b.shown(product, 2, 7, 0, {7});
        b.output(b.shown(first, 1, 5, 0, {5, 7}));
        inline_wrappers(b.p);
        CHECK(b.sizes_of(product) == numbers{5, 7});
        strings const ops = b.ops();
        auto const at = std::find(ops.begin(), ops.end(), "aten::matmul");
        REQUIRE(at != ops.end());
        CHECK(*std::prev(at) == "aten::t");
        CHECK(std::count(ops.begin(), ops.end(), "aten::squeeze.dims") == 0);
        node const& found = b.p.main.nodes[static_cast<std::size_t>(at - ops.begin())];
        CHECK(argument_of(found, "self").tensor == outer);
    }
}

TEST_CASE("operators whose meaning under torch.vmap is not known are refused") {
    for (auto const& [op, arguments] :
         std::vector<std::pair<std::string, std::vector<argument>>>{{"aten::cat", {integer("dim", 0)}},
                                                                    {"aten::add_.Tensor", {integer("other", 1)}},
                                                                    {"aten::rand_like", {}},
                                                                    {"aten::argmax", {}},
                                                                    {"aten::sum.dim_IntList", {integers("dim", {})}},
                                                                    {"aten::expand", {integers("size", {4, 2, 3})}}}) {
        mapped_program b;
        value_index const inner = b.hidden(b.x, 1, 1, {2, 3});
        std::vector<argument> all{op == "aten::cat" ? tensors("tensors", {inner, inner}) : tensor("self", inner)};
        all.insert(all.end(), arguments.begin(), arguments.end());
        b.output(b.shown(b.add(op, all, {2, 3}), 1, 7, 0, {7, 2, 3}));
        std::string const said = b.refusal();
        CHECK_MESSAGE(said.find(op) != std::string::npos, op);
        CHECK_MESSAGE(said.find("is not supported inside torch.vmap; call run_decompositions()") != std::string::npos,
                      op);
    }
}

TEST_CASE("malformed calls of vmap's own operators are refused") {
    auto const said = [](std::string const& op, std::vector<argument> arguments) {
        mapped_program b;
        for (argument& each : arguments)
            if (each.kind == aton::aten::argument_kind::tensor) each.tensor = b.x;
        b.output(b.add(op, std::move(arguments), {2, 3}));
        return b.refusal();
    };
    char const* const wrong = "does not have the arguments of torch.vmap";
    argument const x = tensor("", 0);
    CHECK(said(add_dim, {}).find(wrong) != std::string::npos);
    CHECK(said(add_dim, {x, integer("", 3), integer("", 1)}).find(wrong) != std::string::npos);
    CHECK(said(add_dim, {x, integer("", -4), integer("", 1)}).find(wrong) != std::string::npos);
    CHECK(said(add_dim, {integer("", 0), integer("", 0), integer("", 1)}).find(wrong) != std::string::npos);
    CHECK(said(remove_dim, {x, integer("", 1), integer("", 5), integer("", 4)}).find(wrong) != std::string::npos);
    CHECK(said(remove_dim, {x, integer("", 1), text("", "5"), integer("", 0)}).find("does not have a size") !=
          std::string::npos);
    mapped_program b; // a level inside one that is not outside of it
    value_index const inner = b.hidden(b.x, 0, 2, {7, 3});
    b.output(b.hidden(inner, 0, 2, {3}));
    CHECK(b.refusal().find(wrong) != std::string::npos);
}

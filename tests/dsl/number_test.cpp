// SPDX-License-Identifier: MIT
// Numbers that a program computes: arithmetic, comparisons, operands of g.op and refusals.
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/core/stored_tensor.hpp>

#include "../faults.hpp"

namespace aton::tests {

using namespace dsl;

namespace {

/// A graph with a tensor and three computed numbers.
struct fixture {
    graph_data data;
    graph<13> g{data, 17};
    value x{data, data.add_input("x", {dtype::float32, shape(std::vector<std::int64_t>{2, 3})})};
    number n = input("n", dtype::int64);
    number r = input("r", dtype::float64);
    number b = input("b", dtype::bool_);

    number input(char const* name, dtype type) {
        return value(data, data.add_input(name, {type, shape(std::vector<std::int64_t>{})}));
    }
    /// The operators of the nodes so far.
    [[nodiscard]] std::vector<std::string> ops() const {
        std::vector<std::string> all;
        for (graph_node const& each : data.nodes) all.push_back(each.op);
        return all;
    }
};

double folded(number const& n) { return n.constant<double>(); }

} // namespace

TEST_CASE("arithmetic on constant numbers is Python's") {
    CHECK(folded(number(7) / 2) == 3.5);
    CHECK(folded(number(-7) % 3) == 2);
    CHECK(folded(number(7) % -3) == -2);
    CHECK(folded(number(-7.5) % 2) == 0.5);
    CHECK(folded(number(7.5) % -2) == -0.5);
    CHECK(folded(number(6) * 2 + 1 - 0.25) == 12.75);
    CHECK((number(6) * 2 + 1).is_integral());
    CHECK((number(true) + number(true)).constant<std::int64_t>() == 2);
    CHECK(folded(max(number(2), 2.5)) == 2.5);
    CHECK(folded(min(number(-2), 2.5)) == -2);
    CHECK(folded(-number(3)) == -3);
    CHECK(std::isinf(folded(number(1e308) * 10)));
}

TEST_CASE("arithmetic on constant sizes is that of C++") {
    CHECK((sym_int(-7) / 2).constant() == -3);
    CHECK((sym_int(-7) % 3).constant() == -1);
    CHECK((5 - sym_int(7) * 2).constant() == -9);
    CHECK(max(sym_int(3), 4).constant() == 4);
    CHECK((sym_int(std::numeric_limits<std::int64_t>::min()) % -1).constant() == 0);
    static_assert(std::is_same_v<decltype(sym_int(1) + 2), sym_int>);
    static_assert(std::is_same_v<decltype(sym_int(1) * 0.5), number>);
    static_assert(std::is_same_v<decltype(number(1) + sym_int(1)), number>);
}

TEST_CASE("constant arithmetic that has no result is refused") {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    CHECK_THROWS_AS((void)(number(largest) + 1), unsupported_error);
    CHECK_THROWS_AS((void)(sym_int(largest) * 2), unsupported_error);
    CHECK_THROWS_AS((void)(sym_int(std::numeric_limits<std::int64_t>::min()) / -1), unsupported_error);
    CHECK_THROWS_AS((void)(number(1) / 0), unsupported_error);
    CHECK_THROWS_AS((void)(number(1) % 0), unsupported_error);
    CHECK_THROWS_AS((void)(sym_int(1) % 0), unsupported_error);
    CHECK_THROWS_AS((void)(number(scalar::complex(1, 2)) + 1), unsupported_error);
}

TEST_CASE("arithmetic on computed numbers becomes nodes") {
    fixture f;
    number const y = f.n * 2 + 1;
    CHECK(f.ops() == std::vector<std::string>{"Constant", "Mul", "Constant", "Add"});
    CHECK(y.dtype() == dtype::int64);
    CHECK((f.n / 2).dtype() == dtype::float64);
    CHECK((f.n + f.r).dtype() == dtype::float64);
    CHECK((f.b + f.b).dtype() == dtype::int64);
    CHECK(f.data.nodes.back().op == "Add");
}

TEST_CASE("neutral operands of computed sizes make no nodes") {
    fixture f;
    sym_int const s = f.n.to_size();
    CHECK((s + 0).as_value().same_as(s.as_value()));
    CHECK((1 * s).as_value().same_as(s.as_value()));
    CHECK((s / 1).as_value().same_as(s.as_value()));
    CHECK((s * 0).is(0));
    CHECK(f.data.nodes.empty());
}

TEST_CASE("comparisons hold only for constants") {
    fixture f;
    CHECK(number(3) == 3);
    CHECK(number(3) == 3.0);
    CHECK(number(3) != 4);
    CHECK(number(2.5) < 3);
    CHECK_FALSE(number(std::nan("")) == number(std::nan("")));
    CHECK_FALSE(f.n == 3);
    CHECK_FALSE(f.n < 3);
    CHECK_FALSE(f.n >= 3);
    CHECK(sym_int(3) >= 3);
    CHECK_FALSE(f.n.to_size() == 3);
    CHECK_FALSE(number(scalar::complex(1, 2)) == 1);
}

TEST_CASE("a computed number takes the dtype of the other operands") {
    fixture f;
    value const y = f.g.op<"Mul">(f.x, f.n);
    CHECK(f.ops() == std::vector<std::string>{"Cast", "Mul"});
    CHECK(y.dtype() == dtype::float32);
    CHECK(f.g.op<"Add">(f.x, number(2)).dtype() == dtype::float32);
    CHECK(f.g.scalar(f.r, dtype::float16).dtype() == dtype::float16);
    CHECK(f.g.scalar_like(f.r, f.x).dtype() == dtype::float32);
    CHECK(f.g.to_value(f.r).same_as(f.r.as_value()));
    CHECK(f.g.to_value(number(2)).dtype() == dtype::int64);
}

TEST_CASE("a computed floating-point number beside integers is refused") {
    fixture f;
    value const i = f.g.cast(f.x, dtype::int32);
    std::string const said = fault_of([&] { return f.g.op<"Add">(i, f.r); });
    CHECK(said ==
          "onnx::Add (opset 17): input 'B' is a floating-point number that the program computes, which does not fit "
          "int32; cast the other input first");
}

TEST_CASE("a computed number where a constant is needed is refused with its argument and place") {
    fixture f;
    f.data.origins.push_back({"mul", "head", "model.py:12 in forward"});
    f.data.context.origin = 1;
    number computed = f.n * 2;
    computed.set_name("alpha");
    CHECK(fault_of([&] { return computed.constant(); }) == "argument 'alpha' is computed by the program (model.py:12 "
                                                           "in forward); the mapping needs a constant: use a number "
                                                           "that does not depend on the inputs");
    CHECK_THROWS_AS((void)f.r.to_size(), unsupported_error);
}

TEST_CASE("a tensor where a constant is needed is refused with its name and place") {
    fixture f;
    std::string const needed = "; the mapping needs a constant: use a tensor ";
    std::string const end = needed + "that does not depend on the inputs";
    CHECK(fault_of([&] { return f.x.constant(); }) == "'x' is an input of the program" + end);
    CHECK(fault_of([&] { return f.g.cast(f.x, dtype::int64).constant<double>(); }) ==
          "'x' is an input of the program" + end);
    value const unnamed = f.g.op<"Neg">(f.x);
    CHECK(fault_of([&] { return unnamed.constant(); }) ==
          "%" + std::to_string(unnamed.id()) + " is computed by the program" + end);
    f.data.origins.push_back({"mul", "head", "model.py:12 in forward"});
    f.data.context.origin = 1;
    value const y = f.g.op<"Mul">(f.x, f.x);
    std::string const computed = " is computed by the program (model.py:12 in forward)" + end;
    CHECK(fault_of([&] { return y.constant(); }) == "'mul'" + computed);
    f.data.values[y.id()].name = "product";
    CHECK(fault_of([&] { return y.constant(); }) == "'product'" + computed);
    std::string inside;
    auto const branch = [&](graph<13> inner) -> value {
        value const captured(inner.data(), inner.data().capture(f.data, y.id()));
        inside = fault_of([&] { return captured.constant(); });
        return inner.op<"Neg">(captured);
    };
    (void)f.g.op<"If">(f.b.as_value(), attr::then_branch_g(branch), attr::else_branch_g(branch));
    CHECK(inside == "'product'" + computed);
    value const w(f.data, f.data.add_value(value_type{dtype::float32, aton::shape{2}}, "head.weight"));
    aton::stored_tensor const stored{};
    f.data.set_initializer(w.id(), tensor{}, &stored);
    CHECK(fault_of([&] { return w.constant(); }) ==
          "'head.weight' is a weight of the model, which is not read" + needed + "of fewer elements");
}

TEST_CASE("arithmetic inside a nested graph uses the numbers around it") {
    fixture f;
    value const condition = f.g.op<"Greater">(f.n.as_value(), 2);
    auto const branch = [&](graph<13> inner) -> value { return inner.op<"Mul">(f.x, f.n * 2); };
    value const y = f.g.op<"If">(condition, attr::then_branch_g(branch), attr::else_branch_g(branch));
    CHECK(y.dtype() == dtype::float32);
}

TEST_CASE("a number from around a nested graph and one computed in it, in either order") {
    fixture f;
    value const condition = f.g.op<"Greater">(f.n.as_value(), 2);
    auto const branch = [&](graph<13> inner) -> value {
        number const own = number(inner.op<"Mul">(f.n.as_value(), f.n.as_value()));
        sym_int const size = value(inner.op<"Size">(f.x));
        value const sum = inner.to_value(f.n + own);
        CHECK(&sum.owner() == &inner.data());
        CHECK(&inner.to_value(own - f.n).owner() == &inner.data());
        CHECK(&inner.to_value(max(sym_int(f.n.as_value()), size)).owner() == &inner.data());
        CHECK(&inner.to_value(size % sym_int(f.n.as_value())).owner() == &inner.data());
        return inner.op<"Mul">(f.x, inner.cast(sum, dtype::float32));
    };
    value const y = f.g.op<"If">(condition, attr::then_branch_g(branch), attr::else_branch_g(branch));
    CHECK(y.dtype() == dtype::float32);
    CHECK(f.ops() == std::vector<std::string>{"Constant", "Greater", "If"});
}

TEST_CASE("a constant value becomes its number") {
    fixture f;
    number const n = f.g.scalar(2.5, dtype::float32);
    CHECK(n.is_constant());
    CHECK(n == 2.5);
    CHECK_THROWS_AS((void)number(f.g.ints({1, 2})), unsupported_error);
}

} // namespace aton::tests

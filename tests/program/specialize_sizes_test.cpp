// SPDX-License-Identifier: MIT
// specialize_sizes(): sizes with a single possible value, relations between symbols, and the state of each guard.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/frontend/pt2/read_program.hpp>
#include <aton/program/program.hpp>

#include "frontend/pt2/parse_guard.hpp"

#include "../faults.hpp"
#include "program_builder.hpp"

using namespace aton::program;
using aton::tests::contains;
using aton::tests::fault_of;

namespace {

/// Inputs x, y and z with the single sizes s0, s1 and s2, and a number n. In guards, the sizes are written x, y and z.
struct sizes {
    program_builder b;
    std::vector<value_index> inputs;

    explicit sizes(std::initializer_list<std::string_view> guards,
                   std::vector<std::string> const& of = {"s0", "s1", "s2"}) {
        constexpr std::string_view names[] = {"x", "y", "z"};
        for (std::size_t i = 0; i != of.size(); ++i) {
            value_index const v = b.input(input_kind::user, std::string(names[i]), {0});
            b.p.values[v].sizes = {symbolic(of[i])};
            b.p.guard_sources[std::string(names[i])] = {v, 0};
            inputs.push_back(v);
        }
        b.output(inputs[0]);
        aton::pt2::guard_lookup const known = [](aton::pt2::guard_number const& n) { return n.path.at(0); };
        for (std::string_view each : guards) {
            std::string text; // x for L['x']
            for (char c : each)
                text += c == 'x' || c == 'y' || c == 'z' ? "L['" + std::string(1, c) + "']" : std::string(1, c);
            guard g;
            g.text = each;
            g.condition = aton::pt2::parse_guard(text, known);
            b.p.guards.push_back(std::move(g));
        }
    }

    extent symbolic(std::string const& text) {
        b.p.expressions.push_back(aton::pt2::parse_expression(text));
        return {0, static_cast<std::uint32_t>(b.p.expressions.size() - 1)};
    }

    /// The sizes of the inputs after specialize_sizes(), such as "5, s1, 2*s1".
    std::string after() {
        specialize_sizes(b.p);
        std::string out;
        for (value_index v : inputs) {
            extent const& e = b.p.values[v].sizes[0];
            out += out.empty() ? "" : ", ";
            out += e.is_number() ? std::to_string(e.number)
                                 : to_string(substitute(b.p.expressions[e.expression], b.p.relations));
        }
        return out;
    }
    [[nodiscard]] guard_state state(std::size_t i) const { return b.p.guards.at(i).state; }
};

std::string sizes_of(std::initializer_list<std::string_view> guards) { return sizes(guards).after(); }

} // namespace

TEST_CASE("a size with one possible value becomes that number") {
    CHECK(sizes_of({"x == 5"}) == "5, s1, s2");
    CHECK(sizes_of({"(1 / x) == 0.2"}) == "5, s1, s2");
    CHECK(sizes_of({"(0.5*float(x)) == 2.5"}) == "5, s1, s2");
    CHECK(sizes_of({"float(x) ** 0.5 == 2.6457513110645907"}) == "7, s1, s2");
    CHECK(sizes_of({"math.sqrt(x) == 3.0"}) == "9, s1, s2");
    CHECK(sizes_of({"x*x == 49"}) == "7, s1, s2");
    CHECK(sizes_of({"2*x == 10"}) == "5, s1, s2");
    CHECK(sizes_of({"((-1)*x) == (-7)"}) == "7, s1, s2");
    CHECK(sizes_of({"Eq(x, 5)"}) == "5, s1, s2");
    CHECK(sizes_of({"min(9, x) == 4"}) == "4, s1, s2");
    CHECK(sizes_of({"x < 8 and x > 6"}) == "7, s1, s2");
    CHECK(sizes_of({"6 <= x <= 6"}) == "6, s1, s2");
}

TEST_CASE("a size with several possible values stays a symbol") {
    for (std::string_view guard : {"x // 2 == 3",
                                   "math.trunc(x / 2) == 3",
                                   "x % 4 == 0",
                                   "min(5, x) == 5",
                                   "x >= 4",
                                   "(1.0*float(round(x / 3))) == 2.0",
                                   "x != 7",
                                   "0.1*float(x) <= 0.5"})
        CHECK_MESSAGE(sizes_of({guard}) == "s0, s1, s2", guard);
}

TEST_CASE("several guards and ranges together determine a size") {
    CHECK(sizes_of({"x // 2 == 3", "x % 2 == 1"}) == "7, s1, s2");
    CHECK(sizes_of({"x // 2 == 3", "x != 7"}) == "6, s1, s2");
    sizes with_range({"x // 2 == 3"});
    with_range.b.p.ranges["s0"] = {2, 6};
    CHECK(with_range.after() == "6, s1, s2");
    sizes one_in_range({});
    one_in_range.b.p.ranges["s1"] = {4, 4};
    CHECK(one_in_range.after() == "s0, 4, s2");
    // The module accepts sizes 0 and 1 if a range begins with 2.
    sizes zero_and_one({"x*x <= 4"});
    zero_and_one.b.p.ranges["s0"] = {2, 1000};
    CHECK(zero_and_one.after() == "s0, s1, s2");
}

TEST_CASE("numbers propagate through equalities") {
    CHECK(sizes_of({"x == y", "y == z", "0.5*float(z) == 3.5"}) == "7, 7, 7");
    CHECK(sizes_of({"y == 2*x", "x + 1 == 4"}) == "3, 6, s2");
    CHECK(sizes_of({"z == x + y", "z == 9", "x == 2*y"}) == "6, 3, 9");
    sizes derived({"y / 4 == 2.0"}, {"s0", "Add(Symbol('s0'), Integer(1))"});
    CHECK(derived.after() == "7, 8");
    REQUIRE(derived.b.p.pinned.size() == 2);
    CHECK(derived.b.p.pinned[0].input == "x");
    CHECK(derived.b.p.pinned[1].number == 8);
    CHECK(contains(derived.b.p.pinned[1].reason, "y / 4 == 2.0"));
}

TEST_CASE("relations between sizes become expressions of fewer symbols") {
    CHECK(sizes_of({"x == y"}) == "s0, s0, s2");
    CHECK(sizes_of({"y == 2*x"}) == "s0, 2*s0, s2");
    CHECK(sizes_of({"x == ((-1) + y)"}) == "s0, s0 + 1, s2");
    CHECK(sizes_of({"x == (1 + y) // 2"}) == "(s1 + 1)//2, s1, s2");
    CHECK(sizes_of({"y % 2 == 0", "x == y // 2"}) == "s0, 2*s0, s2");
    CHECK(sizes_of({"x + y == z"}) == "s0, s1, s0 + s1");
    CHECK(sizes_of({"x == y", "y == 3*z"}) == "3*s2, 3*s2, s2");
    CHECK(sizes_of({"2*x == 3*y"}) == "s0, s1, s2"); // neither is an integer multiple of the other
}

TEST_CASE("each guard has a state") {
    sizes s({"x == 5",
             "y == 2*z",
             "y % 2 == 0",
             "x // 2 == 2",
             "z > 4",
             "z // 2 == 3",
             "0.1*float(z) <= 0.75",
             "z.stride()[0] == 1",
             "z % 2 == 1 or z % 3 == 0"});
    (void)s.after();
    CHECK(s.state(0) == guard_state::kept);
    CHECK(s.state(1) == guard_state::open); // runtimes do not check that y is 2*z
    CHECK(s.state(2) == guard_state::frozen);
    CHECK(s.state(3) == guard_state::kept);
    CHECK(s.state(4) == guard_state::open);
    CHECK(s.state(5) == guard_state::frozen);
    CHECK(s.state(6) == guard_state::frozen);
    CHECK(to_string(*s.b.p.guards[6].condition) == "z <= 7"); // without floats
    CHECK_FALSE(s.b.p.guards[7].condition.has_value());
    CHECK(s.state(7) == guard_state::open);
    CHECK(s.state(8) == guard_state::frozen);
}

TEST_CASE("a remainder that a view requires is not frozen, one of another operator is") {
    for (auto const& [op, state] : {std::pair{"aten::view", guard_state::open}, {"aten::pad", guard_state::frozen}}) {
        sizes s({"x % 2 == 0"});
        value_index const out = s.b.add(op, {tensor("self", s.inputs[0])}, {1, 2});
        s.b.p.values[out].sizes[0] = s.symbolic("FloorDiv(Symbol('s0'), Integer(2))");
        (void)s.after();
        CHECK(s.state(0) == state);
    }
}

TEST_CASE("a remainder that is 0 for all sizes is not frozen") {
    std::pair<char const*, guard_state> const cases[] = {
        {"(512 + 512*(x // 80)) % (64 + 64*(x // 80)) == 0", guard_state::open},
        {"(6*x + 9*y) % (3*y + 2*x) == 0", guard_state::open},
        {"((-8)*x) % (2*x) == 0", guard_state::open},
        {"(9 + 6*x) % (2 + 2*x) == 0", guard_state::frozen},
        {"(6*x + 8*y) % (2*x + 3*y) == 0", guard_state::frozen},
        {"(3*x) % (2*x) == 0", guard_state::frozen},
        {"(4*x) % (2*y) == 0", guard_state::frozen},
        {"((-9223372036854775807)*x) % ((-1)*x) == 0", guard_state::frozen},
    };
    for (auto const& [text, state] : cases) {
        CAPTURE(std::string(text));
        sizes s({text});
        (void)s.after();
        CHECK(s.state(0) == state);
    }
}

TEST_CASE("a guard that follows from numbers that others check is not checked again") {
    std::string const padded = "(x + (((-1)*x) % 128))";
    sizes s({"(" + padded + " // (" + padded + " // 128)) == 128",
             "(" + padded + " // 128) == 1",
             "(y*(" + padded + " // 128)) == 3*y",
             "(z*(" + padded + " // 128)) // y == 3",
             "(" + padded + " // 128) == 1",
             "(y*(" + padded + " // 128)) == y"});
    (void)s.after();
    CHECK(s.state(1) == guard_state::frozen);
    CHECK(to_string(*s.b.p.guards[1].condition) == "x <= 128 and x >= 1");
    CHECK(s.state(0) == guard_state::kept); // of the same sizes
    CHECK(s.state(2) == guard_state::open);
    CHECK(to_string(*s.b.p.guards[2].condition) == "y == 3*y");
    CHECK(s.state(3) == guard_state::frozen);
    CHECK(to_string(*s.b.p.guards[3].condition) == "z//y == 3");
    CHECK(s.state(4) == guard_state::kept);
    CHECK(s.state(5) == guard_state::kept);
}

TEST_CASE("a guard of broadcasting freezes no number where the sizes have the same symbol") {
    for (auto const& [other, state] : {std::pair{"s0", guard_state::open}, {"s1", guard_state::frozen}}) {
        sizes s({"x == 1 or x == y", "x == 1 or x // y == 1"}, {"s0", other});
        (void)s.after();
        CHECK(s.state(0) == state);
        CHECK(s.state(1) == guard_state::frozen); // the quotient is a number
    }
}

TEST_CASE("the choice of torch.isin between two algorithms freezes no number") {
    sizes s({"10.0*float(x*y) ** 0.145 > 2.0", "10.0*float(x*y) ** 0.25 > 2.0"});
    (void)s.after();
    CHECK(s.state(0) == guard_state::open);
    CHECK(s.state(1) == guard_state::frozen);
}

TEST_CASE("an input that is a number stays an input, with a guard for its value") {
    sizes s({"0.1*float(y) == 0.7000000000000001"});
    value& y = s.b.p.values[s.inputs[1]];
    y.kind = value_kind::sym_int;
    y.symbolic = y.sizes[0];
    y.sizes.clear();
    s.b.p.guard_sources["y"].axis = -1;
    specialize_sizes(s.b.p);
    CHECK(s.b.p.values[s.inputs[1]].symbolic->number == 7);
    REQUIRE(s.b.p.guards.size() == 2);
    CHECK(s.b.p.guards[1].text == "L['y'] == 7");
    CHECK(s.state(1) == guard_state::frozen);
    CHECK(s.b.p.pinned.empty());
}

TEST_CASE("guards that no size satisfies are refused") {
    CHECK(contains(fault_of([] { return sizes_of({"x == 5", "x % 2 == 0"}); }), "no size satisfies the guards"));
    CHECK(contains(fault_of([] { return sizes_of({"x*x == 10"}); }), "no size satisfies the guards"));
}

TEST_CASE("hostile guards do not take long") {
    std::string const deep(20000, '(');
    std::string sum = "x";
    for (int i = 0; i != 900; ++i) sum += " // 1 + x % 7";
    std::string product = "x";
    for (int i = 0; i != 200; ++i) product += "*x";
    for (std::string const& each : {deep, sum + " == 3", product + " == 5*y", sum + " < y % z"})
        (void)fault_of([&] { return sizes_of({each}); });
    CHECK(sizes_of({"x % 1000003 == 17", "x % 999983 == 12345"}) ==
          "s0, s1, s2"); // only one solution below their product
}

// SPDX-License-Identifier: MIT
// Types of the results of If, Loop, Scan and SequenceMap: what both branches agree on, and lengths only if they are certain.
#include <aton/ir/shapes/control.hpp>

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/aton.hpp>

namespace shape_rules_control_test {

using namespace aton::dsl;

namespace {

using ops = graph<17>;
aton::shape const number(std::vector<aton::dim>{});

struct fixture {
    graph_data data;
    ops g{data, 20};
    value yes = input("yes", dtype::bool_, number);
    value n = input("n", dtype::int64, number);
    value x = input("x", dtype::float32, {std::string("batch"), 3});
    value always = g.constant(aton::scalar_tensor(true, dtype::bool_));

    fixture() { data.opset = 20; }
    value input(std::string name, dtype type, aton::shape shape) {
        return {data, data.add_input(std::move(name), value_type{type, std::move(shape)})};
    }
    template <class Then, class Else>
    std::string choice(Then const& yes_body, Else const& no_body) {
        return to_string(value(g.op<"If">(yes, attr::then_branch_g(yes_body), attr::else_branch_g(no_body))).type());
    }
    /// The stacked result of a Loop whose body returns this condition.
    template <class Go>
    std::string stacked(optional_value trips, optional_value condition, Go const& go) {
        std::vector<value> const out =
            g.op<"Loop">(trips,
                         condition,
                         x,
                         attr::body_g([&](ops b, value turn, value in, value state) {
                             return std::vector<value>{go(b, in), state, b.op<"Neg">(x), turn};
                         }),
                         output_list(3));
        return to_string(out[0].type()) + " " + to_string(out[1].type()) + " " + to_string(out[2].type());
    }
};

} // namespace

TEST_CASE("If: dtype, rank and sizes on which both branches agree") {
    fixture f;
    value const wide = f.input("wide", dtype::float32, {std::string("batch"), 5});
    value const whole = f.input("whole", dtype::int64, {std::string("batch"), 3});
    value const flat = f.input("flat", dtype::float32, {3});
    auto const give = [](value const& v) { return [&v](ops) -> value { return v; }; };
    CHECK(f.choice(give(f.x), give(f.x)) == "Float(batch, 3)");
    CHECK(f.choice(give(f.x), give(wide)) == "Float(batch, *)");
    CHECK(f.choice(give(f.x), give(flat)) == "Float");
    CHECK(f.choice(give(f.x), give(whole)) == "Tensor(batch, 3)");
    CHECK(f.choice([&](ops b) -> value { return b.op<"SequenceConstruct">(f.x, wide); },
                   [&](ops b) -> value { return b.op<"SequenceConstruct">(f.x); }) == "Float(batch, *)[]");
}

TEST_CASE("Loop: carried values have what start and body agree on, stacked results the trip count if it is certain") {
    fixture f;
    value const four = f.g.scalar(4, dtype::int64);
    auto const same = [](ops, value in) { return in; };
    auto const forever = [](ops b, value) -> value {
        return b.op<"Identity">(b.constant(aton::scalar_tensor(true, dtype::bool_)));
    };
    auto const until = [](ops b, value in) -> value { return b.op<"Not">(in); };
    std::string const open = "Float Float(*, batch, 3) Long(*)";
    std::string const sure = "Float Float(4, batch, 3) Long(4)";
    CHECK(f.stacked(four, f.always, same) == sure);
    CHECK(f.stacked(four, absent, same) == sure);
    CHECK(f.stacked(four, f.always, forever) == sure);
    CHECK(f.stacked(four, f.always, [&](ops, value) { return f.always; }) == sure);
    CHECK(f.stacked(f.g.scalar(-2, dtype::int64), absent, same) == "Float Float(0, batch, 3) Long(0)");
    CHECK(f.stacked(four, f.yes, same) == open);
    CHECK(f.stacked(four, f.always, until) == open);
    CHECK(f.stacked(four, f.always, [&](ops, value) { return f.yes; }) == open);
    CHECK(f.stacked(f.n, f.always, same) == open);
    CHECK(f.stacked(absent, f.always, same) == open);
    CHECK(f.stacked(four, f.g.constant(aton::scalar_tensor(false, dtype::bool_)), same) == open);

    value const grown = f.g.op<"Loop">(f.n, absent, f.x, attr::body_g([&](ops b, value, value in, value state) {
                                           return std::vector<value>{
                                               in, b.op<"Concat">(std::vector<value>{state, f.x}, attr::axis_i(1))};
                                       }));
    CHECK(to_string(grown.type()) == "Float(batch, *)");
    value const kept = f.g.op<"Loop">(
        f.n, absent, f.x, attr::body_g([&](ops, value, value in, value) { return std::vector<value>{in, f.x}; }));
    CHECK(to_string(kept.type()) == "Float(batch, 3)");
}

TEST_CASE("Scan: states as in a Loop; stacked results have the length of the scanned inputs, on the given axis") {
    fixture f;
    value const steps = f.input("steps", dtype::float16, {5, std::string("time"), 2});
    auto const types = [&](auto const&... attributes) {
        std::vector<value> const out =
            f.g.op<"Scan">(std::vector<value>{f.x, steps},
                           attr::body_g([&](ops b, value state, value slice) {
                               return std::vector<value>{b.op<"Neg">(state), b.op<"Abs">(slice)};
                           }),
                           attr::num_scan_inputs_i(1),
                           attributes...,
                           output_list(2));
        return to_string(out[0].type()) + " " + to_string(out[1].type());
    };
    CHECK(types() == "Float(batch, 3) Half(5, time, 2)");
    CHECK(types(attr::scan_input_axes_i({1})) == "Float(batch, 3) Half(time, 5, 2)");
    CHECK(types(attr::scan_input_axes_i({-1}), attr::scan_output_axes_i({1})) == "Float(batch, 3) Half(5, 2, time)");
    CHECK(types(attr::scan_output_axes_i({-1})) == "Float(batch, 3) Half(time, 2, 5)");
}

TEST_CASE("SequenceMap: sequences of the results of the body") {
    fixture f;
    value const list = f.g.op<"SequenceConstruct">(f.x, f.x);
    value const out = f.g.op<"SequenceMap">(
        list, attr::body_g([](ops b, value each) -> value { return b.op<"Cast">(each, attr::to_i(dtype::float16)); }));
    CHECK(to_string(out.type()) == "Half(batch, 3)[]");
}

} // namespace shape_rules_control_test

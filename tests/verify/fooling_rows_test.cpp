// SPDX-License-Identifier: MIT
// Rows that compute nothing, that are mistakes at some opset of their range, and that crash: each fails, and the other rows are checked.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/check.hpp>

#include "../faults.hpp"
#include "call_files.hpp"
#include "unary_calls.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using namespace dsl;
using tests::call_folder;
using tests::check_calls;
using tests::contains;
using tests::floats;

/// A call with one tensor.
recorded_call call_of(std::string schema, std::vector<runtime::value> results, dtype type = dtype::float32) {
    recorded_call out;
    out.call.overload = schema.substr(0, schema.find('('));
    std::size_t const name = schema.find(" x") + 1;
    out.call.arguments.push_back(
        runtime::aten_argument::of_tensor(runtime::cast(floats({3}, {1, -2, 4}), type)).named(schema.substr(name, 1)));
    out.schema = std::move(schema);
    out.results = std::move(results);
    out.place = "calls.jsonl:1";
    return out;
}

runtime::value const twice = floats({3}, {2, -4, 8});

constexpr auto nothing =
    table(symbolic<"fool::unset(Tensor x) -> Tensor">([](graph<13>, value) { return value(); }),
          symbolic<"fool::forgotten(Tensor x) -> Tensor">([](graph<13>, value) {
              value y;
              return y;
          }),
          symbolic<"fool::absent(Tensor x) -> Tensor">([](graph<13>, value) -> optional_value { return absent; }),
          symbolic<"fool::second(Tensor x) -> (Tensor, Tensor)">(
              [](graph<13> g, value x) { return std::tuple<value, optional_value>(g.op<"Add">(x, x), absent); }),
          symbolic<"fool::listed(Tensor x) -> Tensor[]">(
              [](graph<13> g, value x) { return std::vector<value>{g.op<"Add">(x, x), value()}; }),
          symbolic<"fool::nothing_listed(Tensor x) -> Tensor[]">([](graph<13>, value) { return std::vector<value>(); }),
          symbolic<"fool::written(Tensor(a!) x) -> ()">([](graph<13>, value) { return value(); }),
          symbolic<"fool::written_too(Tensor(a!) x) -> Tensor">(
              [](graph<13> g, value x) { return std::tuple<value, optional_value>(g.op<"Add">(x, x), absent); }));

/// `Div` of uint8 is legal from opset 14 on.
constexpr auto early =
    table(symbolic<"fool::ratio(Tensor x) -> Tensor">([](graph<13> g, value x) -> value { return g.op<"Div">(x, x); }));
constexpr auto unguarded =
    table(symbolic<"fool::late(Tensor x) -> Tensor">([](graph<13> g, value x) -> value {
              auto const newer = g.within<18>();
              return newer.op<"Add">(x, x);
          }),
          symbolic<"fool::right(Tensor x) -> Tensor">([](graph<13> g, value x) -> value { return g.op<"Add">(x, x); }),
          symbolic<"fool::throws(Tensor x) -> Tensor">(
              [](graph<13>, value) -> value { throw std::runtime_error("of the author"); }));

int volatile zero = 0;
int volatile* volatile nowhere = nullptr;

int deeper(int n) { // NOLINT(misc-no-recursion)
    int volatile room[1000] = {n};
    return n == zero - 1 ? 0 : deeper(n + 1) + room[static_cast<std::size_t>(zero)];
}

constexpr auto crashing = table(
    symbolic<"crash::reads(Tensor x) -> Tensor">([](graph<13> g, value x) -> value {
        *nowhere = 1;
        return g.op<"Add">(x, x);
    }),
    symbolic<"crash::divides(Tensor x) -> Tensor">(
        [](graph<13> g, value x) -> value { return g.op<"Mul">(x, 7 / zero); }),
    symbolic<"crash::aborts(Tensor x) -> Tensor">([](graph<13>, value x) -> value {
        std::abort();
        return x;
    }),
    symbolic<"crash::leaves(Tensor x) -> Tensor">([](graph<13>, value x) -> value {
        std::_Exit(0);
        return x;
    }),
    symbolic<"crash::recurses(Tensor x) -> Tensor">(
        [](graph<13> g, value x) -> value { return g.op<"Mul">(x, deeper(0)); }),
    symbolic<"crash::loops(Tensor x) -> Tensor">([](graph<13> g, value x) -> value {
        while (zero == 0) {
        }
        return g.op<"Add">(x, x);
    }),
    symbolic<"crash::loops_in_the_graph(Tensor x) -> Tensor">([](graph<16> g, value x) -> value {
        return g.op<"Loop">(
            absent, g.scalar(true, dtype::bool_), x, attr::body_g([&](graph<16> b, value, value go_on, value sum) {
                return std::tuple(go_on, b.op<"Neg">(sum));
            }));
    }),
    symbolic<"crash::works(Tensor x) -> Tensor">([](graph<13> g, value x) -> value { return g.op<"Add">(x, x); }),
    symbolic<"crash::wrong(Tensor x) -> Tensor">([](graph<13> g, value x) -> value { return g.op<"Mul">(x, x); }));

/// Right in calls with static sizes only; the last one refuses others.
constexpr auto of_static_sizes =
    table(symbolic<"fool::other_path(Tensor x) -> Tensor">(
              [](graph<13> g, value x) -> value { return x.size(0).is_static() ? value(g.op<"Add">(x, x)) : x; }),
          symbolic<"fool::fallback(Tensor x) -> Tensor">([](graph<13> g, value x) -> value {
              return g.op<"Mul">(x, static_cast<double>(x.size(0).size_or(1)) - 1);
          }),
          symbolic<"fool::as_recorded(Tensor x) -> Tensor">([](graph<13> g, value x) -> value {
              auto const& expected = g.context().expected;
              std::int64_t const size = expected.empty() ? 3 : expected[0].shape[0].size_or(1);
              return g.op<"Mul">(x, static_cast<double>(size) - 1);
          }),
          symbolic<"fool::refuses(Tensor x) -> Tensor">(
              [](graph<13> g, value x) -> value { return g.op<"Mul">(x, static_cast<double>(x.size(0).size()) - 1); }));

/// Bodies of an operator of ONNX Runtime: x * sigmoid(alpha * x), and one with another meaning of alpha.
constexpr auto as_the_runtime = [](graph<13> g, value x, double alpha) {
    return g.op<"Mul">(x, g.op<"Sigmoid">(g.op<"Mul">(x, alpha)));
};
constexpr auto divided = [](graph<13> g, value x, double alpha) {
    return g.op<"Mul">(x, g.op<"Sigmoid">(g.op<"Div">(x, alpha)));
};
constexpr auto right_gelu =
    domain<"com.microsoft", 1,
           op<"QuickGelu(T X, float alpha=1.702) -> (T Y = like(X))", "T: float", body<as_the_runtime>>>{};
constexpr auto other_gelu =
    domain<"com.microsoft", 1, op<"QuickGelu(T X, float alpha=1.702) -> (T Y = like(X))", "T: float", body<divided>>>{};
constexpr auto beside_kernels =
    table(symbolic<"fool::gelu(Tensor x) -> Tensor">([](graph<13, right_gelu> g, value x) -> value {
              return g.op<"com.microsoft::QuickGelu">(x, attr::alpha_f(0.5));
          }),
          symbolic<"fool::gelu_by_body(Tensor x) -> Tensor">([](graph<13, other_gelu> g, value x) -> value {
              return g.op<"com.microsoft::QuickGelu">(x, attr::alpha_f(2));
          }));

/// What they say of their values is not so.
constexpr auto misstated = table(
    symbolic<"fool::dtype(Tensor x) -> Tensor">(
        [](graph<13> g, value x) -> value { return value(g.op<"Add">(x, x)).set_type({dtype::float16, x.shape()}); }),
    symbolic<"fool::columns(Tensor x) -> Tensor">([](graph<13> g, value x) -> value {
        value const found = value(g.op<"NonZero">(x)).set_type({dtype::int64, aton::shape{2, 3}});
        value const count = g.op<"Cast">(g.op<"Size">(found), attr::to_i(dtype::float32)); // 3
        return g.op<"Add">(x, g.op<"Mul">(x, g.op<"Sub">(count, 2)));
    }),
    symbolic<"fool::size(Tensor x) -> Tensor">([](graph<13> g, value x) -> value {
        return g.op<"Add">(x, value(g.op<"Compress">(x, g.constant({true, true, true}))).set_shape({x.size(0), 1}));
    }));

constexpr auto overriding_7 = table(override_<"aten::eq.Tensor(self, other)">(
    [](graph<7> g, value a, value b) -> value { return g.op<"Equal">(a, b); }));
constexpr auto overriding_11 = table(override_<"aten::eq.Tensor(self, other)">(
    [](graph<11> g, value a, value b) -> value { return g.op<"Equal">(a, b); }));
constexpr auto overriding_static = table(override_<"aten::neg(self)">(
    [](graph<13> g, value x) -> value { return x.shape().is_static() ? value(g.op<"Neg">(x)) : x; }));

/// Scales by the numbers of a constant tensor.
constexpr auto scaled = table(symbolic<"fool::scaled(Tensor x, Tensor by) -> Tensor">(
    [](graph<13> g, value x, value by) -> value { return g.op<"Mul">(x, by.constant().at(1).to<double>()); }));

} // namespace

TEST_CASE("a result that the operator gives and the row leaves out is a failure") {
    std::vector<recorded_call> const calls = {
        call_of("fool::unset(Tensor x) -> Tensor", {twice}),
        call_of("fool::forgotten(Tensor x) -> Tensor", {twice}),
        call_of("fool::absent(Tensor x) -> Tensor", {twice}),
        call_of("fool::second(Tensor x) -> (Tensor, Tensor)", {twice, twice}),
        call_of("fool::listed(Tensor x) -> Tensor[]", {std::vector{twice.one(), twice.one()}}),
        call_of("fool::nothing_listed(Tensor x) -> Tensor[]", {std::vector{twice.one()}}),
        call_of("fool::written(Tensor(a!) x) -> ()", {twice}),
        call_of("fool::written_too(Tensor(a!) x) -> Tensor", {twice, twice})};
    report const r = check_calls(nothing, calls);
    CHECK_FALSE(r.passed());
    REQUIRE(r.rows.size() == calls.size());
    auto const why = [&](std::size_t row) { return r.rows[row].failures.empty() ? "" : r.rows[row].failures[0].why; };
    std::string const left_out = "is absent or was never set, but the operator gives it";
    for (std::size_t const row : {0U, 1U, 2U}) CHECK(why(row) == "result 0 " + left_out);
    CHECK(why(3) == "result 1 " + left_out);
    CHECK(contains(why(4), "a mistake of the mapping: tensor 1 of result 0 was never set"));
    CHECK(why(5) == "result 0: has 0 tensors, expected 1");
    CHECK(why(6) == "the new value of 'x' " + left_out);
    CHECK(why(7) == "the new value of 'x' " + left_out);
    CHECK(contains(r.to_text(), "0 of 8 rows give ATen's numbers on 8 calls (8 do not, 0 are not checked"));
    CHECK(contains(r.to_text(), "8 recorded calls: 0 give the recorded results, 8 do not, 0 are refused"));
}

TEST_CASE("a result that is None where it was recorded may be absent") {
    std::vector<recorded_call> calls = {call_of("fool::second(Tensor x) -> (Tensor, Tensor)", {twice, {}})};
    CHECK(check_calls(nothing, calls).rows.at(3).passed());
    calls[0].results = {twice, twice};
    calls[0].values = false; // only dtypes and sizes
    CHECK_FALSE(check_calls(nothing, calls).rows.at(3).passed());
}

TEST_CASE("a call that is a mistake of the mapping at one opset of the range is a failure there") {
    runtime::value const ones = runtime::cast(floats({3}, {1, 1, 1}), dtype::uint8);
    std::vector<recorded_call> calls = {call_of("fool::ratio(Tensor x) -> Tensor", {ones}, dtype::uint8)};
    report const r = check_calls(early, calls);
    CHECK_FALSE(r.passed());
    REQUIRE(r.rows.at(0).failures.size() == 1);
    CHECK(r.rows[0].failures[0].opset == 13);
    CHECK(contains(r.to_text(), "fool::ratio (opset 13): a mistake of the mapping: "));
    CHECK(r.rows[0].recorded.different == 1);
    check_options from_14;
    from_14.calls = calls;
    from_14.min_opset = 14;
    CHECK(check(early, from_14).passed());
    calls[0] = call_of("fool::ratio(Tensor x) -> Tensor", {floats({3}, {1, 1, 1})});
    CHECK(check_calls(early, calls).passed());
}

TEST_CASE("a row is compared where sizes are dynamic, too") {
    std::vector<recorded_call> calls;
    for (entry const& row : table_view(of_static_sizes)) calls.push_back(call_of(std::string(row.schema), {twice}));
    report const r = check_calls(of_static_sizes, calls);
    CHECK_MESSAGE(contains(r.to_text(), "1 of 4 rows give ATen's numbers on 4 calls (3 do not"), r.to_text());
    for (std::size_t const row : {0U, 1U, 2U}) {
        REQUIRE(r.rows.at(row).failures.size() == 1);
        CHECK_MESSAGE(contains(r.rows[row].failures[0].why, "with dynamic sizes: "), r.rows[row].failures[0].why);
    }
    CHECK(r.rows.at(3).passed());
    check_options options;
    options.samples = 1;
    report const random = check(overriding_static, options);
    CHECK(contains(random.to_text(), "aten::neg (opset 13): with dynamic sizes: result 0: "));
}

TEST_CASE("an operator of ONNX Runtime is compared with its kernel, too, not only with the body") {
    runtime::value const gelu = floats({3}, {0.6224593312, -0.5378828427, 3.523188312}); // x / (1 + exp(-x / 2))
    report const r = check_calls(
        beside_kernels,
        {call_of("fool::gelu(Tensor x) -> Tensor", {gelu}), call_of("fool::gelu_by_body(Tensor x) -> Tensor", {gelu})});
    REQUIRE(r.rows.size() == 2);
    CHECK_MESSAGE(r.rows[0].passed(), r.to_text());
    REQUIRE(r.rows[1].failures.size() == 1);
    CHECK(r.rows[1].failures[0].why.starts_with("with the kernel of com.microsoft::QuickGelu, which ONNX Runtime calls "
                                                "instead of the body: result 0: 3 of 3 elements differ"));
}

TEST_CASE("types that a row states are compared with what its nodes compute") {
    std::vector<recorded_call> calls;
    for (entry const& row : table_view(misstated)) calls.push_back(call_of(std::string(row.schema), {twice}));
    report const r = check_calls(misstated, calls);
    REQUIRE(r.rows.size() == 3);
    for (row_report const& row : r.rows) REQUIRE(row.failures.size() == 1);
    CHECK(contains(r.rows[0].failures[0].why, "onnx::Add (opset 13): output 'C' is float16"));
    CHECK(contains(r.to_text(),
                   "onnx::NonZero: its result is stated as int64[2, 3], but it is int64[1, 3]; correct set_type() or "
                   "set_shape() in the row"));
    CHECK(contains(r.to_text(), "onnx::Compress: its result is stated as float32[3, 1], but it is float32[3]"));
}

TEST_CASE("a row that overrides one of ATen's operators is held to every opset of its range") {
    check_options options;
    options.samples = 1;
    report const wide = check(overriding_7, options);
    CHECK_FALSE(wide.passed());
    REQUIRE_FALSE(wide.rows.at(0).failures.empty());
    CHECK(wide.rows[0].failures[0].opset == 7);
    CHECK(contains(wide.to_text(), "aten::eq.Tensor (opset 7): a mistake of the mapping: "));
    report const right = check(overriding_11, options);
    CHECK_MESSAGE(right.passed(), right.to_text());
}

TEST_CASE("an exception in a row names the row, and the others are checked") {
    report const r = check_calls(unguarded,
                                 {call_of("fool::late(Tensor x) -> Tensor", {twice}),
                                  call_of("fool::right(Tensor x) -> Tensor", {twice}),
                                  call_of("fool::throws(Tensor x) -> Tensor", {twice})});
    CHECK(contains(r.to_text(),
                   "fool::late (opset 13): a mistake of the mapping: opset 13 is outside graph<18, 28>\n"
                   "    torch.ops.fool.late.default(x=torch.tensor([1.0, -2.0, 4.0], dtype=torch.float32))  # recorded "
                   "in calls.jsonl:1"));
    CHECK(r.rows.at(1).passed());
    CHECK(contains(r.to_text(), "fool::throws (opset 13): a mistake of the mapping: "));
    CHECK(contains(r.to_text(), "(std::runtime_error): of the author"));
    CHECK(contains(r.to_text(), "1 of 3 rows give ATen's numbers"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a row that crashes or does not end names row and call, and the others are checked") {
    std::vector<recorded_call> calls;
    for (entry const& row : table_view(crashing)) calls.push_back(call_of(std::string(row.schema), {twice}));
    report const r = check_calls(crashing, calls, true);
    std::string const text = r.to_text();
    CHECK_FALSE(r.passed());
    REQUIRE(r.rows.size() == 9);
    char const* const why[] = {"it ends the process by a segmentation fault (SIGSEGV)",
                               "it ends the process by an arithmetic error (SIGFPE), such as an integer divided by 0",
                               "it ends the process by abort() (SIGABRT), such as for a failed assertion",
                               "it ends the process with status 0",
                               "it ends the process by a segmentation fault (SIGSEGV)",
                               "it does not end within 1 seconds"};
    for (std::size_t i = 0; i != std::size(why); ++i)
        CHECK_MESSAGE(contains(text,
                               r.rows[i].overload + " (opset 13): a mistake of the mapping: " + why[i] +
                                   "\n    torch.ops.crash." + r.rows[i].overload.substr(7) +
                                   ".default(x=torch.tensor([1.0, -2.0, 4.0], dtype=torch.float32))  # recorded in "
                                   "calls.jsonl:1"),
                      text);
    CHECK(
        contains(text,
                 "crash::loops_in_the_graph (opset 16): the graph does not run: it does not end within 6 seconds\n    "
                 "torch.ops.crash.loops_in_the_graph.default(x="));
    CHECK(r.rows[7].passed());
    CHECK(r.rows[7].recorded.same == 1);
    CHECK(contains(text, "crash::wrong (opset 13): result 0: "));
    report const alone = check_calls(table_view(crashing).subspan(7), {calls[7], calls[8]});
    CHECK(report{{r.rows[7], r.rows[8]}, {}}.to_json() == alone.to_json()); // as in one process
}
#endif

TEST_CASE("an argument that is recorded as a constant is one for the row") {
    call_folder const folder;
    auto const line = [](std::string const& more, std::string const& by) {
        return R"({"schema": "fool::scaled(Tensor x, Tensor by) -> Tensor", "args": [)" +
               tests::floats_text({2}, {1.5F, -3}) + ", " + by + R"(], "outputs": [)" +
               tests::floats_text({2}, {-3, 6}) + "]" + more + "}\n";
    };
    std::string const by = tests::floats_text({3}, {5, -2, 7});
    folder.write("calls.jsonl", line(R"(, "constants": ["by"])", by));
    report const r = check_calls(scaled, read_calls(folder.path()));
    CHECK_MESSAGE(r.passed(), r.to_text());
    folder.write("calls.jsonl", line("", by));
    CHECK(contains(check_calls(scaled, read_calls(folder.path())).to_text(), "the mapping needs a constant"));
    auto const fault = [&](std::string const& constants, std::string const& given) {
        folder.write("calls.jsonl", line(", \"constants\": " + constants, given));
        return tests::fault_of([&] { (void)read_calls(folder.path()); });
    };
    CHECK(contains(fault(R"(["bye"])", by), "constants[0]: the call has no argument 'bye'"));
    CHECK(contains(fault(R"(["by"])", "2"), "constants[0]: the argument 'by' is not a tensor"));
    CHECK(contains(fault(R"("by")", by), "expected a list"));
}

TEST_CASE("an optional argument that is None is not written to") {
    call_folder const folder;
    std::string const head = R"j({"schema": "fool::both(Tensor x, Tensor(a!)? key=None) -> Tensor", "args": [)j" +
                             tests::floats_text({1}, {1}) + "]";
    std::string const rest = R"(, "outputs": [)" + tests::floats_text({1}, {1}) + "]";
    std::string const one = tests::floats_text({1}, {4});
    folder.write("calls.jsonl",
                 head + rest + "}\n" + head + R"(, "kwargs": {"key": null})" + rest + R"(, "mutated": {"key": null}})" +
                     "\n" + head + R"(, "kwargs": {"key": null})" + rest + "}\n");
    for (recorded_call const& c : read_calls(folder.path())) {
        REQUIRE(c.results.size() == 2);
        CHECK_FALSE(c.results[1]);
    }
    auto const fault = [&](std::string const& line) {
        folder.write("calls.jsonl", line);
        return tests::fault_of([&] { (void)read_calls(folder.path()); });
    };
    CHECK(contains(fault(head + rest + R"(, "mutated": {"key": )" + one + "}}"), "'key' is None in this call"));
    CHECK(contains(fault(head + R"(, "kwargs": {"key": )" + one + "}" + rest + R"(, "mutated": {"key": null}})"),
                   "is null, but the argument 'key' is not None in this call"));
}

} // namespace ATON_NAMESPACE::verify

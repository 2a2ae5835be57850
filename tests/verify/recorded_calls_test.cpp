// SPDX-License-Identifier: MIT
// Rows of custom operators against recorded calls, function bodies against their declarations, schemas against registered ones.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/mappings/bitwise.hpp>
#include <aton/verify/check.hpp>

#include "../faults.hpp"
#include "call_files.hpp"
#include "unary_calls.hpp"
#include "verify/schema_difference.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using namespace dsl;
using tests::call_folder;
using tests::contains;
using tests::floats;
using tests::floats_text;
using tests::unary_call;

constexpr std::string_view mix_schema = "my_ops::mix(Tensor x, Tensor y, float alpha=0.5, int dim=-1) -> Tensor";

/// sum(alpha * x + y) over dim.
template <int PerMille>
constexpr auto mix = table(symbolic<"my_ops::mix(Tensor x, Tensor y, float alpha=0.5, int dim=-1) -> Tensor">(
    [](graph<13> g, value x, value y, double alpha, std::int64_t dim) -> value {
        value const sum = g.op<"Add">(g.op<"Mul">(x, alpha * PerMille / 1000), y);
        return g.op<"ReduceSum">(sum, g.ints({dim}), attr::keepdims_i(0));
    }));

/// Takes the last dimension whatever `dim` is.
constexpr auto deaf = table(symbolic<"my_ops::mix(Tensor x, Tensor y, float alpha=0.5, int dim=-1) -> Tensor">(
    [](graph<13> g, value x, value y, double alpha, std::int64_t) -> value {
        return g.op<"ReduceSum">(g.op<"Add">(g.op<"Mul">(x, alpha), y), g.ints({-1}), attr::keepdims_i(0));
    }));

constexpr auto refusing = table(symbolic<"my_ops::mix(Tensor x, Tensor y, float alpha=0.5, int dim=-1) -> Tensor">(
    [](graph<13> g, value x, value y, double, std::int64_t dim) -> value {
        if (dim != -1) return g.unsupported("another dimension than the last one");
        return g.op<"ReduceSum">(g.op<"Add">(x, y), g.ints({-1}), attr::keepdims_i(0));
    }));

/// A line with the call of mix for a matrix, and what its formula gives.
std::string mix_line(std::int64_t rows, std::int64_t columns, double alpha, std::int64_t dim) {
    std::vector<float> x;
    std::vector<float> y;
    for (std::int64_t i = 0; i != rows * columns; ++i) {
        x.push_back(static_cast<float>(std::sin(1.7 * static_cast<double>(i) + alpha)));
        y.push_back(static_cast<float>(3 * std::cos(0.9 * static_cast<double>(i * i))));
    }
    std::vector<double> sums(static_cast<std::size_t>(dim == 0 ? columns : rows));
    for (std::int64_t i = 0; i != rows * columns; ++i) {
        auto const at = static_cast<std::size_t>(i);
        sums[static_cast<std::size_t>(dim == 0 ? i % columns : i / columns)] +=
            alpha * static_cast<double>(x[at]) + static_cast<double>(y[at]);
    }
    std::vector<float> const out(sums.begin(), sums.end());
    return R"({"schema": ")" + std::string(mix_schema) + R"(", "args": [)" + floats_text({rows, columns}, x) + ", " +
           floats_text({rows, columns}, y) + R"(], "kwargs": {"alpha": )" + std::to_string(alpha) + R"(, "dim": )" +
           std::to_string(dim) + R"(}, "outputs": [)" + floats_text({static_cast<std::int64_t>(out.size())}, out) +
           "]}\n";
}

std::vector<recorded_call> mix_calls() {
    call_folder const folder;
    folder.write("calls.jsonl",
                 mix_line(3, 4, 0.5, -1) + mix_line(1, 5, -2.25, -1) + mix_line(2, 7, 1.5, 0) +
                     mix_line(4, 4, 0.75, 0));
    return read_calls(folder.path());
}

report check_recorded(table_view rows, std::vector<recorded_call> const& calls, bool mutants = false) {
    check_options options;
    options.calls = calls;
    options.mutants = mutants;
    return check(rows, options);
}

// Operators with bodies.

constexpr auto powers = [](graph<13> g, value x, double by) { return g.op<"Mul">(g.op<"Pow">(x, x), by); };
constexpr auto flat = [](graph<13> g, value x) { return g.op<"Reshape">(x, g.ints({-1})); };
constexpr auto own_domain =
    domain<"own_domain", 1, op<"Powers(T X, float by) -> (T Y = like(X))", "T: float, float16, double", body<powers>>,
           op<"Flat(T X) -> (T Y = like(X))", "T: float", body<flat>>,
           op<"Kernel(T X) -> (T Y = like(X))", "T: float">>{};

constexpr auto with_body = table(symbolic<"my_ops::powers(Tensor x) -> Tensor">(
    [](graph<13, own_domain> g, value x) { return g.op<"own_domain::Powers">(x, attr_f<"by">(3)); }));
constexpr auto misdeclared = table(symbolic<"my_ops::flat(Tensor x) -> Tensor">(
    [](graph<13, own_domain> g, value x) { return g.op<"own_domain::Flat">(x); }));
constexpr auto without_body = table(symbolic<"my_ops::kernel(Tensor x) -> Tensor">(
    [](graph<13, own_domain> g, value x) { return g.op<"own_domain::Kernel">(x); }));

} // namespace

TEST_CASE("a row gives the recorded results, and its mutants do not") {
    std::vector<recorded_call> const calls = mix_calls();
    report const r = check_recorded(mix<1000>, calls, true);
    CHECK_MESSAGE(r.passed(), r.to_text());
    CHECK(r.rows.at(0).recorded.same == 4);
    CHECK(r.rows[0].opsets == std::vector{13}); // versions of Add and Mul compute the same
    CHECK(r.rows[0].mutants.made >= 5);
    // All calls have matrices, of which 1 and -1 are the same axis.
    CHECK(r.rows[0].mutants.survivors == std::vector<std::string>{"argument dim: negated"});
    CHECK(contains(r.to_text(), "4 recorded calls: 4 give the recorded results, 0 do not, 0 are refused"));
    CHECK(contains(r.to_json(), R"("recorded": {"same": 4, "different": 0, "refused": 0, "refusal": ""})"));
    CHECK(contains(r.to_html(), "4 recorded calls: 4 the same"));
}

TEST_CASE("a row that is off by 0.1 % or ignores an argument is found, and the call is written as Python") {
    std::vector<recorded_call> const calls = mix_calls();
    report const off = check_recorded(mix<1001>, calls);
    CHECK_FALSE(off.passed());
    CHECK(off.rows.at(0).recorded.different == 4);
    report const r = check_recorded(deaf, calls);
    CHECK_FALSE(r.passed());
    CHECK(r.rows.at(0).recorded.same == 2);
    CHECK(r.rows[0].recorded.different == 2);
    failure const& f = r.rows[0].failures.at(0);
    CHECK(contains(f.why, "result 0: is float32[2], expected float32[7]"));
    CHECK(f.place == calls[2].place);
    std::string const text = r.to_text();
    CHECK(contains(text, "    torch.ops.my_ops.mix.default(x=torch.tensor([["));
    CHECK(contains(text, "alpha=1.5, dim=0)  # recorded in " + f.place));
    CHECK(contains(r.to_json(), "calls.jsonl:3"));
    CHECK(contains(r.to_html(), "recorded in "));
}

TEST_CASE("a refused recorded call is reported with its place and the reason") {
    std::vector<recorded_call> const calls = mix_calls();
    std::vector<recorded_call> const last(calls.begin() + 2, calls.end());
    report const r = check_recorded(refusing, last);
    CHECK_FALSE(r.passed());
    CHECK(contains(r.to_text(), "not checked: the row refuses every recorded call: "));
    CHECK(contains(r.to_text(), "my_ops::mix: refused: " + calls[2].place + ": "));
    CHECK(contains(r.to_text(), "another dimension than the last one (the first of 2 refused calls)"));
}

TEST_CASE("sums that cancel get the tolerance of their conditioning, which does not excuse a wrong row") {
    // 1e6 + 0.37 - 1e6 in float32 is 0.375: far beyond the tolerance of the dtype.
    call_folder const folder;
    std::string const zeros = floats_text({1, 3}, {0, 0, 0});
    auto const line = [&](float result) {
        return R"({"schema": ")" + std::string(mix_schema) + R"(", "args": [)" +
               floats_text({1, 3}, {1000000.3F, 0.37F, -1000000.2F}) + ", " + zeros + R"(, 1.0], "outputs": [)" +
               floats_text({1}, {result}) + "]}\n";
    };
    folder.write("calls.jsonl", line(0.5F));
    CHECK(check_recorded(mix<1000>, read_calls(folder.path())).passed());
    folder.write("calls.jsonl", line(5));
    CHECK_FALSE(check_recorded(mix<1000>, read_calls(folder.path())).passed());
}

TEST_CASE("recorded calls come on top of random ones where there is another reference") {
    call_folder const folder;
    folder.write("calls.jsonl",
                 R"j({"schema": "aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor", "args": [)j"
                 R"({"dtype": "int32", "shape": [1], "base64": "BgAAAA=="}, 3],)"
                 R"( "outputs": [{"dtype": "int32", "shape": [1], "base64": "BgAAAA=="}]})");
    std::vector<recorded_call> const calls = read_calls(folder.path());
    check_options options;
    options.calls = calls;
    options.only = "bitwise_and.Scalar";
    options.mutants = true;
    options.samples = 1;
    report const r = check(mappings::bitwise, options);
    REQUIRE(r.rows.size() == 2);
    CHECK(r.rows[0].recorded.different == 1); // 6 & 3 is 2
    CHECK(r.rows[0].total(&type_report::same) > 5);
    CHECK(r.rows[1].recorded.total() == 0); // Scalar_Tensor
    CHECK(r.without_row.empty());
    options.only = "";
    report const other = check(mix<1000>, options);
    CHECK(other.without_row == std::vector<std::string>{"aten::bitwise_and.Scalar"});
    CHECK(contains(other.to_text(), "no row for the recorded calls of aten::bitwise_and.Scalar"));
    CHECK(contains(other.to_text(),
                   "my_ops::mix: not checked: there is nothing to compare it with: record calls of the operator and "
                   "name their folder with --calls"));
}

TEST_CASE("an operator runs by its body, and the body has mutants") {
    std::vector<double> const x = {1.5, 2, 0.5};
    std::vector<double> y;
    for (double const v : x) y.push_back(3 * std::pow(v, v));
    std::vector<recorded_call> const calls = {unary_call("my_ops::powers", floats({3}, x), floats({3}, y))};
    report const r = check_recorded(with_body, calls, true);
    CHECK_MESSAGE(r.passed(), r.to_text());
    CHECK(r.rows.at(0).opsets == std::vector{13}); // versions of Pow compute the same
    CHECK(r.rows[0].mutants.made >= 5);
    CHECK(r.power() == 100);
    std::vector<recorded_call> const wrong = {unary_call("my_ops::powers", floats({3}, x), floats({3}, x))};
    CHECK_FALSE(check_recorded(with_body, wrong).passed());
}

TEST_CASE("a body whose result has another shape than declared is found, even where the numbers are right") {
    std::vector<recorded_call> const calls = {
        unary_call("my_ops::flat", floats({2, 2}, {1, 2, 3, 4}), floats({4}, {1, 2, 3, 4}))};
    report const r = check_recorded(misdeclared, calls);
    CHECK_FALSE(r.passed());
    CHECK(contains(
        r.to_text(),
        "own_domain::Flat: output 'Y' is [4] according to its body, but [2, 2] according to its declaration, like(X)"));
    std::vector<recorded_call> const row = {
        unary_call("my_ops::flat", floats({4}, {1, 2, 3, 4}), floats({4}, {1, 2, 3, 4}))};
    CHECK(check_recorded(misdeclared, row).passed());
}

TEST_CASE("an operator without a body is not checked") {
    std::vector<recorded_call> const calls = {unary_call("my_ops::kernel", floats({1}, {1}), floats({1}, {1}))};
    report const r = check_recorded(without_body, calls);
    CHECK_FALSE(r.passed());
    CHECK(contains(r.to_text(),
                   "not checked: own_domain::Kernel has no body that the runtime could run; give it one, body<...>"));
}

TEST_CASE("the schema of a row is compared with the recorded and the registered one") {
    std::vector<recorded_call> calls = mix_calls();
    calls[1].schema = "my_ops::mix(Tensor x, Tensor y, float alpha=0.25, int dim=-1) -> Tensor";
    report const r = check_recorded(mix<1000>, calls);
    CHECK_FALSE(r.passed());
    CHECK(r.rows.at(0).failures.empty());
    std::string const sentence =
        "the argument 'alpha' has the default 0.5 in the row, but the default 0.25 in the schema "
        "that the operator is registered with";
    CHECK(contains(r.to_text(),
                   "my_ops::mix: " + sentence + "; the row has " + std::string(mix_schema) + ", the operator " +
                       calls[1].schema + '\n'));
    CHECK(contains(r.to_text(), "0 of 1 rows give ATen's numbers on 4 calls (1 do not"));
    CHECK(contains(r.to_json(), "but the default 0.25"));
    CHECK(contains(r.to_html(), "but the default 0.25"));

    calls = mix_calls();
    check_options options;
    options.calls = calls;
    options.registered_schema = [](std::string_view overload) {
        return std::string(overload) + "(Tensor x, Tensor y, float beta=0.5, int dim=-1) -> Tensor";
    };
    CHECK(contains(check(mix<1000>, options).to_text(), "argument 3 is 'alpha' in the row, but 'beta' in the schema"));
    options.registered_schema = [](std::string_view) { return std::string(); }; // not registered
    CHECK(check(mix<1000>, options).passed());

    for (recorded_call& c : calls) {
        c.call.overload += ".other";
        c.schema.insert(c.schema.find('('), ".other");
    }
    CHECK(contains(check_recorded(mix<1000>, calls).to_text(),
                   calls.back().place + " has " + calls.back().schema + ", the row " + std::string(mix_schema)));
}

TEST_CASE("schemas differ by names, types, defaults and results, not by how they are written") {
    auto const difference = [](std::string_view a, std::string_view b) {
        return schema_difference("f" + std::string(a), "f" + std::string(b));
    };
    CHECK(difference("(Tensor x, float a=1.702, float b=7.0) -> Tensor",
                     "(Tensor x, float a=1.702, float b=7.) -> Tensor")
              .empty());
    CHECK(difference("(Tensor x, float a=1e-06) -> Tensor", "(Tensor x, float a=9.9999999999999995e-07) -> Tensor")
              .empty());
    CHECK(difference("(int[2] a=0, SymInt b=1) -> Tensor", "(int[2] a=[0, 0], int b=1) -> Tensor").empty());
    CHECK(difference("(str a='x\\n', int[] b=[]) -> Tensor", "(str a=\"x\\n\", int[] b=[]) -> Tensor").empty());
    CHECK(difference("(Tensor x, *, int a=1) -> (Tensor a, Tensor)", "(Tensor x, int a=1) -> (Tensor, Tensor b)")
              .empty());
    CHECK(contains(difference("(Scalar a=1) -> Tensor", "(Scalar a=1.0) -> Tensor"),
                   "the default 1 in the row, but the default 1.0"));
    CHECK(contains(difference("(int a) -> Tensor", "(int a=0) -> Tensor"),
                   "'a' has no default in the row, but the default 0"));
    CHECK(contains(difference("(Tensor? x=None) -> Tensor", "(Tensor x) -> Tensor"),
                   "'x' is Tensor? in the row, but Tensor in"));
    CHECK(contains(difference("(Tensor x) -> Tensor", "(Tensor(a!) x) -> Tensor"), "but Tensor(a!) in"));
    CHECK(contains(difference("(Tensor x) -> Tensor", "(Tensor x, int n) -> Tensor"),
                   "the argument 'n' is not in the schema of the row"));
    CHECK(contains(difference("(Tensor x, int n) -> Tensor", "(Tensor x) -> Tensor"),
                   "the argument 'n' of the row is not in the schema that"));
    CHECK(contains(difference("(bool[2] a=[True, False]) -> Tensor", "(bool[2] a=[True, True]) -> Tensor"),
                   "the default [True, False] in the row"));
    CHECK(difference("(Tensor x) -> Tensor[]", "(Tensor x) -> Tensor") ==
          "result 0 is Tensor[] in the row, but Tensor in the schema that the operator is registered with");
    CHECK(difference("(Tensor x) -> Tensor", "(Tensor x) -> (Tensor, Tensor)") ==
          "the number of results is 1 in the row, but 2 in the schema that the operator is registered with");
    for (std::size_t i = 0; i != aten::schema_count(); ++i)
        CHECK(schema_difference(aten::schema_at(i), aten::schema_at(i)).empty());
}

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// Arguments of schemas that users declare: str[], int[][], float[][], complex, SymFloat, SymBool, tuples of tensors.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/aton.hpp>

namespace schema_types_test {

using namespace aton::dsl;

namespace {

// Each row shows its arguments as a refusal.
inline constexpr auto rows =
    table(symbolic<"my::named(Tensor x, str[] names=[\"a\\x41b\", 'c, d'], str[]? more=None) -> Tensor">(
              [](graph<13> g, value, std::span<std::string const> names,
                 std::optional<std::span<std::string const>> more) -> value {
                  std::string all;
                  for (std::string const& each : names) all += "<" + each + ">";
                  return g.unsupported(all + (more ? std::to_string(more->size()) : "none"));
              }),
          symbolic<"my::turned(Tensor x, complex by=2.0+0.5j, complex? then=None) -> Tensor">(
              [](graph<13> g, value, scalar by, std::optional<scalar> then) -> value {
                  return g.unsupported(std::to_string(by.to<double>()) + " " + std::to_string(by.imaginary()) +
                                       (by.is_complex() ? " complex" : " real") + (then ? " then" : ""));
              }),
          symbolic<"my::scaled(Tensor x, SymFloat f, SymBool b) -> Tensor">(
              [](graph<13> g, value, double f, bool b) -> value {
                  return g.unsupported(std::to_string(f) + (b ? " true" : " false"));
              }),
          symbolic<"my::grouped(Tensor x, int[][] groups, float[][]? weights=None) -> Tensor">(
              [](graph<13> g, value, std::vector<std::vector<std::int64_t>> groups,
                 std::optional<std::vector<std::vector<double>>> weights) -> value {
                  std::string all;
                  for (std::vector<std::int64_t> const& group : groups) {
                      all += "<";
                      for (std::int64_t const each : group) all += std::to_string(each) + ",";
                      all += ">";
                  }
                  if (weights)
                      for (std::vector<double> const& each : *weights) all += std::to_string(each.at(0));
                  return g.unsupported(all);
              }),
          symbolic<"my::joined((Tensor, Tensor, Tensor) all, (Tensor, Tensor) two) -> Tensor">(
              [](graph<13> g, std::array<value, 3> all, std::array<value, 2> two) -> value {
                  return g.op<"Concat">(all[2], two[0], all[0], two[1], attr::axis_i(0));
              }));

struct fixture {
    graph_data data;
    value x{data, data.add_input("x", {dtype::float32, aton::shape{2}})};
    value y{data, data.add_input("y", {dtype::float32, aton::shape{3}})};
    value n{data, data.add_input("n", {dtype::float64, aton::shape(std::vector<aton::dim>())})};

    graph<13> g() { return {data, 20}; }
    std::string shown(char const* overload, std::vector<argument> more) {
        more.insert(more.begin(), argument::of_tensor(x));
        return refusal_of([&] { (void)convert(data, *find(rows, overload, 20), 20, more); });
    }
    template <class Call>
    static std::string refusal_of(Call const& call) {
        try {
            call();
        } catch (aton::refused const& e) {
            return std::string(e.reason());
        }
        return "converted";
    }
};

} // namespace

TEST_CASE("a list of strings arrives as strings, and its default with its escapes") {
    fixture f;
    CHECK(f.shown("my::named", {argument::of_texts({"q", "", "r s"})}) == "<q><><r s>none");
    CHECK(f.shown("my::named", {argument::of_texts({}), argument::of_texts({"t", "u"})}) == "2");
    CHECK(f.shown("my::named", {}) == "<aAb><c, d>none");
    CHECK(f.shown("my::named", {argument::of_text("q")}) == "argument 'names' is \"q\", but its type is str[]");
}

TEST_CASE("lists of lists of numbers arrive as vectors") {
    fixture f;
    CHECK(f.shown("my::grouped", {argument::of_number_lists({{1, -2}, {}, {3}})}) == "<1,-2,><><3,>");
    CHECK(f.shown("my::grouped", {argument::of_number_lists({{1}}), argument::of_number_lists({{0.5, 2}, {1}})}) ==
          "<1,>0.5000001.000000");
    CHECK(f.shown("my::grouped", {argument::of_numbers({})}).empty());
    CHECK(f.shown("my::grouped", {argument::of_numbers({1, 2})}) ==
          "argument 'groups' is [1, 2], but its type is int[][]");
    CHECK(f.shown("my::grouped", {argument::of_number_lists({{0.5}})}) ==
          "argument 'groups' is a list of 1 lists, but its type is int[][]");
    number const computed = f.g().cast(f.n, dtype::int64);
    CHECK(f.shown("my::grouped", {argument::of_number_lists({{computed}})}).find("argument 'groups' is computed") == 0);
}

TEST_CASE("a complex argument is complex, also where the program gives a real number") {
    fixture f;
    CHECK(f.shown("my::turned", {argument::of_number(scalar::complex(1, -3))}) == "1.000000 -3.000000 complex");
    CHECK(f.shown("my::turned", {argument::of_number(4), argument::of_number(1)}) == "4.000000 0.000000 complex then");
    CHECK(f.shown("my::turned", {}) == "2.000000 0.500000 complex");
}

TEST_CASE("SymFloat and SymBool arrive as constants; computed ones are refused") {
    fixture f;
    CHECK(f.shown("my::scaled", {argument::of_number(0.25), argument::of_number(true)}) == "0.250000 true");
    CHECK(f.shown("my::scaled", {argument::of_number(f.n), argument::of_number(true)}).find("argument 'f'") == 0);
}

TEST_CASE("a tuple of tensors arrives as an array of its length, or is refused") {
    fixture f;
    entry const& row = *find(rows, "my::joined", 20);
    (void)convert(f.data, row, 20, {argument::of_tensors({f.x, f.y, f.y}), argument::of_tensors({f.x, f.x})});
    CHECK(f.data.nodes.back().inputs == std::vector<aton::value_id>{f.y.id(), f.x.id(), f.x.id(), f.x.id()});
    CHECK(fixture::refusal_of([&] {
              (void)convert(f.data, row, 20, {argument::of_tensors({f.x, f.y}), argument::of_tensors({f.x, f.x})});
          }) == "argument 'all' is a list of 2 tensors, but its type is (Tensor, Tensor, Tensor)");
    CHECK(fixture::refusal_of([&] {
              (void)convert(f.data, row, 20, {argument::of_tensors({f.x, f.y, {}}), argument::of_tensors({f.x, f.x})});
          }) == "argument 'all' is a list of 3 tensors, but its type is (Tensor, Tensor, Tensor)");
}

} // namespace schema_types_test

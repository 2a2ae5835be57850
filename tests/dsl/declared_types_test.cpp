// SPDX-License-Identifier: MIT
// The types of a declaration, compared with its body, its infer<...> rule, its attributes, and other versions of its domain.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <aton/aton.hpp>

namespace declared_types_test {

using namespace aton::dsl;

namespace {

inline constexpr auto as_value = [](graph<13> g, value x) -> value { return g.op<"Shape">(x); };
inline constexpr auto as_half = [](graph<13> g, value x) -> value { return g.cast(x, dtype::float16); };

inline value_type one_too_narrow(inference const& in) { return {dtype::int64, in.input(0).shape}; }
inline std::vector<value_type> of_length(inference const& in) {
    return std::vector<value_type>(static_cast<std::size_t>(in.attribute<std::int64_t>("n")), in.input(0));
}
inline std::array<value_type, 2> two(inference const& in) { return {in.input(0), in.input(0)}; }
template <class T>
value_type reads(inference const& in) {
    (void)in.attribute<T>("a");
    return in.input(0);
}

inline constexpr auto first =
    domain<"test.types", 1, op<"Whole(T X) -> (T Z)", "T: float, float16", body<as_value>>,
           op<"Half(T X) -> (T Z)", "T: float, float16", body<as_half>>,
           op<"Told(T X) -> (T Z)", "T: float, float16", infer<one_too_narrow>>,
           op<"Several(T X, int n) -> (T Y, T? Z)", "", infer<of_length>>,
           op<"Many(T X, int n) -> (T... Ys)", "", infer<of_length>>, op<"Two(T X) -> (T Y, T? Z)", "", infer<two>>,
           op<"FloatOfInt(T X, int a) -> (T Y)", "", infer<reads<double>>>,
           op<"IntOfFloat(T X, float a) -> (T Y)", "", infer<reads<std::int64_t>>>,
           op<"ListOfOne(T X, int a=1) -> (T Y)", "", infer<reads<std::vector<std::int64_t>>>>,
           op<"TextOfInt(T X, int a) -> (T Y)", "", infer<reads<std::string>>>,
           op<"Narrow(T X, int a) -> (T Y)", "", infer<reads<std::int8_t>>>,
           op<"Right(T X, float a) -> (T Y)", "", infer<reads<float>>>>{};
inline constexpr auto second = domain<"test.types", 2, op<"Other(T X) -> (T Z)">>{};
inline constexpr auto also_first = domain<"test.types", 1, op<"Another(T X) -> (T Z)">>{};

using of_second = graph<13, second>;

struct fixture {
    graph_data data;
    graph<13, first> g{data, 20};
    value x{data, data.add_input("x", {dtype::float32, aton::shape{2, 3}})};
};

} // namespace

TEST_CASE("a body whose results do not have the declared types is refused") {
    fixture f;
    CHECK_THROWS_WITH_AS(
        (void)f.g.op<"test.types::Whole">(f.x),
        "test.types::Whole: output 'Z' is int64 according to its body, but float32 according to its declaration",
        aton::illegal_call);
    CHECK_THROWS_WITH_AS(
        (void)f.g.op<"test.types::Half">(f.x),
        "test.types::Half: output 'Z' is float16 according to its body, but float32 according to its declaration",
        aton::illegal_call);
    value const h(f.data, f.data.add_input("h", {dtype::float16, aton::shape{2, 3}}));
    CHECK(f.g.op<"test.types::Half">(h).dtype() == dtype::float16);
    value const unknown(f.data, f.data.add_input("u", value_type{}));
    CHECK_THROWS_WITH_AS(
        (void)f.g.op<"test.types::Whole">(unknown),
        "test.types::Whole: output 'Z' is int64 according to its body, which its declaration does not allow",
        aton::illegal_call);
}

TEST_CASE("an infer<...> rule that returns another type than the declaration is refused") {
    fixture f;
    CHECK_THROWS_WITH_AS((void)f.g.op<"test.types::Told">(f.x),
                         "test.types::Told: output 'Z' is int64 according to its infer<...> rule, but float32 "
                         "according to its declaration",
                         aton::illegal_call);
}

TEST_CASE("an infer<...> rule returns as many types as there are outputs") {
    fixture f;
    CHECK_NOTHROW((void)f.g.op<"test.types::Several">(f.x, attr_i<"n">(1)));
    CHECK_NOTHROW((void)f.g.op<"test.types::Several">(f.x, attr_i<"n">(2))); // one for each declared output
    CHECK_NOTHROW((void)f.g.op<"test.types::Several">(f.x, attr_i<"n">(2), outputs<2>));
    CHECK_THROWS_WITH_AS((void)f.g.op<"test.types::Several">(f.x, attr_i<"n">(1), outputs<2>),
                         "Several: the infer<...> rule returns 1 types, but the call has 2 outputs",
                         aton::illegal_call);
    CHECK_THROWS_AS((void)f.g.op<"test.types::Several">(f.x, attr_i<"n">(3)), aton::illegal_call);
    CHECK_THROWS_AS((void)f.g.op<"test.types::Several">(f.x, attr_i<"n">(0)), aton::illegal_call);
    CHECK_NOTHROW((void)f.g.op<"test.types::Many">(f.x, attr_i<"n">(3), output_list(3)));
    CHECK_THROWS_AS((void)f.g.op<"test.types::Many">(f.x, attr_i<"n">(2), output_list(3)), aton::illegal_call);
    CHECK_THROWS_AS((void)f.g.op<"test.types::Many">(f.x, attr_i<"n">(4), output_list(3)), aton::illegal_call);
    auto const [y, z] = f.g.op<"test.types::Two">(f.x, outputs<2>);
    CHECK(y.shape() == z.shape());
}

TEST_CASE("an attribute is read with its own type") {
    fixture f;
    CHECK_THROWS_WITH_AS((void)f.g.op<"test.types::FloatOfInt">(f.x, attr_i<"a">(3)),
                         "FloatOfInt: attribute 'a' is an int, but infer<...> reads it as another type",
                         aton::illegal_call);
    CHECK_THROWS_AS((void)f.g.op<"test.types::IntOfFloat">(f.x, attr_f<"a">(3)), aton::illegal_call);
    CHECK_THROWS_AS((void)f.g.op<"test.types::ListOfOne">(f.x), aton::illegal_call);
    CHECK_THROWS_AS((void)f.g.op<"test.types::TextOfInt">(f.x, attr_i<"a">(3)), aton::illegal_call);
    CHECK_THROWS_AS((void)f.g.op<"test.types::Narrow">(f.x, attr_i<"a">(300)), aton::illegal_call);
    CHECK_NOTHROW((void)f.g.op<"test.types::Narrow">(f.x, attr_i<"a">(-128)));
    CHECK_NOTHROW((void)f.g.op<"test.types::Right">(f.x, attr_f<"a">(3)));
}

TEST_CASE("a model imports one version of a domain") {
    fixture f;
    (void)f.g.op<"test.types::Right">(f.x, attr_f<"a">(1));
    (void)graph<13, also_first>(f.data, 20).op<"test.types::Another">(f.x);
    CHECK_THROWS_WITH_AS(
        (void)of_second(f.data, 20).op<"test.types::Other">(f.x),
        "version 2 of domain test.types is called, but an earlier call imports version 1; a model imports only "
        "one version of a domain",
        aton::illegal_call);
    REQUIRE(f.data.opset_imports.size() == 1);
    CHECK(f.data.opset_imports[0].second == 1);
    // In a branch, too: the outer graph imports the domains of its nested graphs.
    value const c(f.data, f.data.add_input("c", {dtype::bool_, aton::shape(std::vector<aton::dim>{})}));
    auto const branch = [&] {
        (void)f.g.op<"If">(c,
                           attr::then_branch_g([&](of_second b) { return b.op<"test.types::Other">(f.x); }),
                           attr::else_branch_g([&](graph<13> b) { return b.op<"Neg">(f.x); }));
    };
    CHECK_THROWS_AS(branch(), aton::illegal_call);
}

} // namespace declared_types_test

// SPDX-License-Identifier: MIT
// Calls of declared operators: operands, attributes of every type, types of results, and the domains that a graph names.
#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <aton/aton.hpp>

namespace domain_test {

using namespace aton::dsl;

namespace {

inline value_type padded(inference const& in) {
    auto const pads = in.attribute<std::vector<std::int64_t>>("pads");
    value_type out = in.input(0);
    if (!out.shape.has_rank()) return out;
    std::vector<dim> dims = out.shape.dims();
    for (std::size_t i = 0; i != dims.size() && i < pads.size(); ++i)
        if (dims[i].is_static()) dims[i] = dims[i].size() + pads[i];
    out.shape = aton::shape(dims);
    return out;
}

inline std::vector<value_type> facts(inference const& in) {
    bool const masked = in.has(1);
    tensor const* const k = in.constant(2);
    std::int64_t const count = k == nullptr ? -1 : k->at(0).to<std::int64_t>();
    return {{masked ? in.input(1).dtype : dtype::float64, aton::shape{count, in.attribute<std::int64_t>("n")}},
            {dtype::int64, aton::shape{static_cast<std::int64_t>(in.inputs())}}};
}

inline value_type by_text(inference const& in) {
    auto const modes = in.attribute<std::vector<std::string>>("modes");
    auto const scales = in.attribute<std::vector<float>>("scales");
    return {in.attribute<std::string>("mode") == "a, (b" ? dtype::float16 : dtype::float32,
            aton::shape{static_cast<std::int64_t>(modes.size()),
                        static_cast<std::int64_t>(scales.size()),
                        static_cast<std::int64_t>(in.attribute<double>("alpha") * 10)}};
}

inline constexpr auto shapes_domain = domain<
    "test.shapes", 3,
    op<"Like(T X, T? Y) -> (T Z = like(X), tensor(bool)? Same = like(X))", "T: float16, float, double">,
    op<"Blend(T X, T Y) -> (T Z = broadcast(X, Y))", "T: float16, float, double">,
    op<"Padded(T X, int[] pads=[1, 2]) -> (T Z)", "T: float, int64", infer<padded>>,
    op<"Facts(T X, T? Mask, tensor(int64)? K, int n=7) -> (any A, tensor(int64) B)", "T: float, bool", infer<facts>>,
    op<"Modes(T X, string mode='a, (b', string[] modes=['x', 'y,'], float[] scales=[1, .5, -2e1], float alpha=0.3) -> "
       "(any Z)",
       "", infer<by_text>>,
    op<"Gone(T X, int? depth) -> (T Z)", "T: float", infer<[](inference const& in) {
           return value_type{dtype::float32, aton::shape{in.attribute<std::int64_t>("depth")}};
       }>>,
    op<"Short(T X) -> (T A, T B)", "T: float",
       infer<[](inference const&) { return std::vector<value_type>{{dtype::float32, {}}}; }>>>{};

inline constexpr auto parts_domain =
    domain<"test.parts", 12,
           op<"Mix(T X, U? Bias, T... Rest) -> (T Y, U... Others)", "T: float, int64; U: bool, int32">,
           op<"All(tensor(float) X, float f, int i, string s, tensor t, graph g, float[] fs, int[] is, string[] ss, "
              "tensor[] ts) -> (seq(float) Z)">,
           op<"Any(any X, any... Rest) -> (any Z)">, op<"Clock(int step=1) -> (tensor(int64) Now)">>{};

using g13 = graph<13, shapes_domain>;
using both = graph<13, shapes_domain, parts_domain>;

// Results have the types that the declaration allows.
template <class Graph, aton::fixed_string Name, class... Args>
using result = decltype(std::declval<Graph>().template op<Name>(std::declval<Args>()...));
template <dtype... T>
using typed = typed_value<tensors(T...)>;
static_assert(result<both, "test.shapes::Blend", value, value>::types ==
              tensors(dtype::float16, dtype::float32, dtype::float64));
static_assert(result<both, "test.shapes::Blend", typed<dtype::float16>, value>::types == tensors(dtype::float16));
static_assert(result<both, "test.shapes::Blend", value, double>::types.contains(dtype::float64));
static_assert(std::is_same_v<std::tuple_element_t<1, result<both, "test.shapes::Like", value, outputs_t<2>>>,
                             typed_value<tensors(dtype::bool_)>>);
static_assert(!result<both, "test.parts::All", value, decltype(attr_f<"f">(1.0)), decltype(attr_i<"i">(1)),
                      decltype(attr_s<"s">("")), decltype(attr_t<"t">(tensor())),
                      decltype(attr_g<"g">([](graph<13>, value x) { return x; })), decltype(attr_f<"fs">({1.0})),
                      decltype(attr_i<"is">({1})), decltype(attr_s<"ss">({"a"})),
                      decltype(attr_t<"ts">(std::vector<tensor>()))>::types.contains(dtype::float32));

// What is refused.
static_assert(!valid_call<both, "test.shapes::Blend", value, typed<dtype::bool_>>);
static_assert(!valid_call<both, "test.shapes::Blend", typed<dtype::float16>, typed<dtype::float32>>);
static_assert(!valid_call<both, "test.shapes::Blend", value>);
static_assert(!valid_call<both, "test.shapes::Blend", value, value, value>);
static_assert(!valid_call<both, "test.shapes::Padded", value, decltype(attr_i<"pads">(1))>);
static_assert(!valid_call<both, "test.shapes::Padded", value, decltype(attr_i<"pad">({1}))>);
static_assert(!valid_call<both, "test.parts::Blend", value, value>);
static_assert(!valid_call<graph<13, parts_domain>, "test.shapes::Blend", value, value>);
static_assert(!valid_call<both, "test.parts::Mix", value, value, outputs_t<2>>); // at least one of Rest
static_assert(valid_call<both, "test.parts::Mix", value, absent_t, value, value, value, outputs_t<2>>);
static_assert(valid_call<both, "test.parts::Mix", value, optional_value, std::vector<value>, output_list>);
static_assert(!valid_call<both, "test.parts::Mix", value, value, value>); // at least one of Others
static_assert(!valid_call<both, "test.parts::Mix", typed<dtype::int64>, absent_t, typed<dtype::float32>, outputs_t<2>>);
static_assert(valid_call<both, "test.parts::Any", typed<dtype::int64>, typed<dtype::float32>, typed<dtype::string>>);
static_assert(valid_call<both, "test.parts::Clock">);

// A graph that names more domains converts to one that names fewer, but not vice versa.
static_assert(std::is_convertible_v<g13, graph<13>> && std::is_convertible_v<g13, graph<11>>);
static_assert(!std::is_convertible_v<graph<13>, g13> && std::is_convertible_v<both, g13> &&
              !std::is_convertible_v<g13, both>);
static_assert(std::is_convertible_v<graph<13, 17, parts_domain, shapes_domain>, both>);
static_assert(std::is_convertible_v<graph<13, 17, shapes_domain>, graph<11, 20, shapes_domain>>);
static_assert(!std::is_convertible_v<graph<11, shapes_domain>, g13>);
static_assert(!std::is_convertible_v<graph<13, parts_domain>, g13>);

struct fixture {
    graph_data data;
    value input(std::string name, dtype type, aton::shape shape) {
        return {data, data.add_input(std::move(name), {type, std::move(shape)})};
    }
};

} // namespace

TEST_CASE("a call of a declared operator is a node of its domain, whose version the graph imports") {
    fixture f;
    both const g(f.data, 17);
    value const x = f.input("x", dtype::float32, {2, 1, 3});
    value const y = f.input("y", dtype::float32, {4, 1});
    value const z = g.op<"test.shapes::Blend">(x, y);
    auto const& node = f.data.nodes.back();
    CHECK(node.domain == "test.shapes");
    CHECK(node.op == "Blend");
    CHECK(node.overload.empty());
    CHECK(node.attributes.empty());
    CHECK(z.type() == value_type{dtype::float32, aton::shape{2, 4, 3}});
    (void)g.op<"test.parts::Clock">(attr_i<"step">(5));
    (void)g.op<"test.shapes::Blend">(z, 2); // the number has the type of the other operand
    CHECK(f.data.nodes[f.data.nodes.size() - 2].attributes[0].tensors[0].type == dtype::float32);
    CHECK(f.data.opset == 17);
    REQUIRE(f.data.opset_imports.size() == 2);
    CHECK(f.data.opset_imports[0] == std::pair<std::string, int>("test.shapes", 3));
    CHECK(f.data.opset_imports[1] == std::pair<std::string, int>("test.parts", 12));
    CHECK(f.data.functions.empty());
}

TEST_CASE("optional, variadic and several outputs") {
    fixture f;
    both const g(f.data, 13);
    value const x = f.input("x", dtype::int64, {5});
    value const b = f.input("b", dtype::bool_, {});
    std::vector<value> const rest{x, x, x};
    auto const all = g.op<"test.parts::Mix">(x, absent, rest, output_list(4));
    CHECK(all.size() == 4);
    CHECK(all[0].dtype() == dtype::int64);
    CHECK(all[1].dtype() == dtype::undefined); // bool or int32: nothing determines it
    CHECK(f.data.nodes.back().inputs == std::vector<aton::value_id>{x.id(), aton::no_value, x.id(), x.id(), x.id()});
    auto const [y, o] = g.op<"test.parts::Mix">(x, b, x, outputs<2>);
    CHECK(o.dtype() == dtype::bool_);
    CHECK(y.dtype() == dtype::int64);
    (void)g.op<"test.shapes::Like">(f.input("h", dtype::float16, {3, 2}), optional_value());
    CHECK(f.data.nodes.back().inputs.size() == 1);
}

TEST_CASE("like copies the shape; a stated type stays") {
    fixture f;
    g13 const g(f.data, 13);
    auto const [z, same] = g.op<"test.shapes::Like">(f.input("h", dtype::float16, {3, dim("n"), 2}), outputs<2>);
    CHECK(z.type() == value_type{dtype::float16, aton::shape{3, dim("n"), 2}});
    CHECK(same.type() == value_type{dtype::bool_, aton::shape{3, dim("n"), 2}});
    value const unknown(f.data, f.data.add_input("u", value_type{}));
    value const w = g.op<"test.shapes::Blend">(unknown, z);
    CHECK(w.dtype() == dtype::float16);
    CHECK(!w.has_rank());
}

TEST_CASE("a rule reads types, constants and attributes, also those that the call omits") {
    fixture f;
    g13 const g(f.data, 13);
    value const x = f.input("x", dtype::float32, {2, 5, dim("n")});
    CHECK(g.op<"test.shapes::Padded">(x).shape() == aton::shape{3, 7, dim("n")});
    CHECK(g.op<"test.shapes::Padded">(x, attr_i<"pads">({-1})).shape() == aton::shape{1, 5, dim("n")});
    auto const [a, b] = g.op<"test.shapes::Facts">(x, absent, 4, outputs<2>);
    CHECK(a.type() == value_type{dtype::float64, aton::shape{4, 7}});
    CHECK(b.type() == value_type{dtype::int64, aton::shape{3}});
    value const m =
        std::get<0>(g.op<"test.shapes::Facts">(x, x, g.scalar(9, dtype::int64), attr_i<"n">(11), outputs<2>));
    CHECK(m.type() == value_type{dtype::float32, aton::shape{9, 11}});
    CHECK(g.op<"test.shapes::Modes">(x).type() == value_type{dtype::float16, aton::shape{2, 3, 3}});
    CHECK(g.op<"test.shapes::Modes">(
               x, attr_s<"mode">("c"), attr_s<"modes">({"p"}), attr_f<"scales">({1}), attr_f<"alpha">(2))
              .type() == value_type{dtype::float32, aton::shape{1, 1, 20}});
    CHECK(g.op<"test.shapes::Gone">(x, attr_i<"depth">(6)).shape() == aton::shape{6});
}

TEST_CASE("errors known only at run time are refused in one line") {
    fixture f;
    both const g(f.data, 13);
    value const x = f.input("x", dtype::float32, {2});
    value const h = f.input("h", dtype::float16, {2});
    value const flag = f.input("flag", dtype::bool_, {2});
    std::vector<value> const none;
    CHECK_THROWS_WITH_AS((void)g.op<"test.shapes::Blend">(x, flag),
                         doctest::Contains("test.shapes::Blend (opset 3): input 'Y' is bool"),
                         illegal_call);
    CHECK_THROWS_WITH_AS((void)g.op<"test.shapes::Blend">(x, h),
                         doctest::Contains("another input of the same type variable is float32"),
                         illegal_call);
    CHECK_THROWS_WITH_AS((void)g.op<"test.parts::Mix">(x, absent, none, outputs<2>),
                         doctest::Contains("test.parts::Mix (opset 12): takes at least 3 inputs"),
                         illegal_call);
    CHECK_THROWS_WITH_AS((void)g.op<"test.shapes::Gone">(x), "Gone: attribute 'depth' is not given", illegal_call);
    CHECK_THROWS_WITH_AS((void)g.op<"test.shapes::Short">(x, outputs<2>),
                         "Short: the infer<...> rule returns 1 types, but the call has 2 outputs",
                         illegal_call);
    CHECK_THROWS_AS((void)g13(f.data, 12), aton::error);
}

TEST_CASE("attributes of every type keep their values") {
    fixture f;
    both const g(f.data, 13);
    value const x = f.input("x", dtype::float32, {2});
    tensor const t = aton::int64_tensor(std::vector<std::int64_t>{7, 8});
    graph_data inner;
    value const z = g.op<"test.parts::All">(x,
                                            attr_t<"ts">(std::vector<tensor>{t, t}),
                                            attr_s<"ss">({"a", "b"}),
                                            attr_i<"is">({3, -4}),
                                            attr_f<"fs">({0.5, -1.25}),
                                            attr_g<"g">(inner),
                                            attr_t<"t">(t),
                                            attr_s<"s">("text"),
                                            attr_i<"i">(-9),
                                            attr_f<"f">(2.5));
    CHECK(z.type().kind == aton::value_kind::sequence);
    CHECK(z.dtype() == dtype::float32);
    auto const& all = f.data.nodes.back().attributes;
    REQUIRE(all.size() == 9);
    CHECK(all[0].tensors.size() == 2);
    CHECK(all[1].strings == std::vector<std::string>{"a", "b"});
    CHECK(all[2].ints == std::vector<std::int64_t>{3, -4});
    CHECK(all[3].floats == std::vector<float>{0.5F, -1.25F});
    CHECK(all[4].graphs.size() == 1);
    CHECK(all[5].tensors[0] == t);
    CHECK(all[6].s == "text");
    CHECK(all[7].i == -9);
    CHECK(all[8].f == 2.5F);
}

namespace {

inline constexpr auto base =
    domain<"test.parts", 2, op<"Foo(T X, float alpha=0.5) -> (T Y = like(X))", "T: float">, op<"Bar(T X) -> (T Y)">>{};
inline constexpr auto extension = domain<"test.parts", 2, op<"Baz(T X, T... Rest) -> (T Y)">>{};
inline constexpr auto half = [](graph<13> g, value x, double alpha) { return g.op<"Mul">(x, alpha); };
/// The same declaration of Foo, with a body.
inline constexpr auto definition =
    domain<"test.parts", 2, op<"Foo(T X, float alpha=0.5) -> (T Y = like(X))", "T: float", body<half>>>{};

using of_all = graph<13, base, extension, definition>;

} // namespace

TEST_CASE("declarations of one domain add up") {
    graph_data data;
    of_all const g(data, 17);
    value const x(data, data.add_input("x", {dtype::float32, aton::shape{2, 3}}));
    value const y = g.op<"test.parts::Foo">(g.op<"test.parts::Bar">(x));
    (void)g.op<"test.parts::Baz">(x, y);
    REQUIRE(data.functions.size() == 1); // of the declaration with a body, wherever it is named
    CHECK(data.functions[0].name == "Foo");
    REQUIRE(data.opset_imports.size() == 1);
    CHECK(data.opset_imports[0].second == 2);
    static_assert(valid_call<of_all, "test.parts::Baz", value, value>);
    static_assert(!valid_call<of_all, "test.parts::Ba", value>);
    static_assert(!valid_call<graph<13, base, definition>, "test.parts::Baz", value, value>);
    graph<13, definition, base> const fewer(data, 17);
    (void)fewer.op<"test.parts::Foo">(x);
    CHECK(data.functions.size() == 1);
}

} // namespace domain_test

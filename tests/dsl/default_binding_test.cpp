// SPDX-License-Identifier: MIT
// Every default of every ATen schema binds to the kind that its type requires.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <aton/aten/schema_table.hpp>
#include <aton/dsl/binding.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::dsl {

namespace {

using aten::base_type;
using kind = argument_kind;

bound_argument bound(aten::schema_argument const& formal) {
    graph_data graph;
    bound_argument out{aten::default_argument<argument>(formal)};
    detail::argument_normalizer<graph_data, bound_argument>(graph, "the default").normalize(out, formal);
    return out;
}
bound_argument bound(std::string_view argument_text) {
    std::string const schema = "x::y(" + std::string(argument_text) + ") -> Tensor";
    aten::argument_cursor cursor(schema);
    aten::schema_argument formal;
    REQUIRE(cursor.next(formal));
    return bound(formal);
}

/// The kind of an argument of this type after binding.
kind kind_of(aten::schema_type const& t) {
    switch (t.base) {
    case base_type::tensor: return t.list ? kind::tensors : kind::tensor;
    case base_type::int_:
    case base_type::sym_int:
    case base_type::float_:
    case base_type::bool_:
    case base_type::scalar: return t.list ? kind::numbers : kind::number;
    case base_type::str: return kind::text;
    case base_type::scalar_type: return kind::type;
    case base_type::layout:
    case base_type::device:
    case base_type::memory_format: return kind::tag;
    default: return kind::none;
    }
}

} // namespace

TEST_CASE("every default of every schema binds") {
    std::size_t defaults = 0;
    for (std::size_t i = 0; i != aten::schema_count(); ++i) {
        aten::argument_cursor cursor(aten::schema_at(i));
        aten::schema_argument formal;
        while (cursor.next(formal)) {
            if (!formal.has_default) continue;
            ++defaults;
            std::string const where = std::string(aten::schema_at(i)) + ": " + std::string(formal.name);
            bound_argument a;
            try {
                a = bound(formal);
            } catch (unsupported_error const& e) {
                FAIL_CHECK(where << ": " << e.what());
                continue;
            }
            bool const none = formal.default_text == "None";
            bool const right = a.kind == (none ? kind::none : kind_of(formal.type));
            CHECK_MESSAGE(right, where);
            bool const repeated = !none && formal.type.list && !formal.default_text.starts_with('[');
            bool const long_enough = !repeated || a.numbers.size() == static_cast<std::size_t>(formal.type.list_size);
            CHECK_MESSAGE(long_enough, where);
            // A call that gives the default equals one that omits it.
            bool const equal = detail::same(a, bound(formal)) || a.kind == kind::tensors || a.kind == kind::tensor;
            CHECK_MESSAGE(equal, where);
        }
    }
    CHECK(defaults > 2500);
}

TEST_CASE("a default that is torch's number of an enumeration becomes its name") {
    CHECK(bound("ScalarType? dtype=4").type == dtype::int64);
    CHECK(bound("ScalarType dtype=0").type == dtype::uint8);
    CHECK(bound("ScalarType dtype=15").type == dtype::bfloat16);
    CHECK(bound("ScalarType dtype=11").type == dtype::bool_);
    CHECK(bound("ScalarType dtype=24").type == dtype::float8_e4m3fn);
    CHECK(bound("Layout layout=0").text == "strided");
    CHECK(bound("MemoryFormat memory_format=0").text == "contiguous_format");
    CHECK(bound("MemoryFormat? memory_format=3").text == "channels_last_3d");
}

TEST_CASE("a default that is a name equals its number") {
    CHECK(bound("ScalarType? dtype=long").type == dtype::int64);
    CHECK(bound("ScalarType dtype=float").type == dtype::float32);
    CHECK(bound("ScalarType dtype=bfloat16").type == dtype::bfloat16);
    CHECK(bound("Layout layout=strided").text == "strided");
    CHECK(bound("MemoryFormat memory_format=preserve_format").text == "preserve_format");
    CHECK(bound("int reduction=Mean").number.constant() == scalar(1));
    CHECK(bound("Device device=\"cpu\"").text == "cpu");
}

TEST_CASE("a default has the type of its argument") {
    CHECK(bound("float eps=1").number.constant() == scalar(1.0));
    CHECK_FALSE(bound("float eps=1").number.is_integral());
    CHECK(bound("bool x=1").number.is_bool());
    CHECK(bound("Scalar alpha=1").number.is_integral());
    CHECK_FALSE(bound("Scalar alpha=1.").number.is_integral());
    CHECK(bound("int[2] stride=1").ints == std::vector<std::int64_t>{1, 1});
    CHECK(bound("SymInt[3] stride=[1, 2, 3]").ints == std::vector<std::int64_t>{1, 2, 3});
    CHECK(bound("float[2] scale=1").floats == std::vector<double>{1, 1});
    CHECK(bound("str side='ri\\'ght'").text == "ri'ght");
}

TEST_CASE("a default that does not fit its type is refused with a sentence") {
    auto const refused = [](std::string_view text) {
        try {
            (void)bound(text);
        } catch (unsupported_error const& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refused("ScalarType dtype=12") == "the default: argument 'dtype' is 12, but its type is ScalarType"); // qint8
    CHECK(refused("ScalarType dtype=1000") == "the default: argument 'dtype' is 1000, but its type is ScalarType");
    CHECK(refused("ScalarType dtype=lang") == "the default: argument 'dtype' is lang, but its type is ScalarType");
    CHECK(refused("Layout layout=-1") == "the default: argument 'layout' is -1, but its type is Layout");
    CHECK(refused("int reduction=Some") == "the default: argument 'reduction' is Some, but its type is int");
}

} // namespace ATON_NAMESPACE::dsl

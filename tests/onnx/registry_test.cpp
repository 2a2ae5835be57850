// SPDX-License-Identifier: MIT
// Compares the constexpr registry with libonnx's, every field of every version; and tests the look-ups at compile time.
#include <aton/onnx/registry.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <onnx/defs/schema.h>

namespace {

using namespace aton::onnx;
using ::onnx::AttributeProto;
using ::onnx::OpSchema;

std::vector<OpSchema> libonnx_schemas() {
    std::vector<OpSchema> all = ::onnx::OpSchemaRegistry::get_all_schemas_with_history();
    std::sort(all.begin(), all.end(), [](OpSchema const& a, OpSchema const& b) {
        if (a.domain() != b.domain()) return a.domain() < b.domain();
        return a.Name() != b.Name() ? a.Name() < b.Name() : a.SinceVersion() < b.SinceVersion();
    });
    return all;
}

/// The bits of a set of ONNX type strings, from ONNX's names of the dtypes, independently of the generator.
template <class Strings>
aton::type_set expected_types(Strings const& strings) {
    std::map<std::string, std::pair<int, std::uint64_t>> known; // half, bit
    for (std::size_t i = 1; i != aton::onnx_dtype_count; ++i) {
        std::string const t = "tensor(" + std::string(aton::onnx_name(static_cast<aton::dtype>(i))) + ")";
        known[t] = {0, std::uint64_t{1} << i};
        known["seq(" + t + ")"] = {0, std::uint64_t{1} << (32 + i)};
        known["optional(" + t + ")"] = {1, std::uint64_t{1} << i};
        known["optional(seq(" + t + "))"] = {1, std::uint64_t{1} << (32 + i)};
    }
    aton::type_set set;
    for (std::string const& s : strings) {
        auto const at = known.find(s);
        if (at == known.end()) {
            INFO("type ", s);
            CHECK((s.find("map(") != std::string::npos || s.find("sparse_tensor(") != std::string::npos));
            set.plain |= aton::type_set::other_bit;
        } else {
            (at->second.first == 0 ? set.plain : set.optionals) |= at->second.second;
        }
    }
    return set;
}

std::vector<std::string> strings_of(::onnx::DataTypeSet const& types) {
    std::vector<std::string> all;
    for (auto const* t : types) all.push_back(*t);
    return all;
}

void check_formal(op_schema ours, formal const& f, OpSchema const& theirs, OpSchema::FormalParameter const& expected) {
    CHECK(f.name == expected.GetName());
    CHECK(static_cast<int>(f.kind) == static_cast<int>(expected.GetOption()));
    CHECK(f.homogeneous == expected.GetIsHomogeneous());
    CHECK(f.min_arity == expected.GetMinArity());
    CHECK(f.types == expected_types(strings_of(expected.GetTypes())));
    if (theirs.typeConstraintMap().contains(expected.GetTypeStr())) {
        REQUIRE(f.type_var >= 0);
        CHECK(ours.var(f.type_var).name == expected.GetTypeStr());
    } else {
        CHECK(f.type_var == -1);
    }
}

/// Splits "[a, b]", and removes the quotes of strings.
std::vector<std::string> list_items(std::string_view text) {
    REQUIRE(text.size() >= 2);
    REQUIRE(text.front() == '[');
    REQUIRE(text.back() == ']');
    std::vector<std::string> items;
    std::string item;
    for (char const c : text.substr(1)) {
        if (c == ',' || c == ']') {
            if (!item.empty()) items.push_back(item);
            item.clear();
        } else if (c != ' ' && c != '\'') {
            item += c;
        }
    }
    return items;
}

void check_default(attribute const& a, AttributeProto const& expected) {
    std::string const text(a.default_text);
    if (!expected.has_name()) {
        CHECK(text.empty());
        return;
    }
    CHECK_FALSE(text.empty());
    switch (expected.type()) {
    case AttributeProto::FLOAT:
        CHECK(std::strtof(text.c_str(), nullptr) == expected.f());
        CHECK(text.find_first_of(".e") != std::string::npos);
        break;
    case AttributeProto::INT: CHECK(text == std::to_string(expected.i())); break;
    case AttributeProto::STRING: CHECK(text == (expected.s().empty() ? "''" : expected.s())); break;
    case AttributeProto::INTS: {
        auto const items = list_items(text);
        REQUIRE(items.size() == static_cast<std::size_t>(expected.ints_size()));
        for (int i = 0; i != expected.ints_size(); ++i)
            CHECK(items[static_cast<std::size_t>(i)] == std::to_string(expected.ints(i)));
        break;
    }
    case AttributeProto::STRINGS: {
        auto const items = list_items(text);
        REQUIRE(items.size() == static_cast<std::size_t>(expected.strings_size()));
        for (int i = 0; i != expected.strings_size(); ++i)
            CHECK(items[static_cast<std::size_t>(i)] == expected.strings(i));
        break;
    }
    default: FAIL("a kind of default that this test does not know");
    }
}

void check_schema(op_schema ours, OpSchema const& theirs) {
    INFO(theirs.domain(), "::", theirs.Name(), " ", theirs.SinceVersion());
    CHECK(ours.domain() == theirs.domain());
    CHECK(ours.name() == theirs.Name());
    CHECK(ours.since() == theirs.SinceVersion());
    CHECK(ours.deprecated() == theirs.Deprecated());
    CHECK(ours.min_inputs() == theirs.min_input());
    CHECK(ours.max_inputs() == theirs.max_input());
    CHECK(ours.min_outputs() == theirs.min_output());
    CHECK(ours.max_outputs() == theirs.max_output());
    REQUIRE(static_cast<std::size_t>(ours.input_count()) == theirs.inputs().size());
    for (int i = 0; i != ours.input_count(); ++i)
        check_formal(ours, ours.input(i), theirs, theirs.inputs()[static_cast<std::size_t>(i)]);
    REQUIRE(static_cast<std::size_t>(ours.output_count()) == theirs.outputs().size());
    for (int i = 0; i != ours.output_count(); ++i)
        check_formal(ours, ours.output(i), theirs, theirs.outputs()[static_cast<std::size_t>(i)]);
    REQUIRE(static_cast<std::size_t>(ours.type_var_count()) == theirs.typeConstraintParams().size());
    for (int i = 0; i != ours.type_var_count(); ++i) {
        auto const& expected = theirs.typeConstraintParams()[static_cast<std::size_t>(i)];
        CHECK(ours.var(i).name == expected.type_param_str);
        CHECK(ours.var(i).types == expected_types(expected.allowed_type_strs));
    }
    REQUIRE(static_cast<std::size_t>(ours.attribute_count()) == theirs.attributes().size());
    for (auto const& [name, expected] : theirs.attributes()) {
        INFO("attribute ", name);
        int const at = ours.find_attribute(name);
        REQUIRE(at >= 0);
        attribute const a = ours.attr(at);
        CHECK(a.name == name);
        CHECK(static_cast<int>(a.type) == static_cast<int>(expected.type));
        CHECK(a.required == expected.required);
        check_default(a, expected.default_value);
    }
}

} // namespace

TEST_CASE("every schema version equals libonnx's") {
    std::vector<OpSchema> const expected = libonnx_schemas();
    REQUIRE(static_cast<std::size_t>(schema_count()) == expected.size());
    CHECK(schema_count() == 659);
    for (int i = 0; i != schema_count(); ++i) check_schema(schema_at(i), expected[static_cast<std::size_t>(i)]);
}

TEST_CASE("find agrees with libonnx at every opset") {
    auto const& domains = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    CHECK(static_cast<std::size_t>(domain_count()) == domains.size());
    for (auto const& [domain, range] : domains) CHECK(newest_version(domain) == range.second);
    int operators = 0;
    for (int op = 0; op != op_count(); ++op) {
        std::string const domain(op_versions(op)[0].domain());
        std::string const name(op_versions(op)[0].name());
        INFO(domain, "::", name);
        ++operators;
        int first = 0;
        for (int opset = 1; opset <= newest_version(domain); ++opset) {
            OpSchema const* const expected = ::onnx::OpSchemaRegistry::Schema(name, opset, domain);
            op_schema const ours = aton::onnx::find(domain, name, opset);
            CHECK(static_cast<bool>(ours) == (expected != nullptr));
            if (expected == nullptr) continue;
            if (first == 0) first = opset;
            CHECK(ours.since() == expected->SinceVersion());
        }
        CHECK(first_version(domain, name) == first);
    }
    CHECK(operators == op_count());
}

TEST_CASE("versions are those in force somewhere in the range") {
    for (int op = 0; op != op_count(); ++op) {
        version_range const all = op_versions(op);
        std::string_view const domain = all[0].domain();
        int const newest = newest_version(domain);
        for (int since = 1; since <= newest; ++since)
            for (int until = since; until <= newest; ++until) {
                std::vector<int> expected;
                for (int opset = since; opset <= until; ++opset)
                    if (op_schema const s = aton::onnx::find(domain, all[0].name(), opset);
                        s && (expected.empty() || expected.back() != s.since()))
                        expected.push_back(s.since());
                version_range const got = versions(domain, all[0].name(), since, until);
                REQUIRE(static_cast<std::size_t>(got.size()) == expected.size());
                for (int i = 0; i != got.size(); ++i) REQUIRE(got[i].since() == expected[static_cast<std::size_t>(i)]);
            }
    }
}

TEST_CASE("every name finds itself, and a misspelled one finds the original") {
    for (int op = 0; op != op_count(); ++op) {
        op_schema const s = op_versions(op)[0];
        std::string const name(s.name());
        CHECK(nearest_name(s.domain(), name) == name);
        if (name.size() < 5) continue; // one edit of a short name can be another name
        CHECK(nearest_name(s.domain(), name + "x") == name);
        CHECK_FALSE(nearest_name(s.domain(), name.substr(1)).empty());
    }
}

// The same at compile time.
static_assert(newest_opset == 28);
static_assert(find("", "Relu", 20).since() == 14);
static_assert(find("ai.onnx", "Relu", 20) == find("", "Relu", 20));
static_assert(!find("", "Reluu", 20));
static_assert(!find("", "Gelu", 19), "Gelu appeared in 20");
static_assert(!find("no.such.domain", "Relu", 20));
static_assert(find("", "Elu", 6).attr(0).default_text == "1.0");
static_assert(find("", "Concat", 13).max_inputs() == any_number);
static_assert(find("", "Upsample", 10).deprecated());
static_assert(find("", "Reshape", 13).input(1).type_var == -1, "a fixed type");
static_assert(find("", "Reshape", 13).input(1).types == aton::tensors(aton::dtype::int64));
static_assert(versions("", "ReduceSum", 11, 28).size() == 2);
static_assert(versions("", "ReduceSum", 12, 12)[0].since() == 11, "in force at the lower end");
static_assert(versions("", "Gelu", 7, 19).empty());
static_assert(versions("", "Gelu", 7, 20).size() == 1, "appears inside the range");
static_assert(find("", "ReduceSum", 11).find_attribute("axes") >= 0);
static_assert(find("", "ReduceSum", 13).find_attribute("axes") == -1);
static_assert(newest_version("ai.onnx.ml") == 5);
static_assert(newest_version("custom") == 0);
static_assert(first_version("", "Gelu") == 20);
static_assert(first_version("", "Nothing") == 0);
static_assert(nearest_name("", "Eluu") == "Elu");
static_assert(nearest_name("", "relu") == "Relu", "case alone comes first");
static_assert(nearest_name("", "GruopNormalizaton") == "GroupNormalization");
static_assert(nearest_name("", "Xyzzy").empty());
static_assert(nearest_attribute(find("", "Conv", 11), "kernel_size") == "kernel_shape");
static_assert(nearest_attribute(find("", "Relu", 14), "alpha").empty());

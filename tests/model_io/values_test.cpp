// SPDX-License-Identifier: MIT
// Values in files, and constants in models: every dtype and every encoding, and invalid bytes.
// ATON_FUZZ_ROUNDS (default 4000) is the number of changed files.
#include <aton/model_io/values.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <onnx/onnx-data.pb.h>
#include <onnx/onnx_pb.h>

#include <aton/aton.hpp>
#include <aton/model_io/model_io.hpp>

#include "../changed_bytes.hpp"
#include "../faults.hpp"

namespace values_test {

using namespace aton::dsl;
using aton::parse_value;
using aton::value_kind;
using aton::tests::contains;
using aton::tests::fault_of;

namespace {

::onnx::TensorProto proto(dtype type, std::vector<std::int64_t> const& sizes) {
    ::onnx::TensorProto out;
    out.set_data_type(static_cast<int>(type));
    for (std::int64_t s : sizes) out.add_dims(s);
    return out;
}

::onnx::TensorProto of_strings(std::vector<std::string> const& text, std::vector<std::int64_t> const& sizes) {
    ::onnx::TensorProto out = proto(dtype::string, sizes);
    for (std::string const& each : text) out.add_string_data(each);
    return out;
}

tensor read(::onnx::TensorProto const& from) {
    aton::file_value const v = parse_value(from.SerializeAsString(), value_kind::tensor, "x.pb");
    REQUIRE(v.tensors.size() == 1);
    CHECK(!v.is_sequence);
    return v.tensors[0];
}

std::string fault(::onnx::TensorProto const& from) {
    return fault_of([&] { return parse_value(from.SerializeAsString(), value_kind::tensor, "x.pb"); });
}

tensor const words{dtype::string, {2, 2}, {}, {"", "\xff \"b\"", "c", "d"}};

value_type const list_of_floats{dtype::float32, {2}, value_kind::optional_sequence};

/// A graph with constants that are strings, sparse tensors, and types.
graph_data with_odd_constants() {
    graph_data data;
    data.opset = 20;
    graph<13> const g(data, 20);
    value const all(data, data.add_value(value_type{dtype::string, {2, 2}}, "words"));
    data.set_initializer(all.id(), words);
    value const one = g.constant(tensor{dtype::string, {1}, {}, {"e"}});
    value const joined = g.op<"Concat">(all, g.op<"Expand">(one, g.ints({1, 2})), attr::axis_i(0));
    aton::graph_node sparse;
    sparse.op = "Constant";
    sparse.outputs = {data.add_value(value_type{dtype::float32, {3, 4}}, "sparse")};
    data.values[sparse.outputs[0]].producer = static_cast<std::int64_t>(data.nodes.size());
    aton::node_attribute& a = sparse.attributes.emplace_back();
    a.name = "sparse_value";
    a.type = aton::onnx::attr_type::sparse_tensor;
    a.tensors = {tensor{dtype::float32, {1}, std::string("\0\0\x80\x3f", 4)},
                 aton::int64_tensor(std::vector<std::int64_t>{7})};
    a.ints = {3, 4};
    data.nodes.push_back(sparse);
    aton::graph_node none;
    none.op = "Optional";
    none.outputs = {data.add_value(list_of_floats, "none")};
    data.values[none.outputs[0]].producer = static_cast<std::int64_t>(data.nodes.size());
    aton::node_attribute& t = none.attributes.emplace_back();
    t.name = "type";
    t.type = aton::onnx::attr_type::type_proto;
    t.types = {value_type{dtype::float32, {2}, value_kind::sequence}};
    data.nodes.push_back(none);
    data.outputs = {joined.id(), sparse.outputs[0], none.outputs[0]};
    return data;
}

} // namespace

TEST_CASE("a tensor of every dtype, as raw bytes or as numbers") {
    ::onnx::TensorProto raw = proto(dtype::int4, {3});
    raw.set_raw_data(std::string("\x97\x0f", 2));
    CHECK(read(raw) == tensor{dtype::int4, {3}, std::string("\x97\x0f", 2)});
    ::onnx::TensorProto numbers = proto(dtype::int4, {3});
    numbers.add_int32_data(0x97);
    numbers.add_int32_data(0x0f);
    CHECK(read(numbers) == read(raw));
    ::onnx::TensorProto half = proto(dtype::bfloat16, {1});
    half.add_int32_data(0x3f80);
    CHECK(read(half).at(0).to<double>() == 1);
    ::onnx::TensorProto pair = proto(dtype::complex64, {});
    pair.add_float_data(1);
    pair.add_float_data(-2);
    CHECK(read(pair).at(0).imaginary() == -2);
    CHECK(read(of_strings({"", "\xff \"b\"", "c", "d"}, {2, 2})) == words);
    for (int type = 1; type != static_cast<int>(aton::onnx_dtype_count); ++type) {
        auto const each = static_cast<dtype>(type);
        CAPTURE(std::string(name(each)));
        ::onnx::TensorProto empty = proto(each, {0, 5});
        CHECK(read(empty).sizes == std::vector<std::int64_t>{0, 5});
    }
}

TEST_CASE("sequences, optionals, and empty optionals") {
    ::onnx::SequenceProto many;
    many.set_elem_type(::onnx::SequenceProto_DataType_TENSOR);
    CHECK(parse_value(many.SerializeAsString(), value_kind::sequence).is_sequence);
    CHECK(parse_value(many.SerializeAsString(), value_kind::sequence).tensors.empty());
    *many.add_tensor_values() = of_strings({"a"}, {1});
    *many.add_tensor_values() = of_strings({"b"}, {});
    aton::file_value const both = parse_value(many.SerializeAsString(), value_kind::sequence);
    REQUIRE(both.tensors.size() == 2);
    CHECK(both.tensors[1].strings[0] == "b");

    ::onnx::OptionalProto maybe;
    CHECK(parse_value(maybe.SerializeAsString(), value_kind::optional_tensor).is_empty());
    maybe.set_elem_type(::onnx::OptionalProto_DataType_SEQUENCE);
    CHECK(parse_value(maybe.SerializeAsString(), value_kind::optional_sequence).is_empty());
    *maybe.mutable_sequence_value() = many;
    CHECK(parse_value(maybe.SerializeAsString(), value_kind::optional_sequence).tensors == both.tensors);
    maybe.set_elem_type(::onnx::OptionalProto_DataType_TENSOR);
    *maybe.mutable_tensor_value() = of_strings({"a"}, {1});
    CHECK(!parse_value(maybe.SerializeAsString(), value_kind::optional_tensor).is_sequence);

    many.set_elem_type(::onnx::SequenceProto_DataType_MAP);
    CHECK(fault_of([&] { return parse_value(many.SerializeAsString(), value_kind::sequence, "x.pb"); }) ==
          "x.pb: a sequence of something other than tensors");
    maybe.set_elem_type(::onnx::OptionalProto_DataType_OPTIONAL);
    CHECK(fault_of([&] { return parse_value(maybe.SerializeAsString(), value_kind::optional_tensor, "x.pb"); }) ==
          "x.pb: an optional of something other than a tensor or a sequence");
}

TEST_CASE("invalid values are refused in one line") {
    CHECK(fault_of([] { return parse_value("\x08", value_kind::tensor, "x.pb"); }) ==
          "x.pb: not an ONNX tensor, or truncated (protobuf cannot parse it)");
    CHECK(contains(fault_of([] { return parse_value("", value_kind::tensor, "x.pb"); }), "dtype"));
    CHECK(fault_of([] { return aton::read_value("/no/such/file.pb", value_kind::tensor); }) ==
          "/no/such/file.pb: no such file");
    CHECK(fault(of_strings({"a"}, {2})) == "x.pb has 1 strings, but its sizes need 2");
    CHECK(fault(proto(dtype::float32, {1 << 26, 1 << 26})) == "x.pb has 0 bytes, but its sizes need 18014398509481984");
    CHECK(fault(proto(dtype::float32, {-1})) == "x.pb has invalid sizes");
    ::onnx::TensorProto elsewhere = proto(dtype::float32, {1});
    elsewhere.set_data_location(::onnx::TensorProto_DataLocation_EXTERNAL);
    CHECK(fault(elsewhere) == "x.pb: its elements are in another file");
}

TEST_CASE("a value with bytes changed") {
    int const rounds = aton::tests::fuzz_rounds(4000);
    ::onnx::SequenceProto many;
    many.set_elem_type(::onnx::SequenceProto_DataType_TENSOR);
    *many.add_tensor_values() = of_strings({"a", "bcd"}, {2});
    ::onnx::TensorProto& raw = *many.add_tensor_values() = proto(dtype::float64, {1, 2});
    raw.set_raw_data(std::string(16, '\x11'));
    ::onnx::OptionalProto maybe;
    maybe.set_elem_type(::onnx::OptionalProto_DataType_SEQUENCE);
    *maybe.mutable_sequence_value() = many;
    std::mt19937_64 rng(21);
    int read = 0;
    for (int i = 0; i != rounds; ++i) {
        bool const wrapped = i % 2 == 0;
        std::string const bytes =
            aton::tests::mutated(wrapped ? maybe.SerializeAsString() : many.SerializeAsString(), rng);
        try {
            (void)parse_value(bytes, wrapped ? value_kind::optional_sequence : value_kind::sequence);
            ++read;
        } catch (aton::error const& e) {
            CHECK(std::string(e.what()).find('\n') == std::string::npos);
        }
    }
    CHECK(read > rounds / 10);
}

TEST_CASE("strings, sparse tensors and types are kept, also in a model") {
    graph_data const data = with_odd_constants();
    std::string const bytes = to_model_proto(data);
    CHECK_NOTHROW(aton::check_model_bytes(bytes));
    graph_data const again = aton::parse_model(bytes).graph;
    CHECK(to_model_proto(again) == bytes);
    CHECK(to_string(again) == to_string(data));
    REQUIRE(again.initializers.size() == 1);
    CHECK(again.initializers[0].data == words);
    std::string const text = to_string(again);
    CHECK(contains(text, R"(%words : String(2, 2) = {"", ")"));
    CHECK(contains(text, "Constant[sparse_value=sparse[3, 4]{1} at {7}]()"));
    CHECK(contains(text, "Optional[type=Float(2)[]]()"));
}

TEST_CASE("a sparse initializer is a Constant") {
    ::onnx::ModelProto model;
    REQUIRE(model.ParseFromString(to_model_proto(with_odd_constants())));
    ::onnx::GraphProto& g = *model.mutable_graph();
    for (auto& n : *g.mutable_node())
        if (n.output(0) == "sparse") {
            *g.add_sparse_initializer() = n.attribute(0).sparse_tensor();
            n.Clear();
            n.set_op_type("Neg");
            n.add_input("sparse");
            n.add_output("negative");
        }
    g.mutable_sparse_initializer(0)->mutable_values()->set_name("sparse");
    for (auto& o : *g.mutable_output())
        if (o.name() == "sparse") o.set_name("negative");
    graph_data const read = aton::parse_model(model.SerializeAsString()).graph;
    CHECK(read.nodes.front().op == "Constant");
    CHECK(contains(to_string(read), "%sparse : Float(3, 4) = onnx::Constant[sparse_value=sparse[3, 4]{1} at {7}]()"));
    CHECK_NOTHROW(aton::check_model_bytes(to_model_proto(read)));
    g.mutable_sparse_initializer(0)->mutable_values()->set_name("words");
    CHECK(fault_of([&] { return aton::parse_model(model.SerializeAsString()); }) ==
          "model: sparse initializer 'words' is also an input or another initializer");
}

TEST_CASE("values are written as they are read") {
    tensor const halves{dtype::float16, {3}, std::string("\0\x3c\0\xc0\1\0", 6)};
    tensor const nibbles{dtype::int4, {3}, "\x21\x03"};
    tensor const none{dtype::float64, {0, 2}, ""};
    for (tensor const& t : {halves, nibbles, none, words}) {
        aton::file_value const v = parse_value(aton::to_value_proto({{t}, false}, "x"), value_kind::tensor);
        REQUIRE(v.tensors.size() == 1);
        CHECK(v.tensors[0] == t);
        ::onnx::TensorProto written;
        REQUIRE(written.ParseFromString(aton::to_value_proto({{t}, false}, "x")));
        CHECK(written.name() == "x");
    }
    aton::file_value const many = parse_value(aton::to_value_proto({{halves, none}, true}, "x"), value_kind::sequence);
    CHECK(many.is_sequence);
    CHECK(many.tensors == std::vector<tensor>{halves, none});
    CHECK(parse_value(aton::to_value_proto({{}, true}, "x"), value_kind::sequence).is_sequence);
    CHECK(parse_value(aton::to_value_proto({}, "x"), value_kind::optional_tensor).is_empty());
    tensor const cut{dtype::float32, {2}, "1234"};
    CHECK(contains(fault_of([&] { return aton::to_value_proto({{cut}, false}, "a\nb"); }),
                   "a b: a constant has 4 bytes"));
}

} // namespace values_test

// SPDX-License-Identifier: MIT
// Weights that are tensors of classes of Python: attributes read from a pickle that nobody runs, the programs that use them, and hostile ones.
#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/frontend/pt2/archive.hpp>
#include <aton/frontend/pt2/read_program.hpp>

#include "pickle_writer.hpp"
#include "samples.hpp"

namespace subclass_test {

using aton::dtype;
using aton::pt2::archive;
using aton::pt2::subclass_attribute;
using aton::pt2::tensor_role;
using aton::pt2::tensor_subclass;
using namespace aton::tests;
using namespace aton::tests::pickled;
using namespace std::string_literals;
using kind = subclass_attribute::kind;

namespace {

std::string dict(std::initializer_list<std::string_view> items) {
    std::string out = empty_dict + "(";
    for (std::string_view const i : items) out += i;
    return out + "u";
}

/// A tensor of class `module`.`name` with attributes, float32 with the sizes [3, 5].
std::string subclass(std::string_view module, std::string_view name, std::string_view attributes,
                     std::string_view sizes = {}) {
    std::string const own = global(module, name);
    std::string const usual = tuple({3, 5});
    std::string_view const shape = sizes.empty() ? std::string_view(usual) : sizes;
    std::string const arguments = tuple({own,
                                         global("torch", "float32"),
                                         shape,
                                         tuple({5, 1}),
                                         number(0),
                                         call("torch.serialization", "_get_layout", tuple({text("torch.strided")})),
                                         call("torch", "device", tuple({text("cpu")})),
                                         no});
    return call("torch._tensor",
                "_rebuild_from_type_v2",
                tuple({global("torch._utils", "_rebuild_wrapper_subclass"), own, arguments, attributes}));
}

std::string const integers = tensor(storage("CharStorage", "0", 15), 0, {3, 5}, {1, 3});
std::string const scales = call("torch._utils", "_rebuild_tensor_v3",
                                tuple({storage("UntypedStorage", "1", 12, "torch.storage"),
                                       number(1),
                                       tuple({2}),
                                       tuple({1}),
                                       no,
                                       hooks,
                                       global("torch", "float32")}));

/// What a quantized weight of torchao has, and objects of all kinds.
std::string const attributes =
    dict({text("qdata"),        integers,
          text("scale"),        scales,
          text("zero_point"),   none,
          text("target_dtype"), global("torch", "int4"),
          text("block_size"),   tuple({1, 32}),
          text("groups"),       "](" + number(4) + number(-5) + "e",
          text("ratio"),        "G\x3f\xe8\0\0\0\0\0\0"s,
          text("packed"),       yes,
          text("mode"),         call("torchao.modes", "Mode", tuple({text("auto")})),
          text("kwargs"),       global("torchao.kwargs", "Kwargs") + ")\x81" + dict({text("bits"), number(7)}) + "b",
          text("inner"),        subclass("lib", "Packed", dict({text("_data"), integers}))});

/// A file of torch.save with the pickle and two storages.
std::string saved(std::string_view pickle) {
    zip_writer out;
    std::string bytes;
    for (std::uint64_t i = 0; i != 16; ++i) append_number(bytes, 40 + i, 1);
    out.add("archive/data.pkl", pickle).add("archive/byteorder", "little");
    out.add("archive/data/0", bytes).add("archive/data/1", bytes.substr(0, 12));
    return out.finish();
}

/// An archive whose weight w is pickled.
std::string archive_of(std::string_view pickle, std::string_view program = "{}") {
    zip_writer out;
    out.add("m/data/weights/weight_0", saved(pickle));
    std::string config =
        R"({"config": {"w": {"path_name": "weight_0", "is_param": true, "use_pickle": true, "tensor_meta": )";
    config += tensor_meta("3,5", "5,1", "0", 7) + "}}}";
    out.add("m/data/weights/model_weights_config.json", config);
    out.add("m/data/constants/model_constants_config.json", R"({"config": {}})");
    out.add("m/models/model.json", program).add("m/archive_format", "pt2").add("m/archive_version", "0");
    out.add("m/byteorder", "little").add("m/.data/serialization_id", std::string(40, '7'));
    return out.finish();
}

std::string const torchao = proto + subclass("torchao.quantization", "IntxTensor", attributes) + stop;

/// A program that takes attributes of w: `accesses` are pairs of a value and an attribute of it.
std::string program_of(std::vector<std::pair<std::string, std::string>> const& accesses, std::string const& output,
                       std::string const& types) {
    std::string nodes;
    for (std::size_t i = 0; i != accesses.size(); ++i) {
        std::string const n = std::to_string(i);
        nodes += (i == 0 ? "" : ", ") +
                 R"({"target": "torch.ops.export.access_subclass_inner_tensor.default", "name": "n)"s + n +
                 R"(", "inputs": [{"name": "src_subclass_tensor", "arg": {"as_tensor": {"name": ")" +
                 accesses[i].first + R"("}}}, {"name": "attr", "arg": {"as_string": ")" + accesses[i].second +
                 R"("}}], "outputs": [{"as_tensor": {"name": "n)" + n + R"("}}], "metadata": {}})";
    }
    return R"({"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "p_w"}}], "outputs": [{"as_tensor": {"name": ")" +
           output + R"("}}], "nodes": [)" + nodes + R"(], "tensor_values": {)" + types + R"("p_w": )" +
           tensor_meta("3,5", "5,1", "0", 7) +
           R"(}, "sym_int_values": {}, "sym_bool_values": {}}, "signature": {"input_specs": [{"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}}], "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": ")" +
           output +
           R"("}}}}]}, "module_call_graph": []}, "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 20}})";
}

/// Reads the program and everything in the weight. Empty if there is no error.
std::string error_of(std::string_view pickle, std::string_view program = "{}") {
    std::string const bytes = archive_of(pickle, program);
    try {
        archive const a = archive::from_memory(bytes, "hostile.pt2");
        if (program != "{}") (void)aton::pt2::read_program(a, "");
        std::shared_ptr<tensor_subclass const> const found = a.subclass("", tensor_role::weight, "w");
        REQUIRE(found != nullptr);
        for (char const* path :
             {"qdata",         "scale", "zero_point", "target_dtype", "block_size",  "groups", "ratio",
              "packed",        "mode",  "mode.0",     "kwargs",       "kwargs.bits", "inner",  "inner._data",
              "inner._data.x", "",      ".",          "..",           "0",           "0.0"}) {
            subclass_attribute const each = found->find(path);
            if (each.is == kind::tensor) (void)dense_bytes(each.tensor);
        }
    } catch (aton::error const& e) {
        check_message(e.what());
        return e.what();
    }
    return {};
}

void check_refused(std::string_view pickle, std::string_view expected, std::string_view program = "{}") {
    std::string const what = error_of(pickle, program);
    CHECK_MESSAGE(what.find(expected) != std::string::npos, what << " should have: " << expected);
}

} // namespace

TEST_CASE("the attributes of a weight, by their names") {
    std::string const bytes = archive_of(torchao);
    archive const a = archive::from_memory(bytes, "a.pt2");
    std::shared_ptr<tensor_subclass const> const w = a.subclass("", tensor_role::weight, "w");
    REQUIRE(w != nullptr);
    CHECK(w->type() == "torchao.quantization.IntxTensor");
    CHECK(w->element_type() == dtype::float32);
    CHECK(w->sizes() == std::vector<std::int64_t>{3, 5});
    CHECK(a.subclass("", tensor_role::weight, "v") == nullptr);
    CHECK(a.tensor_names("", tensor_role::weight) == std::vector<std::string>{"w"});
    subclass_attribute const qdata = w->find("qdata");
    REQUIRE(qdata.is == kind::tensor);
    CHECK(qdata.tensor.type == dtype::int8);
    CHECK(dense_bytes(qdata.tensor) == "\x28\x2b\x2e\x31\x34\x29\x2c\x2f\x32\x35\x2a\x2d\x30\x33\x36");
    CHECK(w->find("scale").tensor.sizes == std::vector<std::int64_t>{2});
    CHECK(w->find("zero_point").is == kind::none);
    CHECK(w->find("target_dtype").text == "torch.int4");
    CHECK(w->find("block_size").numbers == std::vector<std::int64_t>{1, 32});
    CHECK(w->find("groups").numbers == std::vector<std::int64_t>{4, -5});
    CHECK(w->find("ratio").real == 0.75);
    CHECK(w->find("packed").number == 1);
    CHECK(w->find("mode").is == kind::object);
    CHECK(w->find("mode").text == "torchao.modes.Mode");
    CHECK(w->find("mode.0").text == "auto");
    CHECK(w->find("kwargs.bits").number == 7);
    CHECK(w->find("kwargs.nothing").is == kind::missing);
    CHECK(w->find("inner").text == "lib.Packed");
    CHECK(w->find("inner._data").tensor.type == dtype::int8);
    for (char const* path : {"", "q", "qdata.x", "zero_point.x", "block_size.0", "inner.", ".inner"})
        CHECK(w->find(path).is == kind::missing);
    // As tensors of the archive.
    CHECK(dense_bytes(a.tensor("", tensor_role::weight, "w.qdata")) == dense_bytes(qdata.tensor));
    CHECK(a.tensor("", tensor_role::constant, "w.inner._data").type == dtype::int8);
    CHECK_THROWS_WITH_AS(
        (void)a.tensor("", tensor_role::weight, "w.zero_point"),
        doctest::Contains("'w': is a tensor of class 'torchao.quantization.IntxTensor' without a tensor 'zero_point'"),
        aton::error);
    CHECK_THROWS_AS((void)a.tensor("", tensor_role::weight, "w"), aton::error);
}

TEST_CASE("a program takes the inner tensors as its weights") {
    std::string const types =
        R"("n0": )" + tensor_meta("3,5", "1,3", "0", 2) + R"(, "n1": )" + tensor_meta("2", "1", "0", 7) + ", ";
    std::string const bytes = archive_of(
        torchao,
        program_of(
            {{"p_w", "qdata"}, {"p_w", "scale"}, {"p_w", "qdata"}, {"p_w", "inner"}, {"n3", "_data"}}, "n2", types));
    aton::program::program const p = aton::pt2::read_program(archive::from_memory(bytes, "a.pt2"), "");
    REQUIRE(p.inputs.size() == 3);
    CHECK(p.inputs[0].target == "w.qdata");
    CHECK(p.inputs[1].target == "w.scale");
    CHECK(p.inputs[2].target == "w.inner._data");
    CHECK(p.inputs[0].kind == aton::program::input_kind::parameter);
    CHECK(p.inputs[0].data.type == dtype::int8);
    CHECK(p.main.inputs.size() == 3);
    CHECK(p.main.nodes.empty());
    CHECK(aton::program::value_of(p.main.outputs[0]) == p.inputs[0].value); // the second access of the same tensor
}

TEST_CASE("programs that do not fit the weight") {
    std::string const none_of = program_of({{"p_w", "zero_point"}}, "n0", "");
    check_refused(torchao,
                  "weight 'w' is a tensor of class 'torchao.quantization.IntxTensor' without a tensor 'zero_point'",
                  none_of);
    check_refused(torchao, "without a tensor 'nothing'", program_of({{"p_w", "nothing"}}, "n0", ""));
    check_refused(
        torchao, "takes an attribute of a plain tensor", program_of({{"p_w", "qdata"}, {"n0", "qdata"}}, "n1", ""));
    check_refused(torchao,
                  "which the program returns: turn it into plain tensors before torch.export.export",
                  program_of({}, "p_w", ""));
    check_refused(torchao, "whose 'inner' is used as a whole", program_of({{"p_w", "inner"}}, "n0", ""));
    for (std::string const& meta :
         {tensor_meta("5,3", "1,5", "0", 2), tensor_meta("3,5", "1,3", "0", 1), tensor_meta("15", "1", "0", 2)})
        check_refused(torchao,
                      "whose 'qdata' is int8[3, 5], but the graph has another type",
                      program_of({{"p_w", "qdata"}}, "n0", R"("n0": )" + meta + ", "));
    std::string const wider = proto + subclass("a", "B", attributes, tuple({3, 6})) + stop;
    check_refused(wider,
                  "'w' is float32[3, 6] in the weights, but float32[3, 5] in the graph",
                  program_of({{"p_w", "qdata"}}, "n0", ""));
}

TEST_CASE("weights that a program uses as a whole") {
    std::string const whole = program_of({}, "p_w", "");
    std::string const scale = tensor(storage("FloatStorage", "1", 3), 0, {3, 1}, {1, 1});
    auto const weight = [](std::string_view type, std::initializer_list<std::string_view> items) {
        return proto + subclass("optimum.quanto.tensor", type, dict(items)) + stop;
    };
    std::string const bytes =
        archive_of(weight("WeightQBytesTensor", {text("_data"), integers, text("_scale"), scale}), whole);
    aton::program::program const p = aton::pt2::read_program(archive::from_memory(bytes, "a.pt2"), "");
    REQUIRE(p.inputs.size() == 2);
    CHECK(p.inputs[0].target == "w._data");
    CHECK(p.inputs[1].target == "w._scale");
    REQUIRE(p.main.nodes.size() == 3);
    CHECK(p.main.nodes[1].op == "aten::mul.Tensor");
    CHECK(aton::program::value_of(p.main.outputs[0]) == p.main.nodes[2].results[0].values[0]);

    check_refused(weight("WeightQBytesTensor", {text("_data"), integers}), "without a tensor '_scale'", whole);
    check_refused(weight("WeightQBytesTensor", {text("_data"), scale, text("_scale"), scale}),
                  "whose data does not have its sizes",
                  whole);
    check_refused(weight("WeightQBitsTensor", {text("_axis"), number(-1)}), "which is quantized along axis -1", whole);
    std::string const packed =
        subclass("optimum.quanto", "PackedTensor", dict({text("_bits"), number(4), text("_data"), integers}));
    check_refused(
        weight("WeightQBitsTensor", {text("_data"), integers}), "whose integers do not have 2 or 4 bits", whole);
    check_refused(weight("WeightQBitsTensor", {text("_data"), packed, text("_scale"), scale}),
                  "without a tensor '_shift'",
                  whole);
    check_refused(weight("WeightQBitsTensor", {text("_data"), packed, text("_scale"), scale, text("_shift"), scale}),
                  "whose packed data does not have its sizes",
                  whole);
    check_refused(
        weight("QLinear", {text("_data"), integers}), "which the program returns: turn it into plain tensors", whole);

    auto const mx = [](std::initializer_list<std::string_view> items,
                       std::string_view library = "torchao.prototype.mx_formats") {
        return proto + subclass(library, "MXTensor", dict(items)) + stop;
    };
    std::string const float8 = global("torch", "float8_e4m3fn");
    auto const blocks = [](std::int64_t n) { return text("block_size") + number(n); };
    check_refused(mx({}, "evil"), "turn it into plain tensors", whole);
    check_refused(mx({blocks(32), text("elem_dtype"), float8}), "whose rows of 5 are not blocks of 32", whole);
    check_refused(mx({blocks(0), text("elem_dtype"), float8}), "not blocks of 0", whole);
    check_refused(mx({blocks(-5), text("elem_dtype"), float8}), "not blocks of -5", whole);
    check_refused(
        mx({blocks(5), text("elem_dtype"), global("torch", "float6")}), "whose elements are torch.float6", whole);
    check_refused(mx({blocks(5), text("elem_dtype"), float8}), "without a tensor 'qdata'", whole);
    check_refused(mx({blocks(5), text("elem_dtype"), float8, text("qdata"), scale}),
                  "whose 'qdata' does not have its sizes",
                  whole);
    check_refused(
        mx({blocks(5), text("elem_dtype"), float8, text("qdata"), integers}), "without a tensor 'scale'", whole);
    check_refused(mx({blocks(5), text("elem_dtype"), float8, text("qdata"), integers, text("scale"), scale}),
                  "whose scales are float32",
                  whole);
    std::string const exponents = call("torch._utils",
                                       "_rebuild_tensor_v3",
                                       tuple({storage("UntypedStorage", "1", 12, "torch.storage"),
                                              number(0),
                                              tuple({4}),
                                              tuple({1}),
                                              no,
                                              hooks,
                                              global("torch", "float8_e8m0fnu")}));
    check_refused(mx({blocks(5), text("elem_dtype"), float8, text("qdata"), integers, text("scale"), exponents}),
                  "whose scales do not have its sizes",
                  whole);
}

TEST_CASE("pickles that lie") {
    auto const with = [](std::string_view inner) {
        return proto + subclass("a", "B", dict({text("qdata"), inner})) + stop;
    };
    check_refused(with(tensor(storage("CharStorage", "0", 17), 0, {17}, {1})),
                  "its storage has 17 bytes, but its record 'archive/data/0' has only 16");
    check_refused(with(tensor(storage("CharStorage", "0", 15), 0, {3, 6}, {6, 1})), "element 17 is outside its record");
    check_refused(with(tensor(storage("IntStorage", "0", 4), 1, {4}, {1})), "element 4 is outside its record");
    check_refused(with(tensor(storage("CharStorage", "0", 15), 0, {3}, {-1})), "stride -1 is negative");
    check_refused(with(tensor(storage("CharStorage", "0", 15), 0, {-3}, {1})), "size -3 is negative");
    check_refused(with(tensor(storage("CharStorage", "0", INT64_MAX), 0, {3}, {1})), "bytes, but its record");
    check_refused(with(tensor(storage("CharStorage", "0", 15), 0, {1 << 20, 1 << 20}, {0, 0})), "more than 1 GiB");
    check_refused(with(tensor(storage("CharStorage", "9", 15), 0, {3}, {1})), "its record 'archive/data/9' is missing");
    check_refused(with(tensor(storage("QInt8Storage", "0", 15), 0, {3}, {1})),
                  "has a storage of class 'torch.QInt8Storage'");
    check_refused(proto + subclass("a", "B", none) + stop, "without attributes");
    check_refused(proto + subclass("a", "B", number(3)) + stop, "without attributes");
    check_refused(proto + subclass("a", "B", attributes, number(3)) + stop, "from the wrong arguments");
    check_refused(proto + subclass("a", "B", attributes, tuple({text("3")})) + stop, "is not an integer");
    check_refused(proto + global("os", "system") + tuple({text("ls")}) + "R" + stop,
                  "is not a tensor with attributes, but 'os.system'");
    check_refused(proto + global("a", "B") + ")\x81" + dict({}) + "b" + stop,
                  "is not a tensor with attributes, but 'a.B'");
    check_refused(proto + empty_dict + stop, "is not a tensor with attributes");
    check_refused(proto + integers + stop, "is not a tensor with attributes");
    check_refused("", "the pickle is truncated");
    check_refused(proto + "b" + stop, "takes more values from the stack");
    check_refused(proto + number(1) + ")b" + stop, "sets attributes of a value");
    check_refused(proto + ")\x81" + stop, "hostile.pt2");
    // An object in itself: a path of any length ends.
    std::string const loop =
        proto +
        subclass(
            "a", "B", empty_dict + "\x94(" + text("x") + global("c", "D") + ")\x81" + "\x94" + "h\0"s + "b" + "u") +
        stop;
    std::string const bytes = archive_of(loop);
    archive const a = archive::from_memory(bytes, "a.pt2");
    std::string path = "x";
    for (int i = 0; i != 1000; ++i) path += ".x";
    CHECK(a.subclass("", tensor_role::weight, "w")->find(path).is == kind::object);
}

TEST_CASE("pickles of weights truncated at every byte, and with bytes changed") {
    REQUIRE(error_of(torchao).empty());
    for (std::size_t n = 0; n != torchao.size(); ++n) {
        CAPTURE(n);
        CHECK_FALSE(error_of(torchao.substr(0, n)).empty());
    }
    int const rounds = fuzz_rounds(3'000);
    std::mt19937_64 rng(11);
    int read = 0;
    for (int i = 0; i != rounds; ++i) read += error_of(mutated(torchao, rng)).empty() ? 1 : 0;
    CHECK(read > rounds / 50);
}

} // namespace subclass_test

// SPDX-License-Identifier: MIT
// Pickles of tensors: everything that torch.save writes for them, and hostile pickles.
#include "frontend/pt2/pickle_reader.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "pickle_writer.hpp"
#include "samples.hpp"

namespace pickle_reader_test {

using aton::dtype;
using aton::pt2::pickled_tensor;
using aton::pt2::pickled_tensors;
using namespace aton::tests;
using namespace aton::tests::pickled;
using namespace std::string_literals;

namespace {

pickled_tensor find(pickled_tensors const& in, std::string_view name) {
    std::optional<pickled_tensor> const found = in.find(name);
    REQUIRE(found.has_value());
    return found.value_or(pickled_tensor{});
}

/// Reads a pickle and looks up everything in it. Returns the error message; empty if there is none.
std::string error_of(std::string_view bytes) {
    try {
        pickled_tensors const t(bytes, "hostile.pt2");
        for (std::string_view const name : t.names()) {
            pickled_tensor const found = find(t, name);
            CHECK(found.sizes.size() == found.strides.size());
            CHECK(bits(found.type) >= 8);
        }
    } catch (aton::error const& e) {
        check_message(e.what());
        return e.what();
    }
    return {};
}

void check_refused(std::string_view bytes, std::string_view expected) {
    std::string const what = error_of(bytes);
    CHECK_MESSAGE(what.find(expected) != std::string::npos, what << " should have: " << expected);
}

std::string const floats = storage("FloatStorage", "0", 12);
std::string const plain = tensor(floats, 3, {2, 4}, {4, 1});

/// The result's views point into the bytes.
pickled_tensor only(std::string const& bytes) {
    pickled_tensors const t(bytes, "a.pt2");
    REQUIRE(t.names().size() == 1);
    return find(t, t.names()[0]);
}

} // namespace

TEST_CASE("a tensor with all its fields") {
    std::string const bytes = entry("w", tensor(storage("DoubleStorage", "k7", 31), 5, {2, 0, 3}, {7, 1, 2}));
    pickled_tensor const t = only(bytes);
    CHECK(t.type == dtype::float64);
    CHECK(t.storage == "k7");
    CHECK(t.storage_bytes == 31 * 8);
    CHECK(t.offset == 5);
    CHECK(t.sizes == std::vector<std::int64_t>{2, 0, 3});
    CHECK(t.strides == std::vector<std::int64_t>{7, 1, 2});
    CHECK(only(entry("", tensor(floats, 0, {}, {}))).sizes.empty());
}

TEST_CASE("storages of every dtype") {
    struct one {
        char const* name;
        dtype type;
        std::uint64_t bytes;
    };
    for (one const& s : {one{"FloatStorage", dtype::float32, 4},
                         {"DoubleStorage", dtype::float64, 8},
                         {"HalfStorage", dtype::float16, 2},
                         {"BFloat16Storage", dtype::bfloat16, 2},
                         {"LongStorage", dtype::int64, 8},
                         {"IntStorage", dtype::int32, 4},
                         {"ShortStorage", dtype::int16, 2},
                         {"CharStorage", dtype::int8, 1},
                         {"ByteStorage", dtype::uint8, 1},
                         {"BoolStorage", dtype::bool_, 1},
                         {"ComplexHalfStorage", dtype::complex32, 4},
                         {"ComplexFloatStorage", dtype::complex64, 8},
                         {"ComplexDoubleStorage", dtype::complex128, 16}}) {
        CAPTURE(s.name);
        pickled_tensor const t = only(entry("w", tensor(storage(s.name, "0", 3), 0, {3}, {1})));
        CHECK(t.type == s.type);
        CHECK(t.storage_bytes == 3 * s.bytes);
    }
    for (char const* name : {"QInt8Storage", "QUInt4x2Storage", "floatStorage", ""})
        check_refused(entry("w", tensor(storage(name, "0", 3), 0, {3}, {1})), "has a storage of class 'torch."s + name);
    check_refused(entry("w", tensor(storage("FloatStorage", "0", 3, "numpy"), 0, {3}, {1})), "'numpy.FloatStorage'");
}

TEST_CASE("dtypes without their own storage class") {
    std::string const bytes = storage("UntypedStorage", "0", 12, "torch.storage");
    auto const with = [&](std::string const& type, std::string const& more = "") {
        return entry("w",
                     call("torch._utils",
                          "_rebuild_tensor_v3",
                          tuple({bytes, number(1), tuple({2, 3}), tuple({1, 2}), yes, hooks, type, more})));
    };
    pickled_tensor const t = only(with(global("torch", "uint16")));
    CHECK(t.type == dtype::uint16);
    CHECK(t.storage_bytes == 12);
    CHECK(only(with(global("torch", "float8_e8m0fnu"), none)).type == dtype::float8_e8m0);
    check_refused(with(global("torch", "quint8")), "'w' calls 'torch.quint8'");
    check_refused(with(global("torch", "string")), "without a dtype");
    check_refused(with(global("torch", "float4_e2m1fn")), "without a dtype"); // two of them in a byte
    check_refused(with(global("numpy", "uint16")), "'numpy.uint16'");
    check_refused(with(none), "a value that is not a function");
    check_refused(with(global("torch", "uint16"), none + none), "wrong arguments");
    check_refused(entry("w", tensor(bytes, 0, {3}, {1})), "without a dtype");
}

TEST_CASE("parameters, buffers, and tensors with attributes") {
    CHECK(only(entry("w", call("torch._utils", "_rebuild_parameter", tuple({plain, yes, hooks})))).offset == 3);
    CHECK(only(entry("w", call("torch._utils", "_rebuild_parameter_with_state", tuple({plain, no, hooks, empty_dict}))))
              .offset == 3);
    std::string const arguments = tuple({floats, number(2), tuple({5}), tuple({2}), no, hooks});
    auto const typed = [&](std::string const& function, std::string const& type) {
        return entry("w",
                     call("torch._tensor",
                          "_rebuild_from_type_v2",
                          tuple({function, type, arguments, empty_dict + text("_is_buffer") + yes + "s"})));
    };
    std::string const v2 = global("torch._utils", "_rebuild_tensor_v2");
    CHECK(only(typed(v2, global("torch", "Tensor"))).offset == 2);
    CHECK(only(typed(v2, global("torch.nn.parameter", "Parameter"))).strides == std::vector<std::int64_t>{2});
    check_refused(typed(v2, global("torchao.quantization", "AffineQuantizedTensor")),
                  "'torchao.quantization.AffineQuantizedTensor'");
    check_refused(typed(global("torch._tensor", "_rebuild_from_type_v2"), global("torch", "Tensor")),
                  "_rebuild_from_type_v2");
    check_refused(typed(global("os", "system"), global("torch", "Tensor")), "'w' calls 'os.system'");
    check_refused(entry("w", call("torch._utils", "_rebuild_parameter", tuple({text("no tensor"), yes, hooks}))),
                  "a value that is not a tensor");
}

TEST_CASE("the dict: ordered, with attributes, in batches; not a dict") {
    std::string const ordered = proto + hooks + "(" + text("b") + plain + text("a") + plain + "u" + text("c") + plain +
                                "s" + empty_dict + text("_metadata") + hooks + "s" + "b" + stop;
    pickled_tensors const t(ordered, "a.pt2");
    CHECK(t.names() == std::vector<std::string_view>{"a", "b", "c"});
    CHECK_FALSE(t.find("d").has_value());
    CHECK_FALSE(t.find("").has_value());
    CHECK(pickled_tensors(proto + empty_dict + stop, "a.pt2").names().empty());
    for (std::string const& what : {none, plain, "]"s, text("w"), tuple({number(1)}), "N("s, "}N"s, ""s}) {
        std::string pickle = proto;
        pickle.append(what).append(stop);
        check_refused(pickle, "not a dict of tensors");
    }
    check_refused(proto + empty_dict + number(1) + plain + "s" + stop, "a key is not a string");
    check_refused(proto + empty_dict + text("w") + plain + "s" + text("w") + plain + "s" + stop, "duplicate key 'w'");
    check_refused(entry("w", none), "'w' is not a tensor");
    check_refused(entry("w", floats), "'w' is not a tensor");
}

TEST_CASE("the memo, as protocols 2 to 5 number it") {
    std::string const shared = proto + empty_dict + "q" + "\0"s + "(" + text("v") + plain + "r" + "\1\0\0\0"s +
                               text("w") + "h" + "\1"s + text("x") + "j" + "\1\0\0\0"s + "u" + stop;
    CHECK(find(pickled_tensors(shared, "a.pt2"), "x").offset == 3);
    std::string const newer = "\x80\4\x95"s + "\6\0\0\0\0\0\0\0"s + "}\x94" + "\x8c\1w" + plain + "\x94" + "s.";
    CHECK(only(newer).sizes.size() == 2);
    check_refused(proto + "h\0"s, "memo entry that was never written");
    check_refused(proto + "Nj\xff\xff\xff\xff"s, "memo entry that was never written");
    check_refused(proto + "Nr\xff\xff\xff\xff"s, "writes memo entries out of order");
    check_refused(proto + "Nq\1"s, "writes memo entries out of order");
    check_refused(proto + "q\0"s, "writes memo entries out of order");
    // An object inside itself.
    check_refused(proto + empty_dict + "\x94" + text("w") + "h\0s."s, "'w' is not a tensor");
    check_refused(proto + "]\x94h\0a."s, "not a dict");
}

TEST_CASE("what dense tensors do not need is refused by name, and the tensor is named") {
    struct one {
        std::string function;
        char const* expected;
    };
    for (one const& o :
         {one{global("os", "system"), "'weight' calls 'os.system'"},
          {global("builtins", "eval"), "'builtins.eval'"},
          {global("torch", "load"), "'torch.load'"},
          {global("torch._utils", "_rebuild_tensor"), "'torch._utils._rebuild_tensor'"},
          {global("torch._utils", "_rebuild_sparse_tensor"), "'weight' is a sparse tensor: make it dense"},
          {global("torch._utils", "_rebuild_sparse_csr_tensor"), "a sparse tensor"},
          {global("torch._utils", "_rebuild_qtensor"), "'weight' is a quantized tensor"},
          {global("torch._utils", "_rebuild_nested_tensor"), "a nested tensor"},
          {global("torch._utils", "_rebuild_meta_tensor_no_storage"), "no data"},
          {global("torch._export.serde.serialize", "_reconstruct_fake_tensor"), "no data"},
          {global("torch._utils", "_rebuild_wrapper_subclass"), "a tensor subclass"},
          {text("os") + text("system") + "\x93", "'os.system'"}})
        check_refused(entry("weight", o.function + tuple({text("x")}) + reduce), o.expected);
    check_refused(entry("weight", global("torch", "ScriptObject") + ")\x81"), "'weight' calls 'torch.ScriptObject'");
    check_refused(entry("w", tensor(floats, 0, {3}, {1}, empty_dict + text("conj") + yes + "s")), "conjugate");
    CHECK(error_of(entry("w", tensor(floats, 0, {3}, {1}, empty_dict))).empty());
    CHECK(error_of(entry("w", tensor(floats, 0, {3}, {1}, none))).empty());
    // A name alone does nothing.
    CHECK(error_of(proto + empty_dict + global("os", "system") + "0" + stop).empty());
}

TEST_CASE("opcodes of other pickles are refused with their number and place") {
    for (int op = 0; op != 256; ++op) {
        if ("\x80\x95N\x88\x89KMJ\x8aG\x8cX\x8d(01)t\x85\x86\x87]}aesuqrhjc\x93RQb\x81.\x94"s.find(
                static_cast<char>(op)) != std::string::npos)
            continue;
        check_refused(proto + static_cast<char>(op) + std::string(16, '\0'), "at byte 2: opcode 0x");
    }
    check_refused(proto + "\x82", "opcode 0x82");
    check_refused("\x80\1."s, "protocol 1");
    check_refused("\x80\6."s, "protocol 6");
}

TEST_CASE("arguments of the wrong number or kind") {
    std::string const good[] = {floats, number(0), tuple({2}), tuple({1}), no, hooks};
    for (std::size_t bad = 0; bad != 5; ++bad) {
        std::string given = "(";
        for (std::size_t i = 0; i != 6; ++i) given += i == bad ? text("bad") : good[i];
        check_refused(entry("w", call("torch._utils", "_rebuild_tensor_v2", given + "t")), "wrong arguments");
        std::string missing = "(";
        for (std::size_t i = 0; i != 6; ++i)
            if (i != bad) missing += good[i];
        check_refused(entry("w", call("torch._utils", "_rebuild_tensor_v2", missing + "t")), "wrong arguments");
    }
    check_refused(entry("w", tensor(floats, 0, {2}, {1, 1})), "1 sizes and 2 strides");
    check_refused(entry("w",
                        call("torch._utils",
                             "_rebuild_tensor_v2",
                             tuple({floats, number(0), tuple({text("2")}), tuple({1}), no, hooks}))),
                  "a size or stride of 'w' is not an integer");
    check_refused(entry("w",
                        call("torch._utils",
                             "_rebuild_tensor_v2",
                             tuple({floats, number(0), tuple({2}), tuple({yes}), no, hooks}))),
                  "a size or stride of 'w' is not an integer");
    check_refused(entry("w", "Q"), "persistent id");
    check_refused(
        entry("w", tuple({text("module"), global("torch", "FloatStorage"), text("0"), text("cpu"), number(1)}) + "Q"),
        "persistent id");
    check_refused(entry("w", tuple({text("storage"), global("torch", "FloatStorage"), text("0"), text("cpu")}) + "Q"),
                  "persistent id");
    check_refused(entry("w", global("torch", "Size") + none + "R"), "arguments that are not a tuple");
    check_refused(entry("w", none + ")" + "R"), "a value that is not a function");
    for (std::int64_t const count : {std::int64_t{-1}, INT64_MAX, INT64_MAX / 4 + 1})
        check_refused(entry("w", tensor(storage("FloatStorage", "0", count), 0, {2}, {1})),
                      "a size that is out of range");
}

TEST_CASE("integers of every width") {
    auto const offset_of = [](std::string const& number) {
        std::string const arguments = tuple({floats, number, ")", ")", no, hooks});
        return only(entry("w", call("torch._utils", "_rebuild_tensor_v2", arguments))).offset;
    };
    CHECK(offset_of("K\xfe"s) == 254);
    CHECK(offset_of("M\xfe\xff"s) == 65534);
    CHECK(offset_of("J\xfe\xff\xff\xff"s) == -2);
    CHECK(offset_of("\x8a\0"s) == 0);
    CHECK(offset_of("\x8a\1\xfe"s) == -2);
    CHECK(offset_of("\x8a\3\1\2\3"s) == 0x030201);
    CHECK(offset_of("\x8a\10\xff\xff\xff\xff\xff\xff\xff\x7f"s) == INT64_MAX);
    CHECK(offset_of("\x8a\10\0\0\0\0\0\0\0\x80"s) == INT64_MIN);
    check_refused(proto + "\x8a\x09"s + std::string(9, '\1'), "more than 64 bits");
}

TEST_CASE("stacks that are too short or too high, marks that are missing") {
    for (char const* const ops : {"0", "1",   "t",   "\x85", "N\x86", "NN\x87", "a",    "e",    "(e", "N(e",
                                  "s", "NNs", "u",   "(u",   "}(Nu",  "NNNs",   "NNa",  "R",    ")R", "Q",
                                  "b", "Nb",  "NNb", "\x93", "N\x93", "NN\x93", "\x81", "N\x81"})
        check_refused(std::string(proto).append(ops).append(stop), "hostile.pt2: the pickle at byte");
    check_refused(proto + std::string(70'000, 'N') + stop, "more than 65536 objects");
    check_refused(proto + std::string(70'000, '(') + stop, "more than 65536 objects");
}

TEST_CASE("pickles that grow: copies of copies, and more objects than any model has") {
    // 30 times a tuple with two copies of the last one: 2^30 leaves.
    std::string doubling = proto + ")\x94";
    for (char i = 0; i != 30; ++i) {
        doubling += 'h';
        doubling += i;
        doubling += "\x86\x94";
    }
    check_refused(doubling + stop, "not a dict of tensors");
    CHECK(error_of(doubling + '0' + empty_dict + stop).empty());
    std::string deep = proto + ")";
    for (int i = 0; i != 200'000; ++i) deep += '\x85';
    check_refused(deep + stop, "not a dict of tensors");
    check_refused(std::string((64U << 20U) + 1, 'N'), "longer than 64 MiB");
    for (std::string const& unit : {"]0"s, "}0"s, "N\x94"s + "0", ")0"s, "NNN\x87" + "0"s, "ca\nb\n0"s}) {
        std::string many = proto;
        while (many.size() < 9'000'000) many += unit;
        std::string const what = error_of(many);
        CHECK((what.find("more than 4194304 objects") != std::string::npos ||
               what.find("truncated") != std::string::npos));
    }
}

TEST_CASE("a pickle truncated at every byte, and with bytes changed") {
    std::string const bytes = proto + hooks + "\x94" + "(" + text("v") + plain + "\x94" + text("w") + "h\1" +
                              text("p") + call("torch._utils", "_rebuild_parameter", tuple({plain, yes, hooks})) + "u" +
                              stop;
    REQUIRE(error_of(bytes).empty());
    for (std::size_t n = 0; n != bytes.size(); ++n) {
        CAPTURE(n);
        CHECK_FALSE(error_of(bytes.substr(0, n)).empty());
    }
    int const rounds = fuzz_rounds(20'000);
    std::mt19937_64 rng(7);
    int read = 0;
    for (int i = 0; i != rounds; ++i) read += error_of(mutated(bytes, rng)).empty() ? 1 : 0;
    CHECK(read > rounds / 50);
}

} // namespace pickle_reader_test

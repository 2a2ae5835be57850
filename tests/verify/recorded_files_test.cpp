// SPDX-License-Identifier: MIT
// Files of recorded calls: what is read, and what malformed, truncated and malicious files say.
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include <doctest/doctest.h>

#include <aton/verify/recorded_calls.hpp>

#include "../faults.hpp"
#include "call_files.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using aten::argument_kind;
using tests::call_folder;
using tests::contains;
using tests::fault_of;
using tests::floats_text;
using tests::safetensors;

constexpr std::string_view head = R"({"schema": "my_ops::f(Tensor x, float a=0.5, *, int[2] n=1) -> Tensor", )";

std::string const two = floats_text({2}, {1.5F, -2});

/// What reading one line says.
std::string fault_in(std::string_view line) {
    call_folder const folder;
    folder.write("calls.jsonl", "\n" + std::string(line));
    std::string const fault = fault_of([&] { return read_calls(folder.path()); });
    std::string const place = folder.path() + "/calls.jsonl:2: ";
    CHECK_MESSAGE((fault.starts_with(place) || contains(fault, folder.path() + "/t.safetensors")), fault);
    CHECK(fault.find('\n') == std::string::npos);
    return fault.starts_with(place) ? fault.substr(place.size()) : fault;
}

std::string fault_after_head(std::string_view rest) { return fault_in(std::string(head).append(rest)); }

/// What reading a tensor of a file says.
std::string fault_in_file(std::string_view bytes, std::string_view name = "t.safetensors",
                          std::string_view tensor = R"({"tensor": "t"})") {
    call_folder const folder;
    folder.write("t.safetensors", bytes);
    folder.write("calls.jsonl",
                 std::string(R"j({"schema": "my_ops::f(Tensor x) -> ()", "file": ")j").append(name) +
                     R"(", "args": [)" + std::string(tensor) + R"(], "outputs": []})");
    return fault_of([&] { return read_calls(folder.path()); });
}

std::string entry(std::string_view type, std::string_view shape, std::string_view offsets) {
    return std::string(R"({"t": {"dtype": ")").append(type) + R"(", "shape": )" + std::string(shape) +
           R"(, "data_offsets": )" + std::string(offsets) + "}}";
}

} // namespace

TEST_CASE("arguments are read as their schema says, in the notations of Python's json and of the oracle") {
    call_folder const folder;
    folder.write(
        "b.jsonl",
        R"j({"schema": "my_ops::g(Tensor? x, Scalar s, bool b, str w, ScalarType t, Device d, Tensor?[] l, Tensor y, float[] f) -> (Tensor, int)",)j"
        R"( "args": [null, {"complex": [1, "inf"]}, true, "NaN", "torch.int8", {"device": "cpu"}, [null, )" +
            two + R"(], 3, [NaN, -Infinity, 2]], "outputs": [)" + two +
            R"(, 7], "compare": "types"})"
            "\n");
    folder.write("a.jsonl",
                 std::string(head) + R"("args": [)" + two + R"(], "kwargs": {"n": 3, "a": 2}, "outputs": [)" + two +
                     "]}\r\n   \n" + std::string(head) + R"("kwargs": {"x": )" + two + R"(}, "outputs": [)" + two +
                     "]}");
    folder.write("notes.txt", "not read");
    std::vector<recorded_call> const calls = read_calls(folder.path());
    REQUIRE(calls.size() == 3);
    CHECK(calls[0].place == folder.path() + "/a.jsonl:1");
    CHECK(calls[1].place == folder.path() + "/a.jsonl:3");
    CHECK(calls[0].call.overload == "my_ops::f");
    CHECK(to_python(calls[0].call) ==
          "torch.ops.my_ops.f.default(x=torch.tensor([1.5, -2.0], dtype=torch.float32), n=[3, 3], a=2.0)");
    CHECK(calls[0].values);

    auto const& all = calls[2].call.arguments;
    CHECK_FALSE(calls[2].values);
    CHECK(all[0].kind == argument_kind::none);
    CHECK(all[1].number.imaginary() == std::numeric_limits<double>::infinity());
    CHECK(all[2].number.is_bool());
    CHECK(all[3].text == "NaN"); // a str, not a number
    CHECK(all[4].type == dtype::int8);
    CHECK(all[5].text == "cpu");
    REQUIRE(all[6].tensors.size() == 2);
    CHECK_FALSE(all[6].tensors[0]);
    CHECK(all[6].tensors[1].count() == 2);
    CHECK(all[7].kind == argument_kind::number); // a number in the place of a tensor promotes weakly
    REQUIRE(all[8].numbers.size() == 3);
    CHECK(std::isnan(all[8].numbers[0].to<double>()));
    CHECK(all[8].numbers[2].is_floating());
    REQUIRE(calls[2].results.size() == 2);
    CHECK(calls[2].results[1].one().dtype() == dtype::int64);
    CHECK(calls[2].results[1].one().item().to<int>() == 7);
}

TEST_CASE("new values of the arguments that an operator writes to follow its results") {
    call_folder const folder;
    std::string const schema =
        R"j({"schema": "my_ops::h(Tensor(a!) x, Tensor(b!) y) -> Tensor(b!)", "args": [)j" + two + ", " + two + "], ";
    std::string const one = floats_text({1}, {4});
    folder.write("calls.jsonl",
                 schema + R"("outputs": [)" + two + R"(], "mutated": {"x": )" + one + "}}\n" +
                     R"j({"schema": "my_ops::k(Tensor(a!) x) -> ()", "args": [)j" + two +
                     R"(], "outputs": [null], "mutated": {"x": )" + one + "}}");
    std::vector<recorded_call> const calls = read_calls(folder.path());
    REQUIRE(calls.size() == 2);
    REQUIRE(calls[0].results.size() == 2);
    CHECK(calls[0].results[1].one().count() == 1);
    REQUIRE(calls[1].results.size() == 1);
    CHECK(contains(fault_in(schema + R"("outputs": [)" + two + "]}"),
                   "the operator writes to 'x', but its value after the call is not in 'mutated'"));
}

TEST_CASE("a malformed line is refused with the file, the line and what is wrong") {
    CHECK(contains(fault_after_head(R"("args": [)"), "the JSON is malformed or truncated; docs/verify.md describes"));
    CHECK(contains(fault_after_head(R"("args": [)" + two.substr(0, two.size() - 3)), "the JSON ends inside a string"));
    CHECK(contains(fault_in("[1]"), "expected an object, found a list"));
    CHECK(contains(fault_in(R"({"args": []})"), "has no member 'schema'"));
    CHECK(contains(fault_in(R"({"schema": "f(Tensor x) -> Tensor"})"), "schema: the operator has no namespace"));
    CHECK(contains(fault_in(R"({"schema": "my_ops::f(Tensor x"})"), "schema: is malformed: "));
    CHECK(contains(fault_after_head(R"("args": [)" + two + "]}"), "has no member 'outputs'"));
    CHECK(contains(fault_after_head(R"("outputs": []})"), "the argument 'x' has no value"));
    CHECK(contains(fault_after_head(R"("args": [)" + two + R"(, 1, 2], "outputs": []})"),
                   "args[2]: the schema has fewer positional arguments"));
    CHECK(contains(fault_after_head(R"("args": [)" + two + R"(], "kwargs": {"nn": 1}, "outputs": []})"),
                   "kwargs.nn: the schema has no such argument; did you mean 'n'?"));
    CHECK(contains(fault_after_head(R"("args": [)" + two + R"(], "kwargs": {"x": 1}, "outputs": []})"),
                   "kwargs.x: a second value of the argument 'x'"));
    CHECK(contains(fault_after_head(R"("args": [)" + two + R"(, true], "outputs": []})"),
                   "args[1]: expected a real number"));
    CHECK(
        contains(fault_after_head(R"("args": [)" + two + R"(, "0.5"], "outputs": []})"), "args[1]: expected a number"));
    CHECK(contains(fault_after_head(R"("args": [)" + two + R"(], "kwargs": {"n": [1, 2.5]}, "outputs": []})"),
                   "kwargs.n[1]: expected an integer"));
    CHECK(contains(fault_after_head(R"("args": [)" + two + R"(], "outputs": []})"),
                   "the number of results is 1 in the schema, but 0 here"));
    CHECK(contains(fault_in(R"({"schema": "my_ops::f(Generator? g) -> Tensor", "args": [3], "outputs": []})"),
                   "an argument of type Generator? cannot be recorded"));
    CHECK(contains(
        fault_in(R"({"schema": "my_ops::f(ScalarType t) -> Tensor", "args": ["torch.float33"], "outputs": []})"),
        "unknown dtype 'float33'"));
    CHECK(contains(fault_in(R"j({"schema": "my_ops::f() -> Dict(str, int)", "outputs": [{}]})j"),
                   "a result of type Dict(str, int) cannot be compared"));
}

TEST_CASE("a tensor whose dtype, sizes and bytes do not agree is refused before anything is allocated") {
    auto const tensor = [](std::string_view type, std::string_view shape, std::string_view text) {
        return fault_after_head(R"("args": [{"dtype": ")" + std::string(type) + R"(", "shape": )" + std::string(shape) +
                                R"(, "base64": ")" + std::string(text) + R"("}], "outputs": []})");
    };
    CHECK(
        contains(tensor("torch.float64", "[2]", "AACAPwAAAEA="), "args[0]: float64[2] has 16 bytes, but 8 are stored"));
    CHECK(contains(tensor("float32", "[3]", "AACAPwAAAEA="), "float32[3] has 12 bytes, but 8 are stored"));
    CHECK(contains(tensor("float31", "[2]", "AACAPwAAAEA="), "args[0].dtype: unknown dtype 'float31'"));
    CHECK(contains(tensor("string", "[2]", "AACAPwAAAEA="), "unknown dtype 'string'"));
    CHECK(contains(tensor("float32", "[-2, -1]", "AACAPwAAAEA="), "the size -2 is negative"));
    CHECK(contains(tensor("float32", "[1099511627776]", "AACAPwAAAEA="), "has 4398046511104 bytes, but 8 are stored"));
    CHECK(contains(tensor("float32", "[4294967296, 4294967296, 2]", "AACAPwAAAEA="), "args[0].shape: "));
    CHECK(contains(tensor("float32", "[0, 4611686018427387904, 4]", ""), "args[0].shape: "));
    for (std::string_view const text : {"AACAPwAAAE", "AACAPwAAAE*=", "====", "AACA=wAAAEA=", "AACAPw==AEA="})
        CHECK(contains(tensor("float32", "[2]", text), "args[0].base64: is not base64"));
    CHECK(contains(fault_after_head(R"("args": [{"base64": "AAAA", "shape": [1]}], "outputs": []})"),
                   "has no member 'dtype'"));
    CHECK(contains(fault_after_head(R"("args": [{"dtype": "float32", "shape": [1]}], "outputs": []})"),
                   "args[0]: has no member"));
}

TEST_CASE("a tensor of a file is read from its own range only") {
    std::string const eight(8, '\1');
    CHECK(fault_in_file(safetensors(entry("F32", "[2]", "[0, 8]"), eight)) == "nothing was thrown");
    CHECK(fault_in_file(safetensors(entry("F32", "[2]", "[0, 8]"), eight),
                        "t.safetensors",
                        R"({"tensor": "t", "dtype": "float32", "shape": [2]})") == "nothing was thrown");
    CHECK(contains(
        fault_in_file(safetensors(entry("F32", "[2]", "[0, 8]"), eight), "t.safetensors", R"({"tensor": "u"})"),
        "has no tensor 'u' in "));
    CHECK(contains(fault_in_file(safetensors(entry("F32", "[2]", "[0, 8]"), eight),
                                 "t.safetensors",
                                 R"({"tensor": "t", "dtype": "int32"})"),
                   "'t' is float32[2] in the file 't.safetensors', but not here"));
    for (std::string_view const range :
         {"[0, 9]", "[-8, 0]", "[8, 0]", "[9223372036854775807, 9223372036854775807]", "[0]", "[0, 4, 8]"})
        CHECK_MESSAGE(contains(fault_in_file(safetensors(entry("F32", "[2]", range), eight)),
                               "t.data_offsets: not a range of the file's 8 bytes of elements"),
                      range);
    CHECK(contains(fault_in_file(safetensors(entry("F32", "[2]", "[0, 4]"), eight)),
                   "float32[2] has 8 bytes, but 4 are stored"));
    CHECK(contains(fault_in_file(safetensors(entry("F32", "[1099511627776, 1099511627776]", "[0, 8]"), eight)),
                   "t.shape: "));
    CHECK(contains(fault_in_file(safetensors(entry("F33", "[2]", "[0, 8]"), eight)), "t.dtype: unknown dtype 'F33'"));
    std::string const whole = safetensors(entry("F32", "[2]", "[0, 8]"), eight);
    for (std::size_t const length :
         {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{40}, whole.size() - 1}) {
        CHECK(contains(fault_in_file(whole.substr(0, length)), "/t.safetensors"));
    }
    CHECK(contains(fault_in_file(std::string(8, '\xff') + whole), "is truncated, or not a safetensors file"));
    CHECK(contains(fault_in_file("\2\0\0\0\0\0\0\0[]"), "is truncated"));
}

TEST_CASE("a path that leads out of the folder is refused") {
    std::string const whole = safetensors(entry("F32", "[2]", "[0, 8]"), std::string(8, '\1'));
    for (std::string_view const name : {"../t.safetensors", "/etc/passwd", "a/../../t.safetensors", "..", "a/.."})
        CHECK_MESSAGE(contains(fault_in_file(whole, name), "is not in the folder of the recorded calls"), name);
    CHECK(contains(fault_in_file(whole, "missing.safetensors"), "no such file"));
    CHECK(contains(fault_in_file(whole, "."), "is a folder, not a file"));

    call_folder const elsewhere;
    elsewhere.write("t.safetensors", whole);
    call_folder const folder;
    std::filesystem::create_symlink(elsewhere.path() + "/t.safetensors", folder.path() + "/link");
    REQUIRE(::mkfifo((folder.path() + "/pipe").c_str(), 0600) == 0);
    for (std::string const name : {"link", "pipe"}) {
        folder.write("calls.jsonl",
                     R"j({"schema": "my_ops::f(Tensor x) -> ()", "file": ")j" + name +
                         R"(", "args": [{"tensor": "t"}], "outputs": []})");
        CHECK(contains(fault_of([&] { return read_calls(folder.path()); }),
                       name == "link" ? "is not in the folder" : "is a device, pipe or socket"));
    }
}

TEST_CASE("a folder without calls is refused") {
    call_folder const folder;
    CHECK(contains(fault_of([&] { return read_calls(folder.path()); }), "has no .jsonl file with recorded calls"));
    CHECK(contains(fault_of([&] { return read_calls(folder.path() + "/none"); }), "No such file or directory"));
    folder.write("calls.jsonl", "");
    CHECK(contains(fault_of([&] { return read_calls(folder.path()); }), "calls.jsonl: is empty"));
}

} // namespace ATON_NAMESPACE::verify

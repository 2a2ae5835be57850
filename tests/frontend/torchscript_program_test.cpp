// SPDX-License-Identifier: MIT
// Programs of TorchScript archives, with a rule for types that a test can predict: every result has the type of the first argument.
#include <aton/frontend/torchscript/read_program.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "torchscript_archive.hpp"

namespace torchscript_program_test {

using namespace aton::tests;
namespace program = aton::program;
namespace torchscript = aton::torchscript;

namespace {

std::string archive(std::string_view code) { return torchscript_archive(code, module_pickle()).finish(); }

std::string module_of(std::string_view body) {
    return "class M(Module):\n  __parameters__ = [\"w\", ]\n  __buffers__ = [\"b\", ]\n  w : Tensor\n  b : Tensor\n  n "
           ": int\n"
           "  def forward(self: __torch__.M,\n    x: Tensor,\n    k: int=2) -> Tensor:\n" +
           std::string(body);
}

class saved_file {
public:
    explicit saved_file(std::string const& bytes)
        : path_((std::filesystem::temp_directory_path() / ("aton_torchscript_" + std::to_string(::rand()) + ".pt"))
                    .string()) {
        std::ofstream(path_, std::ios::binary) << bytes;
    }
    saved_file(saved_file const&) = delete;
    saved_file& operator=(saved_file const&) = delete;
    ~saved_file() { std::filesystem::remove(path_); }
    [[nodiscard]] std::string const& path() const { return path_; }

private:
    std::string path_;
};

/// The operators of quantized_decomposed that rows have.
std::vector<std::string_view> quantized_schemas(std::string_view op) {
    if (op == "quantized_decomposed::quantize_per_tensor")
        return {"quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
                "int quant_max, ScalarType dtype) -> Tensor"};
    if (op == "quantized_decomposed::dequantize_per_tensor")
        return {"quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
                "int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"};
    return {};
}

torchscript::read_options options() {
    torchscript::read_options out;
    out.inputs = {{"x", aton::dtype::float32, {"batch", 3}}};
    out.infer = [](program::program const& p, program::node const& n, torchscript::known_elements const*) {
        torchscript::inferred_type type{aton::dtype::float32, true, {}, {}};
        if (n.op.starts_with("aten::ne.")) type.type = aton::dtype::bool_;
        bool const has_sizes = n.op != "aten::sum" && !n.arguments.empty();
        if (has_sizes && n.arguments[0].kind == program::argument_kind::tensor)
            for (program::extent const& e : p.values[n.arguments[0].tensor].sizes) type.sizes.emplace_back(e);
        return std::vector<torchscript::inferred_result>{{{type}, false}};
    };
    out.schemas_of = quantized_schemas;
    return out;
}

program::program read(std::string const& bytes) {
    saved_file const file(bytes);
    return torchscript::read_program(file.path(), options());
}

std::string nodes_of(std::string_view body) {
    std::string out;
    for (program::node const& n : read(archive(module_of(body))).main.nodes) (out += out.empty() ? "" : " ") += n.op;
    return out;
}

std::string error_of(std::string const& bytes) {
    try {
        (void)read(bytes);
    } catch (aton::error const& e) {
        std::string const text = e.what();
        return text.substr(text.find(".pt: ") + 5);
    }
    return "accepted";
}

} // namespace

TEST_CASE("a straight program: overloads, weights, origins") {
    program::program const p =
        read(archive(module_of("    w = self.w\n    y = torch.add(torch.mul(x, w), CONSTANTS.c0)\n"
                               "    return (torch.add(y, 1, alpha=2), torch.pow(2, y))\n")));
    REQUIRE(p.main.nodes.size() == 4);
    CHECK(p.main.nodes[0].op == "aten::mul.Tensor");
    CHECK(p.main.nodes[2].op == "aten::add.Scalar");
    CHECK(p.main.nodes[2].arguments.back().name == "alpha");
    CHECK(p.main.nodes[3].op == "aten::pow.Scalar");
    CHECK(p.origins[p.main.nodes[0].origin].source == "code/__torch__.py:11 in forward");
    REQUIRE(p.inputs.size() == 3);
    CHECK(p.inputs[1].target == "w");
    CHECK(p.inputs[1].kind == program::input_kind::parameter);
    CHECK(p.inputs[1].data.parts.at(0).bytes.size == 12);
    CHECK(p.inputs[2].kind == program::input_kind::constant);
    CHECK(p.outputs.size() == 2);
}

TEST_CASE("numbers are computed, dynamic sizes are not") {
    CHECK(nodes_of("    if torch.eq(self.n, torch.add(torch.mul(k, 3), 1)):\n      y = torch.relu(x)\n    else:\n      "
                   "y = x\n    return y\n") == "aten::relu");
    CHECK(nodes_of("    return torch.mul(x, torch.add(torch.size(x, 0), torch.size(x, 1)))\n") ==
          "aten::sym_size.int _operator.add aten::mul.Scalar");
    CHECK(nodes_of("    a = torch.size(x, 0)\n    b = torch.size(x, 0)\n    return torch.mul(x, torch.add(torch.sub(a, "
                   "b), 5))\n") == "aten::sym_size.int aten::mul.Scalar");
    CHECK(nodes_of("    if torch.gt(torch.mul(torch.size(x, 0), 2), 1):\n      y = torch.relu(x)\n    else:\n      y = "
                   "x\n    return y\n") == "aten::sym_size.int _operator.mul aten::relu");
    program::program const p =
        read(archive(module_of("    return torch.view(x, [-1, torch.mul(torch.size(x, 0), 3)])\n")));
    program::value const& v = p.values[p.main.outputs[0].tensor];
    CHECK(v.sizes.at(0).number == 1);
    CHECK(program::to_string(p.expressions.at(v.sizes.at(1).expression)) == "3*batch");
}

TEST_CASE("an attribute may change if all calls compute the same") {
    CHECK(nodes_of("    self.n = 8\n    return torch.relu(x)\n") == "aten::relu");
    CHECK(
        nodes_of("    if torch.eq(self.n, 7):\n      self.n = 8\n    else:\n      pass\n    return torch.relu(x)\n") ==
        "aten::relu");
}

TEST_CASE("strings") {
    auto const is = [](std::string const& condition) {
        return nodes_of("    if " + condition + ":\n      y = torch.relu(x)\n    else:\n      y = x\n    return y\n") ==
               "aten::relu";
    };
    CHECK(is("torch.eq(torch.find(\"abcab\", \"b\", 0, -1), 1)"));
    CHECK(is("torch.eq(torch.find(\"abc\", \"c\", 0, -1), 2)")); // an end of -1 is that of the string
    CHECK(is("torch.eq(torch.split(\"a  b \", None, -1), [\"a\", \"b\"])"));
    CHECK(is("torch.eq(torch.split(\"a,,b\", \",\", -1), [\"a\", \"\", \"b\"])"));
    CHECK(is("torch.eq(torch.join(\"-\", [\"a\", \"b\"]), \"a-b\")"));
    CHECK(is("torch.eq(torch.strip(\" a \", \" \\n\\t\"), \"a\")"));
    CHECK(is("torch.eq(torch.replace(\"aXbX\", \"X\", \"\", -1), \"ab\")"));
    CHECK(is("torch.endswith(\"model.bias\", \"bias\", 0, -1)"));
    CHECK(is("torch.eq(torch.slice([1, 2, 3], None, None, -1), [3, 2, 1])"));
    CHECK(is("torch.eq(torch.slice([1, 2, 3, 4], -2, 0, -2), [3])"));
    CHECK(is("torch.eq(torch.__range_length(10, 0, -3), 4)"));
    CHECK(is("torch.eq(torch.__range_length(3, 3, 1), 0)"));
    CHECK(is("torch.eq(torch.__derive_index(2, 10, -3), 4)"));
}

TEST_CASE("sizes that depend on data are apart from dimensions that the user names") {
    saved_file const file(archive(module_of("    return torch.view(x, [int(torch.sum(x)), -1])\n")));
    torchscript::read_options given = options();
    given.inputs = {{"x", aton::dtype::int64, {"u0", 3}}};
    program::program const p = torchscript::read_program(file.path(), given);
    program::value const& v = p.values[p.main.outputs[0].tensor];
    REQUIRE(v.sizes.size() == 2);
    CHECK(program::to_string(p.expressions.at(v.sizes[0].expression)) == "u1");
}

TEST_CASE("loops are unrolled, lists and dicts exist only while the code is read") {
    CHECK(
        nodes_of(
            "    y = annotate(List[Tensor], [])\n    for i in range(k):\n      _0 = torch.append(y, torch.mul(x, i))\n"
            "    d = {\"a\": y}\n    return d[\"a\"][-1]\n") == "aten::mul.Scalar aten::mul.Scalar");
    CHECK(nodes_of("    i = 0\n    _0 = True\n    while _0:\n      i0 = torch.add(i, 1)\n      _0, i = torch.lt(i0, "
                   "3), i0\n    return torch.mul(x, i)\n") == "aten::mul.Scalar");
}

TEST_CASE("conditions and loops on data become graphs") {
    program::program p = read(archive(module_of("    if bool(torch.sum(x)):\n      y = torch.mul(x, self.w)\n      n = "
                                                "1\n    else:\n      y = torch.neg(x)\n      n = 2\n"
                                                "    return torch.mul(y, n)\n")));
    REQUIRE(p.subgraphs.size() == 2);
    CHECK(p.subgraphs[0].nodes.size() == 1);
    CHECK(p.subgraphs[0].inputs.size() == 2); // x and w, also where only the other branch uses one
    CHECK(p.subgraphs[1].inputs.size() == 2);
    CHECK(p.main.nodes[2].op == "aten::item"); // bool() is a number, not a tensor
    CHECK(p.main.nodes[3].op == "higher_order::cond");
    CHECK(p.main.nodes[3].results.size() == 2);
    p = read(archive(module_of("    y = x\n    n = 0\n    while bool(torch.sum(y)):\n      y, n = torch.mul(y, "
                               "self.w), torch.add(n, 1)\n    return torch.mul(y, n)\n")));
    REQUIRE(p.subgraphs.size() == 2);
    CHECK(p.subgraphs[0].inputs.size() == 3);
    CHECK(p.subgraphs[1].outputs.size() == 2);
}

TEST_CASE("an attribute that every call changes is an input and an output") {
    for (std::string_view const result : {"torch.mul(x, self.n)", "x"}) {
        program::program const p =
            read(archive(module_of("    self.n = torch.add(self.n, 1)\n    return " + std::string(result) + "\n")));
        auto const state =
            std::find_if(p.inputs.begin(), p.inputs.end(), [](auto const& in) { return in.target == "n"; });
        REQUIRE(state != p.inputs.end());
        CHECK(state->first_value == "7");
        REQUIRE(p.outputs.size() == 2);
        CHECK(p.outputs[1].kind == program::output_kind::input_mutation);
        CHECK(p.outputs[1].target == "n");
    }
}

TEST_CASE("quantized tensors are the floats that they stand for") {
    std::string const quantized = "    y = torch.quantize_per_tensor(x, 0.5, 3, 13)\n";
    std::string const pair = "quantized_decomposed::quantize_per_tensor quantized_decomposed::dequantize_per_tensor";
    CHECK(nodes_of(quantized + "    return torch.dequantize(torch.relu(y))\n") == pair + " aten::relu aten::alias");
    // The sum has its own scale, and an average the one of its operand.
    CHECK(nodes_of(quantized + "    z = ops.quantized.add_relu(y, y, 0.25, 0)\n    return torch.dequantize(z)\n") ==
          pair + " aten::add.Tensor aten::relu " + pair + " aten::alias");
    CHECK(nodes_of(quantized + "    return torch.dequantize(torch.mean(y, [1], True))\n") ==
          pair + " aten::mean.dim " + pair + " aten::alias");
    CHECK(nodes_of(quantized + "    return torch.mul(x, torch.q_scale(y))\n") == pair + " aten::mul.Scalar");
    auto const refused = [](std::string const& body, std::string_view why) {
        std::string const what = error_of(archive(module_of(body)));
        CHECK_MESSAGE(what.find(why) != std::string::npos, what << " should have: " << why);
    };
    refused(quantized + "    return torch.dequantize(torch.sigmoid(y))\n",
            "on a quantized tensor: dequantize it before");
    refused(quantized + "    return torch.add(x, y)\n", "on a quantized tensor: dequantize it before");
    refused(quantized + "    return (x, [y])\n", "returns a quantized tensor, which ONNX does not have");
    refused("    return torch.quantize_per_tensor(x, 0.5, 3, 99)\n", "quantizes to the dtype 99");
    refused("    s = float(torch.sum(x))\n    return torch.quantize_per_tensor(x, s, 3, 13)\n", "that is not known");
    refused("    return ops.quantized.conv2d(x, self, 0.5, 3)\n", "uses a packed weight");
    refused("    return ops.quantized.relu6(x)\n", "on a tensor that is not quantized");
}

TEST_CASE("errors have the line of the code") {
    auto const error_in = [](std::string_view body) { return error_of(archive(module_of(body))); };
    CHECK(error_in("    y = x\n    return torch.relu(z)\n") ==
          "code/__torch__.py:11 in forward: the variable 'z' has no value");
    CHECK(error_in("    self.n = torch.format(\"{}0\", self.n)\n    return x\n").find("assigns the attribute 'n'") !=
          std::string::npos);
    CHECK(error_in("    n = self.n\n    self.n = 8\n    return torch.mul(x, n)\n").find("assigns the attribute 'n'") !=
          std::string::npos);
    CHECK(error_in("    ops.prim.RaiseException(\"too bad\")\n    return x\n") ==
          "code/__torch__.py:10 in forward: the module raises an exception for these inputs: 'too bad'");
    CHECK(error_in("    y = torch.relu_(CONSTANTS.c9)\n    return x\n").find("no constant 'CONSTANTS.c9'") !=
          std::string::npos);
    CHECK(error_in("    return torch.stride(torch.t(x))\n").find("memory layout") != std::string::npos);
    CHECK(error_in("    y = torch.mul_(torch.size(x, 0), 2)\n    return x\n").find("would write to") !=
          std::string::npos);
    CHECK(error_of(archive("class M(Module):\n  def forward(self, x, k=y):\n    return x\n")) ==
          "the variable 'y' has no value");
    saved_file const file(archive(module_of("    return x\n")));
    auto const refusal = [&](torchscript::input_type input) {
        torchscript::read_options given = options();
        given.inputs = {std::move(input)};
        try {
            (void)torchscript::read_program(file.path(), given);
        } catch (aton::error const& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refusal({"y", aton::dtype::float32, {3}}).find("the argument 'x' of forward, Tensor, is missing") !=
          std::string::npos);
    CHECK(refusal({"k", aton::dtype::int64, {}}) != "");
    CHECK(torchscript::is_archive(file.path()));
}

bool is_said(std::string const& message, std::string_view part) {
    INFO("it says: " << message);
    return message.find(part) != std::string::npos;
}

/// The nodes of a `forward` with one argument, or why it is refused. Each input is a tensor of float32 [2, 3], or 0-d if its name starts with "n";
/// "m=3" is a constant.
std::string nodes_with(std::string_view argument, std::string_view result, std::vector<std::string> const& names) {
    torchscript::read_options given = options();
    given.inputs.clear();
    for (std::string const& each : names) {
        given.inputs.push_back(
            {each, aton::dtype::float32, each[0] == 'n' ? std::vector<aton::dim>{} : std::vector<aton::dim>{2, 3}});
        if (std::size_t const equals = each.find('='); equals != std::string::npos)
            given.inputs.back() = {each.substr(0, equals), aton::dtype::undefined, {}, each.substr(equals + 1)};
    }
    saved_file const file(archive("class M(Module):\n  def forward(self: __torch__.M,\n    " + std::string(argument) +
                                  ") -> Tensor:\n    return " + std::string(result) + "\n"));
    std::string out;
    try {
        program::program const p = torchscript::read_program(file.path(), given);
        for (program::value_index const v : p.main.inputs) (out += out.empty() ? "" : " ") += p.values[v].name;
        for (program::node const& n : p.main.nodes) (out += ' ') += n.op;
    } catch (aton::error const& e) {
        std::string const text = e.what();
        out = text.substr(text.find(".pt: ") + 5);
    }
    return out;
}

TEST_CASE("a dtype that ONNX does not have is named") {
    for (auto const& [code, name] : {std::pair<int, char const*>{12, "qint8"},
                                     {13, "quint8"},
                                     {14, "qint32"},
                                     {16, "quint4x2"},
                                     {18, "bits1x8"},
                                     {22, "bits16"},
                                     {30, "uint1"},
                                     {40, "int4"},
                                     {45, "float4_e2m1fn_x2"}}) {
        std::string const number = std::to_string(code);
        CHECK(is_said(nodes_with("x: Tensor", "torch.to(x, " + number + ")", {"x"}),
                      "uses the dtype " + std::string(name) + ", which ONNX does not have"));
        CHECK(is_said(nodes_with("x: Tensor", "torch.zeros_like(x, dtype=" + number + ")", {"x"}),
                      "uses the dtype " + std::string(name) + ", which ONNX does not have"));
    }
    CHECK(is_said(nodes_with("x: Tensor", "torch.to(x, 46)", {"x"}), "uses the unknown dtype 46"));
}

TEST_CASE("arguments of forward that are tuples, lists, dicts or numbers") {
    std::string_view const pair = "hx: Tuple[Tensor, Tuple[Tensor, Tensor]]";
    std::string_view const sum = "torch.add((hx)[0], ((hx)[1])[1])";
    CHECK(nodes_with(pair, sum, {"hx.0", "hx.1.0", "hx.1.1"}) == "hx_0 hx_1_0 hx_1_1 aten::add.Tensor");
    CHECK(nodes_with(pair, sum, {}) ==
          "the argument 'hx' of forward, Tuple[Tensor, Tuple[Tensor, Tensor]], is missing: give its type with --input "
          "hx.0:float32[1,3,224,224] --input hx.1.0:float32[1,3,224,224] --input hx.1.1:float32[1,3,224,224]");
    CHECK(
        is_said(nodes_with(pair, sum, {"hx"}), "give its elements: --input hx.0:float32[1,3,224,224] --input hx.1.0:"));
    CHECK(is_said(nodes_with(pair, sum, {"hx.0", "hx.1"}),
                  "input 'hx.1' is Tuple[Tensor, Tensor]: give its elements: --input hx.1.0:"));
    CHECK(is_said(nodes_with(pair, sum, {"hx.0", "hx.1.1"}), "given in order: 'hx.1.0' is next"));
    CHECK(is_said(nodes_with(pair, sum, {"hx.0", "hx.1.0"}),
                  "an element of 'hx.1', Tuple[Tensor, Tensor], is missing: give its type with --input hx.1.1:"));
    CHECK(nodes_with("x: List[Dict[str, Tensor]]", "((x)[0])[\"a\"]", {"x.0.a", "x.0.b", "x.1.a"}) ==
          "x_0_a x_0_b x_1_a");
    CHECK(nodes_with("x: Optional[Dict[str, Tensor]]", "(unchecked_cast(Dict[str, Tensor], x))[\"a.b\"]", {"x.a.b"}) ==
          "x_a_b");
    CHECK(is_said(nodes_with("x: Dict[str, Tensor]", "(x)[\"a\"]", {}), "with --input x.KEY:float32[1,3,224,224]"));
    CHECK(nodes_with("n: float", "torch.add(CONSTANTS.c0, n)", {"n"}) == "n c_constant_2 aten::item aten::add.Scalar");
    CHECK(is_said(nodes_with("n: int", "torch.add(CONSTANTS.c0, n)", {}), "give its type with --input n:int"));
    CHECK(is_said(nodes_with("m: int", "torch.add(CONSTANTS.c0, m)", {"m"}),
                  "input 'm' is int: it has no dimensions: --input m:int"));
    CHECK(is_said(nodes_with("s: str", "CONSTANTS.c0", {"s"}),
                  "the argument 's' of forward is str, not a tensor: give its value, --input s=VALUE"));
}

TEST_CASE("arguments of forward that are the same in every call") {
    auto const with = [](std::string_view type, std::string_view given) {
        return nodes_with("x: Tensor, m: " + std::string(type), "torch.add(x, m)", {"x", "m=" + std::string(given)});
    };
    CHECK(with("int", "16000") == "x aten::add.Scalar");
    CHECK(with("float", "-3") == "x aten::add.Scalar");
    CHECK(with("Optional[int]", "7") == "x aten::add.Scalar");
    CHECK(nodes_with("x: Tensor, s: List[int]", "torch.reshape(x, s)", {"x", "s=[3, -1]"}) == "x aten::reshape");
    CHECK(nodes_with("x: Tensor, s: str", "torch.div(x, 2, rounding_mode=s)", {"x", "s=floor"}) ==
          "x aten::div.Scalar_mode");
    CHECK(nodes_with("x: Tensor, s: str", "torch.div(x, 2, rounding_mode=s)", {"x", "s='floor'"}) ==
          "x aten::div.Scalar_mode");
    CHECK(with("int", "2.5") == "input 'm' is int, not '2.5'");
    CHECK(with("int", "None") == "input 'm' is int, not 'None'");
    CHECK(is_said(with("int", "abc"), "input 'm' is not a constant: 'abc'; write a number, a string in quotes"));
    CHECK(is_said(with("int", "[1, x.size(0)]"), "is not a constant"));
    CHECK(is_said(with("int", ""), "expected an expression"));
    CHECK(is_said(with("int", "3 4"), "expected one value, found '4'"));
    CHECK(is_said(with("Tensor", "3"), "input 'm' is a tensor, which cannot be constant: give its type"));
}

TEST_CASE("any change of code and objects is read or refused") {
    std::string const good =
        archive(module_of("    y = torch.mul(x, self.w)\n    for i in range(3):\n      y = torch.add(y, [1, i][0])\n"
                          "    if bool(torch.sum(y)):\n      z = torch.view(y, [torch.size(y, 0), -1])\n    else:\n    "
                          "  z = torch.neg(y)\n"
                          "    return {\"a\": z, \"b\": (y, torch.len([z]))}\n"));
    std::size_t const code = good.find("class M");
    std::size_t const end = good.find("torch.len");
    char const* const more = std::getenv("ATON_FUZZ_ROUNDS");
    std::mt19937 random(9);
    for (int round = 0, rounds = more == nullptr ? 1500 : std::stoi(more); round < rounds; ++round) {
        std::string bytes = good;
        for (auto changes = 1 + random() % 3; changes != 0; --changes) {
            std::size_t const at = round % 3 == 0 ? random() % 400 : code + random() % (end - code);
            bytes[at] = round % 2 == 0 ? static_cast<char>(random()) : bytes[code + random() % (end - code)];
        }
        CHECK_NOTHROW((void)error_of(bytes));
    }
}

} // namespace torchscript_program_test

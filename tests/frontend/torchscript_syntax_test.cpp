// SPDX-License-Identifier: MIT
// The lexer and parser of TorchScript's code, its decompressor, and the reader of its pickles.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "frontend/files/inflate.hpp"
#include "frontend/torchscript/lexer.hpp"
#include "frontend/torchscript/object_reader.hpp"
#include "frontend/torchscript/parser.hpp"

namespace torchscript_syntax_test {

using namespace aton::torchscript;
using namespace std::string_literals;

namespace {

constexpr std::string_view dynamic_codes =
    "2590db15c0400444ff55a1b5c1e8bf845c9be464639907caae4ef3c8ca70b98a4bd8e320ac482279556b3e455c3d73bc391c"
    "c4952d3de22c2488e33e010a20f518e5e07236170296ce45bd9a2cd5ec04298cc63e1a8202448ae25357747765601bd7de6b"
    "7a8d219af9406e2de67a299d10527d96371f6ef5e22edeed6b63471b3af8d1b7a8a06d7cbb19c61ba513c8432c69880131ee"
    "6f2d06e70c8c68e86594c374667108e56b23f66da0b34270b50c96ffea6e93ff906fc40f";

std::unique_ptr<code_file> parsed(std::string_view code) { return parse(code, "code/__torch__/a/b.py", "m.pt"); }

std::string parse_error(std::string_view code) {
    try {
        auto const file = parsed(code);
        for (function_code const& f : file->functions) (void)f.body();
        for (class_code const& c : file->classes)
            for (function_code const& f : c.methods) (void)f.body();
    } catch (aton::error const& e) {
        return e.what();
    }
    return "accepted";
}

/// The value of the only return statement of a function.
expr returned(std::string const& text) {
    auto const file = parsed("def f(x):\n  return " + text + "\n");
    return file->functions.at(0).body().at(0).value;
}

std::string hex(std::string_view digits) {
    std::string out;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        out += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    return out;
}

value read(std::string const& pickle, heap& to) {
    return read_object(pickle, "m.pt", [](std::string_view) { return aton::file_span{}; }, to);
}

std::string pickle_error(std::string const& pickle) {
    heap to;
    try {
        (void)read(pickle, to);
    } catch (aton::error const& e) {
        return e.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("tokens have lines, indentation, and decoded strings") {
    std::vector<token> const all = tokenize("a = \"x\\n\\001\\\"\" # why\nif b:\n  (c,\n   -1.5e-05)\n", "f.py");
    CHECK(all.at(2).text == "x\n\1\"");
    CHECK(all.at(4).text == "if");
    CHECK(all.at(4).line == 2);
    CHECK(all.at(8).is == token_kind::indent);
    CHECK(all.back().is == token_kind::end);
}

TEST_CASE("expressions") {
    expr const call = returned("torch.add((self).f(x, ), [1, -2], alpha=inf)");
    CHECK(call.is == expr_kind::call);
    CHECK(call.items.size() == 4);
    CHECK(call.keywords == std::vector<std::string>{"alpha"});
    CHECK(call.items[0].is == expr_kind::attribute);
    CHECK(call.items[0].text == "add");
    CHECK(call.items[1].items[0].items[0].text == "self");
    CHECK(call.items[2].items[1].is == expr_kind::negative);
    CHECK(returned("(x)").is == expr_kind::name);
    CHECK(returned("(x,)").items.size() == 1);
    CHECK(returned("()").is == expr_kind::tuple);
    CHECK(returned("a if b else c").is == expr_kind::conditional);
    CHECK(returned("{\"a\": 1, \"b\": 2, }").items.size() == 4);
    CHECK(returned("-9223372036854775808").integer == std::numeric_limits<std::int64_t>::min());
    CHECK(returned("1.0000000000000001e-05").real == 1e-5);
    CHECK(returned("x[0][1]").items[1].integer == 1);
}

TEST_CASE("complex numbers are written as a sum") {
    auto const is = [](std::string const& text, double real, double imaginary) {
        expr const e = returned(text);
        return e.is == expr_kind::complex && e.real == real && e.imaginary == imaginary;
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK(is("1.5-2.j", 1.5, -2));
    CHECK(is("-0.5+0.25j", -0.5, 0.25));
    CHECK(is("0.+3.j", 0, 3));
    CHECK(is("2.j", 0, 2));
    CHECK(is("1e-05-1.0000000000000001e-05j", 1e-5, -1e-5));
    CHECK(is("-inf+2.j", -infinity, 2));
    CHECK(is("1.-infj", 1, -infinity));
    expr const call = returned("f(x, 1.+2.j, alpha=3.-4.j)");
    CHECK(call.items.at(2).imaginary == 2);
    CHECK(call.items.at(3).imaginary == -4);
    CHECK(parse_error("def f(x):\n  return x+2.j\n").find(":2: operators between values") != std::string::npos);
    CHECK(parse_error("def f(x):\n  return 1.+2.\n").find(":2: operators between values") != std::string::npos);
}

TEST_CASE("functions that fork() runs") {
    auto const file = parsed("def f(x):\n  def g():\n    y = 1\n    return y\n  z = fork(g)\n  return z\n");
    stmt const& def = file->functions.at(0).body().at(0);
    CHECK(def.is == stmt_kind::def_);
    CHECK(def.targets.at(0).text == "g");
    CHECK(def.body.size() == 2);
    CHECK(file->functions.size() == 1);
}

TEST_CASE("with statements") {
    auto const file = parsed("def f(x):\n  with _0 as y:\n    with x.y:\n      pass\n    z = 1\n  return z\n");
    stmt const& with = file->functions.at(0).body().at(0);
    CHECK(with.is == stmt_kind::with_);
    CHECK(with.value.text == "_0");
    CHECK(with.targets.at(0).text == "y");
    CHECK(with.body.size() == 2);
    CHECK(with.body.at(0).targets.empty());
}

TEST_CASE("a function is parsed when it is used") {
    auto const file = parsed("import a\n"
                             "def f(x):\n  return $\n"
                             "\n"
                             "class M(Module):\n"
                             "  __parameters__ = []\n"
                             "  def g(self,\n      x: Tensor) -> Tensor:\n    async with x\n"
                             "  # why\n"
                             "  n : int\n"
                             "  def h(self) -> int:\n    return 7\n");
    REQUIRE(file->functions.size() == 1);
    class_code const& m = file->classes.at(0);
    REQUIRE(m.methods.size() == 2);
    CHECK(m.attributes.size() == 2);
    CHECK(m.methods[0].name == "g");
    CHECK(m.methods[0].line == 7);
    function_code const& h = m.methods[1];
    CHECK(h.line == 12);
    CHECK(h.body().at(0).line == 13);
    CHECK(file->text.substr(h.body().at(0).offset, 8) == "return 7");
    CHECK_THROWS_WITH((void)file->functions[0].body(), "m.pt: code/__torch__/a/b.py:3: unexpected character '$'");
    CHECK_THROWS_WITH((void)m.methods[0].parameters(),
                      "m.pt: code/__torch__/a/b.py:9: expected the end of the line, found 'with'");
}

TEST_CASE("classes and statements") {
    auto const file = parsed("class M(Module):\n"
                             "  __parameters__ = [\"w\", ]\n"
                             "  w : Tensor\n"
                             "  n : Final[int] = 3\n"
                             "  __annotations__[\"0\"] = __torch__.X\n"
                             "  def forward(self: __torch__.a.b.M,\n"
                             "    x: Tensor,\n"
                             "    k: int=2) -> Tensor:\n"
                             "    a, b, = x\n"
                             "    c, = a\n"
                             "    while True:\n"
                             "      for i in range(k):\n"
                             "        pass\n"
                             "    if a:\n"
                             "      y = 1\n"
                             "    else:\n"
                             "      y = 2\n"
                             "    self.w = y\n"
                             "    return y\n");
    class_code const& m = file->classes.at(0);
    CHECK(m.qualified == "__torch__.a.b.M");
    CHECK(m.attributes.size() == 4);
    CHECK(m.attributes[3].name == "0");
    function_code const& f = m.methods.at(0);
    CHECK(f.line == 6);
    CHECK(f.parameters().size() == 3);
    CHECK(f.parameters()[2].fallback->integer == 2);
    REQUIRE(f.body().size() == 6);
    CHECK(f.body()[0].targets.size() == 2);
    CHECK(f.body()[1].targets.at(0).is == expr_kind::tuple);
    CHECK(f.body()[2].body.at(0).is == stmt_kind::for_);
    CHECK(f.body()[3].other.size() == 1);
    CHECK(f.body()[4].targets[0].is == expr_kind::attribute);
    CHECK(f.body()[5].line == 19);
}

TEST_CASE("malformed code is refused with its line") {
    CHECK(parse_error("def f(x):\n  return (x\n") ==
          "m.pt: code/__torch__/a/b.py:3: expected ')', found the end of the line");
    CHECK(parse_error("def f(x):\n  y = \"abc\n") == "m.pt: code/__torch__/a/b.py:2: a string is not closed");
    CHECK(parse_error("def f(x):\n return 99999999999999999999\n").find(":2: the integer") != std::string::npos);
    CHECK(parse_error("def f(x):\n  " + std::string(9999, '(')).find("nested more than 200") != std::string::npos);
    CHECK(parse_error("def f(x):\n  " + std::string(9999, '-') + "1\n").find("nested more than 200") !=
          std::string::npos);
    CHECK(parse_error("x = 1\n").find("expected a class or a function") != std::string::npos);
    CHECK(parse_error("def f(x):\n    y = 1\n  z = 2\n").find("indentation") != std::string::npos);
    CHECK(parse_error("def f(x=1 2):\n  pass\n").find("expected ')'") != std::string::npos);
    CHECK(parse_error("def f(x):\n  if x:\n    pass\n  elif x:\n    pass\n").find("elif") != std::string::npos);
    CHECK(parse_error("def f(x):\n  f(a=1, 2)\n").find("positional argument") != std::string::npos);
    CHECK(parse_error("class M(Module):\n  1 : int\n").find("attribute") != std::string::npos);
}

TEST_CASE("any change of a file is parsed or refused") {
    std::string const good =
        "class M(Module):\n  w : Tensor\n  def forward(self, x: Tensor) -> Tensor:\n    a, b = (x, [1, 2.5e3])\n"
        "    if torch.eq(a, {\"k\": -1}):\n      return \"s\\n\" if a else b[0]\n    return torch.add(x, y=3)\n";
    std::mt19937 random(5);
    for (int round = 0; round != 20000; ++round) {
        std::string code = good;
        for (auto changes = 1 + random() % 4; changes != 0; --changes)
            code[random() % code.size()] = static_cast<char>(random());
        CHECK_NOTHROW((void)parse_error(code));
    }
}

TEST_CASE("decompression") {
    // Fixed codes, dynamic codes (both by zlib), and a stored block.
    CHECK(aton::files::inflate(hex("4b4c4a4e24842a00"), 100) == std::string("abcabcabcabcabcabcabcabcabcabcabcabcx"));
    auto const text = aton::files::inflate(hex(dynamic_codes), 1000);
    REQUIRE(text.has_value());
    CHECK(text->size() == 400);
    CHECK(text->substr(0, 20) == "beebc eeeeaea \nebebb");
    CHECK(text->substr(380) == "ee b   deaaeeabebbea");
    CHECK(aton::files::inflate(hex("010300fcff616263"), 100) == std::string("abc"));
    CHECK_FALSE(aton::files::inflate(hex("010300fcff616263"), 2).has_value());
    CHECK_FALSE(aton::files::inflate(hex("010300fcfe616263"), 100).has_value());
    CHECK_FALSE(aton::files::inflate("", 100).has_value());
    std::mt19937 random(6);
    for (int round = 0; round != 20000; ++round) {
        std::string bytes;
        for (auto size = random() % 60; size != 0; --size) bytes += static_cast<char>(random());
        auto const out = aton::files::inflate(bytes, 4096);
        CHECK((!out || out->size() <= 4096));
    }
}

TEST_CASE("objects of pickles") {
    heap to;
    value const v =
        read("\x80\x02"
             "c__torch__.a\nM\n)\x81}(X\x01\0\0\0nK\x07X\x01\0\0\0l]q\0(K\x01G\x3f\xf8\0\0\0\0\0\0eX\x01\0\0\0sh\0ub."s,
             to);
    REQUIRE(v.is() == kind::object);
    CHECK(v.object()->class_name == "__torch__.a.M");
    CHECK(v.object()->attributes.at("n").integer() == 7);
    CHECK(v.object()->attributes.at("l").list()->items.at(1).number() == aton::scalar(1.5));
    CHECK(v.object()->attributes.at("s").list() == v.object()->attributes.at("l").list());
    CHECK(pickle_error("\x80\x02"
                       "cos\nsystem\nX\x02\0\0\0ls\x85R."s)
              .find("os.system") != std::string::npos);
    CHECK(pickle_error("\x80\x02(."s).find("without an object") != std::string::npos);
    CHECK(pickle_error("\x80\x02h\5."s).find("memo") != std::string::npos);
    CHECK(pickle_error("\x80\x02]NNNe."s).find("mark") != std::string::npos);
    CHECK(pickle_error("\x80\x02NNa."s).find("not a list") != std::string::npos);
    CHECK(pickle_error("\x80\x02N\x8a\x09"s) != "accepted");
    std::string const good = "\x80\x02"
                             "c__torch__.a\nM\n)\x81}(X\x01\0\0\0nK\x07X\x01\0\0\0l]q\0(K\x01NetX\x01\0\0\0sh\0ub."s;
    std::mt19937 random(8);
    for (int round = 0; round != 20000; ++round) {
        std::string bytes = good;
        for (auto changes = 1 + random() % 3; changes != 0; --changes)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        CHECK_NOTHROW((void)pickle_error(bytes));
    }
}

} // namespace torchscript_syntax_test

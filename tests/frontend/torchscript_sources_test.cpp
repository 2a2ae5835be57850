// SPDX-License-Identifier: MIT
// The places in the user's Python code that archives record.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>

#include "frontend/torchscript/source_ranges.hpp"

namespace torchscript_sources_test {

namespace torchscript = aton::torchscript;
using namespace std::string_literals;

namespace {

std::string text(std::string_view s) {
    std::string out = "X";
    for (unsigned shift = 0; shift != 32; shift += 8) out += static_cast<char>(s.size() >> shift & 0xffU);
    return out + std::string(s);
}
std::string number(int n) { return {'K', static_cast<char>(n)}; }
std::string tuple(std::string_view items) { return "(" + std::string(items) + "t"; }
std::string list(std::string_view items) {
    return "ctorch.jit._pickle\nbuild_intlist\n(](" + std::string(items) + "etR";
}
std::string range(int offset, std::string_view source, int start) {
    return tuple(number(offset) + tuple(std::string(source) + number(start) + number(start)) + number(0));
}
std::string pickle(std::string_view object) { return "\x80\x02" + std::string(object) + "."; }

/// With a table of texts, as newer releases write it.
std::string scripted() {
    std::string const texts = tuple(text("def forward(self, x):\n") + text("    y = x + 1\n") + text("    return y\n") +
                                    text("/home/me/net.py"));
    std::string const source = tuple(list(number(0) + number(1) + number(2)) + number(3) + number(40));
    return pickle(tuple(text("FORMAT_WITH_STRING_TABLE") + texts +
                        tuple(range(0, tuple(list("") + number(9) + number(0)), 0) + range(50, source, 26) +
                              range(20, source, 4) + range(70, source, 48))));
}

std::string at(std::string const& bytes, std::uint64_t offset) {
    return torchscript::read_source_ranges(bytes).at(offset);
}

} // namespace

TEST_CASE("scripted code: the file and its line") {
    CHECK(at(scripted(), 0).empty());
    CHECK(at(scripted(), 19).empty());
    CHECK(at(scripted(), 20) == "net.py:40 in forward");
    CHECK(at(scripted(), 50) == "net.py:41 in forward");
    CHECK(at(scripted(), 69) == "net.py:41 in forward");
    CHECK(at(scripted(), 70) == "net.py:42 in forward");
    CHECK(at(scripted(), 4'000'000'000'000) == "net.py:42 in forward");
}

TEST_CASE("traced code: the innermost frame that is not torch's") {
    std::string const stack =
        "/usr/lib/torch/nn/modules/conv.py(560): _conv_forward\n/usr/lib/torch/nn/modules/module.py(17): _call\n"
        "/home/me/net (1).py(12): forward\n/home/me/train.py(3): <module>\n";
    std::string const source = tuple(text(stack) + text("/usr/lib/torch/nn/modules/conv.py") + number(0));
    CHECK(at(pickle(tuple(range(5, source, 0))), 9) == "net (1).py:12 in forward");
    std::string const only_torch = tuple(text(stack.substr(0, 54)) + "N" + number(0));
    CHECK(at(pickle(tuple(range(5, only_torch, 0))), 9) == "conv.py:560 in _conv_forward");
}

TEST_CASE("records of older releases, without a table") {
    std::string const source = tuple(text("def helper(x):\n    return x\n") + text("C:\\me\\ops.py") + number(7));
    CHECK(at(pickle(tuple(range(3, source, 19))), 3) == "ops.py:8 in helper");
    std::string const of_torch =
        tuple(text("def relu(x):\n    return x\n") + text("/usr/lib/torch/nn/functional.py") + number(7));
    CHECK(at(pickle(tuple(range(3, of_torch, 19))), 3).empty());
}

TEST_CASE("names are printed on one line, and bounded") {
    std::string const source =
        tuple(text("def f(x):\n") + text("/a/b\n\x1b[0m" + std::string(900, 'c') + ".py") + number(1));
    std::string const found = at(pickle(tuple(range(3, source, 2))), 3);
    CHECK(found.size() < 250);
    CHECK(found.find('\n') == std::string::npos);
    CHECK(found.find('\x1b') == std::string::npos);
}

TEST_CASE("damaged pickles tell nothing, and do no harm") {
    CHECK(at("", 0).empty());
    CHECK(at("\x80\x02N.", 5).empty());
    CHECK(at(pickle(number(3)), 5).empty());
    CHECK(at(pickle(tuple(number(1) + text("x"))), 5).empty());
    std::string const whole = scripted();
    for (std::size_t size = 0; size != whole.size(); ++size) CHECK(at(whole.substr(0, size), 50).empty());
    std::mt19937 random(7);
    for (int i = 0; i != 20'000; ++i) {
        std::string bytes = whole;
        for (int n = 0; n != 3; ++n) bytes[random() % bytes.size()] = static_cast<char>(random());
        CHECK(at(bytes, random() % 100).size() < 500);
    }
}

} // namespace torchscript_sources_test

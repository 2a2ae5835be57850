// SPDX-License-Identifier: MIT
// Messages of exceptions: one line of bounded length, and the parts of a refusal.
#include <string>

#include <doctest/doctest.h>

#include <aton/core/error.hpp>

using namespace aton;

TEST_CASE("a message is one line of at most max_message bytes") {
    CHECK(std::string(error("two\nlines\tand a tab").what()) == "two lines and a tab");
    std::string const long_message = error(std::string(2000, 'a') + "end").what();
    CHECK(long_message.size() == max_message);
    CHECK(long_message.ends_with("aend"));
}

TEST_CASE("a refusal knows the refused call and the reason") {
    unsupported_error const both("aten::foo (opset 20)", "a reason: with a colon");
    CHECK(std::string(both.what()) == "aten::foo (opset 20): a reason: with a colon");
    CHECK(both.subject() == "aten::foo (opset 20)");
    CHECK(both.reason() == "a reason: with a colon");

    illegal_call const reason_only("aten::foo: looks like a subject");
    CHECK(reason_only.subject().empty());
    CHECK(reason_only.reason() == "aten::foo: looks like a subject");

    unsupported_error const endless(std::string(3000, 's'), "why");
    CHECK(endless.reason().size() <= max_message);
    CHECK(endless.subject().size() <= max_message);
}

TEST_CASE("both kinds of refusals have one base") {
    CHECK_THROWS_AS(throw unsupported_error("a"), refused);
    CHECK_THROWS_AS(throw illegal_call("a"), refused);
}

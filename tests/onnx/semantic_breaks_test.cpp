// SPDX-License-Identifier: MIT
// The table of semantic breaks: in order, every row at a version that exists, and no wider than it has to be.
#include <aton/onnx/semantic_breaks.hpp>

#include <string>
#include <string_view>

#include <aton/onnx/registry.hpp>
#include <doctest/doctest.h>

namespace {

using namespace aton::onnx;

constexpr auto gives(std::string_view attribute) {
    return [attribute](std::string_view name) { return name == attribute; };
}
constexpr auto nothing = [](std::string_view) { return false; };

static_assert(find_break("Softmax", 9, 20)->opset == 13);
static_assert(find_break("Softmax", 13, 28) == nullptr, "a range that begins at the break does not cross it");
static_assert(find_break("Softmax", 1, 12) == nullptr, "nor does one that ends before it");
static_assert(find_break("Dropout", 1, 28)->opset == 7, "the first one inside the range");
static_assert(find_break("Dropout", 7, 28)->opset == 12);
static_assert(find_break("Elu", 1, 28) == nullptr);

// What depends on the call. Inference of BatchNormalization, one output, is the same from 7 on.
static_assert(find_break("BatchNormalization", 7, 28) == nullptr);
static_assert(find_break("BatchNormalization", 7, 28, 5, 1, nothing) == nullptr);
static_assert(find_break("BatchNormalization", 7, 28, 5, 3, nothing)->opset == 14);
static_assert(find_break("BatchNormalization", 14, 28, 5, 3, gives("training_mode"))->opset == 15);
static_assert(find_break("BatchNormalization", 1, 28, 5, 3, nothing)->opset == 7,
              "breaks of every call come with them");
static_assert(find_break("MaxPool", 12, 28, 1, 1, gives("pads")) == nullptr);
static_assert(find_break("MaxPool", 12, 28, 1, 1, gives("ceil_mode"))->opset == 22);
static_assert(find_break("Split", 13, 28, 2, 3, nothing) == nullptr, "with the input split");
static_assert(find_break("Split", 13, 28, 1, 3, nothing)->opset == 18);
static_assert(find_break("Resize", 11, 28, 3, 1, nothing) == nullptr, "roi and scales");
static_assert(find_break("Resize", 11, 28, 4, 1, nothing)->opset == 13, "sizes");
static_assert(find_break("Resize", 13, 28, 4, 1, nothing) == nullptr, "18 and 19 only added attributes");

template <class Row>
void check_row(Row const& row) {
    std::string const op(row.op);
    INFO(op, " ", row.opset);
    op_schema const after = aton::onnx::find("", row.op, row.opset);
    REQUIRE(after);
    CHECK(after.since() == row.opset);
    CHECK(aton::onnx::find("", row.op, row.opset - 1));         // there was a call before
    CHECK(row.reason.find("before") != std::string_view::npos); // what it was ...
    CHECK(row.reason.find("after") != std::string_view::npos);  // ... and what it is
}

} // namespace

TEST_CASE("rows are sorted, and stand where a version of the operator begins") {
    semantic_break const* last = nullptr;
    for (auto const& row : detail::semantic_breaks) {
        check_row(row);
        if (last != nullptr) CHECK((last->op < row.op || (last->op == row.op && last->opset < row.opset)));
        last = &row;
    }
    last = nullptr;
    for (auto const& row : detail::conditional_breaks) {
        check_row(row);
        if (last != nullptr) CHECK((last->op < row.op || (last->op == row.op && last->opset <= row.opset)));
        last = &row;
    }
}

TEST_CASE("the attribute of a condition is one of the operator, before the break") {
    for (auto const& row : detail::conditional_breaks) {
        std::string const op(row.op);
        INFO(op, " ", row.opset);
        CHECK((row.condition == break_condition::attribute_given) == !row.attribute.empty());
        if (!row.attribute.empty())
            CHECK(aton::onnx::find("", row.op, row.opset - 1).find_attribute(row.attribute) >= 0);
    }
}

TEST_CASE("ordinary calls from 13 to the newest opset cross no break, but for those known") {
    for (int i = 0; i != op_count(); ++i) {
        op_schema const s = op_versions(i)[0];
        if (!s.domain().empty()) continue;
        semantic_break const* const found = find_break(s.name(), 13, newest_opset);
        bool const known = s.name() == "DFT" || s.name() == "GroupNormalization" || s.name() == "RoiAlign";
        std::string const op(s.name());
        INFO(op);
        CHECK((found != nullptr) == known);
    }
}

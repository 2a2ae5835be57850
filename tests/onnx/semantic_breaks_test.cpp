// SPDX-License-Identifier: MIT
// The table of semantic breaks is sorted, every row is at an existing version and no wider than necessary. Each row refuses the ranges that cross
// it, with its opset and reason, and no others.
#include <aton/onnx/semantic_breaks.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aton.hpp>
#include <aton/onnx/call_rules.hpp>
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

// Conditional breaks. Inference of BatchNormalization, with one output, is the same from 7 on.
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
static_assert(find_break("Resize", 11, 28, 3, 1, gives("coordinate_transformation_mode"))->opset == 13);
static_assert(find_break("Resize", 13, 28, 4, 1, gives("coordinate_transformation_mode")) == nullptr);

// The same in the DSL: a conditional break refuses the calls that it affects and no others.
using aton::dsl::absent;
using aton::dsl::graph;
using aton::dsl::outputs;
using aton::dsl::valid_call;
using aton::dsl::value;
namespace attr = aton::dsl::attr;
using mode = decltype(attr::mode_s("nearest"));
using ceil_mode = decltype(attr::ceil_mode_i(1));
using kernel = decltype(attr::kernel_shape_i({3, 2}));
using transformation = decltype(attr::coordinate_transformation_mode_s("asymmetric"));

static_assert(!valid_call<graph<11>, "Softmax", value> && valid_call<graph<13>, "Softmax", value>);
static_assert(valid_call<graph<11, 12>, "Softmax", value>);
static_assert(!valid_call<graph<9>, "Clip", value> && valid_call<graph<6, 10>, "Clip", value>);
static_assert(valid_call<graph<11>, "Clip", value, value, value>);
static_assert(!valid_call<graph<16>, "GridSample", value, value, mode>);
static_assert(valid_call<graph<16>, "GridSample", value, value> &&
              valid_call<graph<20>, "GridSample", value, value, mode>);
static_assert(!valid_call<graph<21>, "MaxPool", value, kernel, ceil_mode>);
static_assert(valid_call<graph<21>, "MaxPool", value, kernel> &&
              valid_call<graph<22>, "MaxPool", value, kernel, ceil_mode>);
static_assert(valid_call<graph<12, 21>, "MaxPool", value, kernel, ceil_mode>);
static_assert(!valid_call<graph<10>, "AveragePool", value, kernel, ceil_mode>);
static_assert(!valid_call<graph<13>, "Split", value> && valid_call<graph<13>, "Split", value, value>);
static_assert(!valid_call<graph<13>, "Split", value, decltype(absent)>, "absent at the end is no input");
static_assert(!valid_call<graph<12>, "Resize", value, value, value, value>);
static_assert(valid_call<graph<12>, "Resize", value, value, value, decltype(absent)>, "absent at the end is no input");
static_assert(!valid_call<graph<12>, "Resize", value, value, value, transformation>);
static_assert(valid_call<graph<13>, "Resize", value, value, value, transformation>);
static_assert(!valid_call<graph<7, 11>, "Dropout", value, decltype(outputs<2>)>);
static_assert(valid_call<graph<7, 11>, "Dropout", value> &&
              valid_call<graph<10, 11>, "Dropout", value, decltype(outputs<2>)>);
static_assert(!valid_call<graph<9, 14>, "BatchNormalization", value, value, value, value, value, decltype(outputs<3>)>);
static_assert(valid_call<graph<9>, "BatchNormalization", value, value, value, value, value>);

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

/// A minimal call of the operator that is legal by both signatures.
struct small_call {
    std::vector<call_operand> operands;
    std::vector<call_attribute> attributes;
    std::string_view name;
    int outputs = 0;

    small_call(op_schema before, op_schema after) : name(after.name()) {
        for (int i = 0; i != std::max(before.min_inputs(), after.min_inputs()); ++i) add_operand(before, after);
        for (op_schema const s : {before, after})
            for (int i = 0; i != s.attribute_count(); ++i)
                if (s.attr(i).required) add_attribute(s, s.attr(i).name);
        outputs = std::max({before.min_outputs(), after.min_outputs(), 1});
    }

    void add_operand(op_schema before, op_schema after) {
        auto const at = static_cast<int>(operands.size());
        auto const types = [at](op_schema s) {
            return at >= s.max_inputs() ? aton::any_type
                                        : s.input(aton::onnx::detail::formal_index(at, s.input_count())).types;
        };
        operands.push_back({operand_kind::value, types(before) & types(after)});
    }
    void add_attribute(op_schema s, std::string_view wanted) {
        bool const there = std::any_of(
            attributes.begin(), attributes.end(), [wanted](call_attribute const& a) { return a.name == wanted; });
        int const found = s.find_attribute(wanted);
        if (!there && found >= 0) attributes.push_back({s.attr(found).name, s.attr(found).type});
    }
    /// Makes it a call that the row affects.
    void meet(conditional_break const& row, op_schema before, op_schema after) {
        switch (row.condition) {
        case break_condition::attribute_given: add_attribute(before, row.attribute); break;
        case break_condition::outputs_above: outputs = row.count + 1; break;
        case break_condition::inputs_above:
            while (static_cast<int>(operands.size()) <= row.count) add_operand(before, after);
            break;
        case break_condition::inputs_below: REQUIRE(static_cast<int>(operands.size()) < row.count); break;
        }
    }

    [[nodiscard]] call in(int since, int until) const {
        call c;
        c.name = name;
        c.since = since;
        c.until = until;
        c.operands = operands;
        c.attributes = attributes;
        c.outputs = outputs;
        return c;
    }
    [[nodiscard]] broken_rule broken(int since, int until) const { return evaluate(in(since, until)).broken; }
};

/// The ranges around the row: only one that crosses it is refused, with its opset and reason, in one sentence.
void check_ranges(small_call const& c, semantic_break const& row) {
    int const first = aton::onnx::find("", row.op, row.opset - 1).since();
    CHECK(!c.broken(first, row.opset - 1));
    CHECK(!c.broken(row.opset - 1, row.opset - 1));
    CHECK(!c.broken(row.opset, row.opset));
    for (int const since : {first, row.opset - 1}) {
        broken_rule const r = c.broken(since, row.opset);
        CHECK(r.kind == rule::meaning_changed);
        CHECK(r.opset == row.opset);
        CHECK(r.facts.change == &row);
        auto const sentence = aton::dsl::detail::describe(c.in(since, row.opset), r);
        CHECK(sentence.view() == "onnx::" + std::string(row.op) + " (opset " + std::to_string(row.opset) +
                                     "): the meaning changed: " + std::string(row.reason) + "; split the range [" +
                                     std::to_string(since) + ", " + std::to_string(row.opset) + "] at opset " +
                                     std::to_string(row.opset));
    }
}

} // namespace

TEST_CASE("a range that crosses a break of every call is refused, with its opset and reason") {
    for (semantic_break const& row : detail::semantic_breaks) {
        std::string const op(row.op);
        INFO(op, " ", row.opset);
        op_schema const before = aton::onnx::find("", row.op, row.opset - 1);
        op_schema const after = aton::onnx::find("", row.op, row.opset);
        CHECK(find_break(row.op, row.opset - 1, row.opset) == &row);
        CHECK(find_break(row.op, row.opset, row.opset) == nullptr);
        CHECK(find_break(row.op, before.since(), row.opset - 1) == nullptr);
        small_call const c(before, after);
        if (row.op == "Resize") { // roi became a required input
            CHECK(c.broken(10, 11).kind == rule::too_many_inputs);
            continue;
        }
        if (row.op == "GroupNormalization") { // 18 is deprecated because of the break
            CHECK(c.broken(18, 21).kind == rule::operator_deprecated);
            CHECK(!c.broken(21, 28));
            continue;
        }
        check_ranges(c, row);
    }
}

TEST_CASE("a range that crosses a break of some calls is refused for those and no others") {
    for (conditional_break const& row : detail::conditional_breaks) {
        std::string const op(row.op);
        std::string const attribute(row.attribute);
        INFO(op, " ", row.opset, " ", attribute);
        op_schema const before = aton::onnx::find("", row.op, row.opset - 1);
        op_schema const after = aton::onnx::find("", row.op, row.opset);
        small_call concerned(before, after);
        small_call other = concerned;
        concerned.meet(row, before, after);
        check_ranges(concerned, row);
        if (row.condition == break_condition::inputs_below) other.add_operand(before, after);
        CHECK(!other.broken(row.opset - 1, row.opset));
    }
}

TEST_CASE("rows are sorted, and each is at the start of a version of the operator") {
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

TEST_CASE("the attribute of a condition exists before the break") {
    for (auto const& row : detail::conditional_breaks) {
        std::string const op(row.op);
        INFO(op, " ", row.opset);
        CHECK((row.condition == break_condition::attribute_given) == !row.attribute.empty());
        if (!row.attribute.empty())
            CHECK(aton::onnx::find("", row.op, row.opset - 1).find_attribute(row.attribute) >= 0);
    }
}

TEST_CASE("ordinary calls from 13 to the newest opset cross no break, except the known ones") {
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

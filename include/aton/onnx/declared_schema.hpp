// SPDX-License-Identifier: MIT
// Schemas of operators outside ONNX, parsed at compile time from "Foo(T X, T? B, float alpha, int n=1) -> (T Z)" with
// "T: float16, float, double". Same interface as onnx::op_schema, so that the same rules check their calls.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/core/nearest.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/onnx/schema.hpp>

namespace ATON_NAMESPACE::onnx {

/// How a declaration determines an output's type: only by its type variable, by `= like(X)`, or by `= broadcast(X, Y)`.
struct output_rule {
    enum class kind : std::uint8_t { none, like, broadcast };
    kind is = kind::none;
    std::int8_t first = -1; ///< indices of inputs
    std::int8_t second = -1;
};

/// One declared operator: a handle to rows with static lifetime.
class declared_schema {
public:
    struct rows {
        std::string_view domain;
        std::string_view name;
        int version = 1;
        formal const* inputs = nullptr;
        int input_count = 0;
        formal const* outputs = nullptr;
        output_rule const* rules = nullptr; ///< one for each output
        int output_count = 0;
        type_var const* vars = nullptr;
        int var_count = 0;
        attribute const* attributes = nullptr;
        int attribute_count = 0;
    };

    constexpr declared_schema() = default;
    constexpr explicit declared_schema(rows const& r) : rows_(&r) {}

    constexpr explicit operator bool() const { return rows_ != nullptr; }

    [[nodiscard]] constexpr std::string_view domain() const { return rows_->domain; }
    [[nodiscard]] constexpr std::string_view name() const { return rows_->name; }
    [[nodiscard]] constexpr int since() const { return rows_->version; }
    [[nodiscard]] static constexpr bool deprecated() { return false; }

    [[nodiscard]] constexpr int min_inputs() const { return min_count(rows_->inputs, rows_->input_count); }
    [[nodiscard]] constexpr int max_inputs() const { return max_count(rows_->inputs, rows_->input_count); }
    [[nodiscard]] constexpr int min_outputs() const { return min_count(rows_->outputs, rows_->output_count); }
    [[nodiscard]] constexpr int max_outputs() const { return max_count(rows_->outputs, rows_->output_count); }

    [[nodiscard]] constexpr int input_count() const { return rows_->input_count; }
    [[nodiscard]] constexpr formal const& input(int i) const { return rows_->inputs[i]; }
    [[nodiscard]] constexpr int output_count() const { return rows_->output_count; }
    [[nodiscard]] constexpr formal const& output(int i) const { return rows_->outputs[i]; }
    [[nodiscard]] constexpr output_rule const& rule(int i) const { return rows_->rules[i]; }

    [[nodiscard]] constexpr int type_var_count() const { return rows_->var_count; }
    [[nodiscard]] constexpr type_var const& var(int i) const { return rows_->vars[i]; }

    /// Attributes in the order of the declaration.
    [[nodiscard]] constexpr int attribute_count() const { return rows_->attribute_count; }
    [[nodiscard]] constexpr attribute const& attr(int i) const { return rows_->attributes[i]; }
    [[nodiscard]] constexpr int find_attribute(std::string_view name) const {
        for (int i = 0; i != rows_->attribute_count; ++i)
            if (rows_->attributes[i].name == name) return i;
        return -1;
    }

private:
    static constexpr int min_count(formal const* list, int count) {
        for (int i = count; i != 0; --i) {
            if (list[i - 1].kind == option::variadic) return i - 1 + list[i - 1].min_arity;
            if (list[i - 1].kind == option::single) return i;
        }
        return 0;
    }
    static constexpr int max_count(formal const* list, int count) {
        return count != 0 && list[count - 1].kind == option::variadic ? any_number : count;
    }

    rows const* rows_ = nullptr;
};

/// The only version of a declared operator, as a range of versions.
struct declared_versions {
    declared_schema schema;

    [[nodiscard]] constexpr bool empty() const { return !schema; }
    [[nodiscard]] constexpr int size() const { return schema ? 1 : 0; }
    constexpr declared_schema const& operator[](int) const { return schema; }
};

/// The attribute of a declared operator whose name is nearest to a misspelled one; empty if none is near.
constexpr std::string_view nearest_attribute(declared_schema schema, std::string_view name) {
    nearest near(name);
    for (int i = 0, n = schema.attribute_count(); i != n; ++i) near.offer(schema.attr(i).name);
    return near.found();
}

} // namespace ATON_NAMESPACE::onnx

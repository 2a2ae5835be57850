// SPDX-License-Identifier: MIT
// Rewrites in the form of rows, whose arguments are what the patterns capture: "rewrite::swish(Tensor x0) -> Tensor".
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <aton/core/fixed_string.hpp>
#include <aton/core/scalar.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/dsl/entry.hpp>
#include <aton/dsl/invocation.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// What the overloads of these rows start with.
inline constexpr std::string_view rewrite_prefix = "rewrite::";

constexpr std::string_view schema_type_of(capture_kind k) {
    switch (k) {
    case capture_kind::value:
    case capture_kind::constant: return "Tensor";
    case capture_kind::number: return "Scalar";
    case capture_kind::real: return "float";
    case capture_kind::integer: return "int";
    case capture_kind::integers: return "int[]";
    case capture_kind::text: return "str";
    case capture_kind::type: return "ScalarType";
    case capture_kind::boolean: return "bool";
    }
    return {};
}

/// The name of a rewrite may have a hyphen, as that of a target has, and those of schemas may not.
inline std::string schema_of(rewrite_entry const& r) {
    std::string s = std::string(rewrite_prefix).append(r.name) + '(';
    std::ranges::replace(s, '-', '_');
    for (std::size_t i = 0; i != r.pattern.captures.size(); ++i)
        s.append(i == 0 ? "" : ", ").append(schema_type_of(r.pattern.captures[i])).append(" x" + std::to_string(i));
    if (r.pattern.further.empty()) return s + ") -> Tensor";
    s += ") -> (Tensor";
    for (std::size_t i = 0; i != r.pattern.further.size(); ++i) s += ", Tensor";
    return s + ')';
}

/// What is captured, without tensors, from an argument of a call.
template <class Argument>
captured captured_of(Argument const& a) {
    captured c;
    auto const constant = []<class Number>(Number const& n) -> scalar {
        if constexpr (std::is_same_v<Number, scalar>) return n;
        else if constexpr (requires { n.constant(); }) return n.constant();
        else return n.constant; // of a program
    };
    if (a.kind == aten::argument_kind::number) c.number = constant(a.number);
    for (auto const& n : a.numbers) c.integers.push_back(constant(n).template to<std::int64_t>());
    c.text = a.text;
    c.type = a.type;
    return c;
}

/// What is captured from the arguments of a row.
inline std::vector<captured> captures_of(invocation const& in) {
    std::vector<captured> all;
    for (bound_argument const& a : in.arguments) {
        captured& c = all.emplace_back(captured_of(a));
        if (a.kind == aten::argument_kind::tensor) c.value = a.tensor->id();
    }
    return all;
}

/// Rows of rewrites; the rewrites must outlive them. Its address must not change.
class rewrite_row_list {
public:
    rewrite_row_list() = default;
    rewrite_row_list(rewrite_row_list const&) = delete;
    rewrite_row_list& operator=(rewrite_row_list const&) = delete;
    ~rewrite_row_list() = default;

    /// Appends a row that is run by `run`, to which `row->foreign` is the rewrite.
    entry const& add(rewrite_entry const& r, void (*run)(invocation&)) {
        std::string const& schema = texts_.emplace_back(schema_of(r));
        auto& positions = positions_.emplace_back(r.pattern.captures.size());
        for (std::size_t i = 0; i != positions.size(); ++i) positions[i] = static_cast<std::uint8_t>(i);
        entry e;
        e.schema = schema;
        e.overload = texts_.emplace_back(std::string(rewrite_prefix).append(r.name));
        e.since = r.since;
        e.until = r.until;
        e.named = positions;
        e.run = run;
        e.hash = hash_of(e.overload);
        e.foreign = &r;
        return rows_.emplace_back(e);
    }
    [[nodiscard]] table_view rows() const { return rows_; }

private:
    std::deque<std::string> texts_; // schemas and names
    std::deque<std::vector<std::uint8_t>> positions_;
    std::vector<entry> rows_;
};

} // namespace ATON_NAMESPACE::dsl::detail

// SPDX-License-Identifier: MIT
// Look-up of ONNX operator schemas at compile time: by (domain, name, opset), by range of opsets, and the nearest valid name.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/core/nearest.hpp>
#include <aton/onnx/generated/op_schemas.hpp>
#include <aton/onnx/schema.hpp>

namespace ATON_NAMESPACE::onnx {

/// The max_inputs() or max_outputs() of a schema that ends in a variadic.
inline constexpr int any_number = 2147483647;

namespace detail {

constexpr std::string_view text(int i) {
    return {generated::names + generated::name_offsets[i],
            static_cast<std::size_t>(generated::name_offsets[i + 1] - generated::name_offsets[i])};
}
constexpr type_set types(int i) { return {generated::sets[i].plain, generated::sets[i].optionals}; }
constexpr int arity(int n) { return n < 0 ? any_number : n; }

inline constexpr int op_rows = static_cast<int>(sizeof(generated::ops) / sizeof(generated::ops[0])) - 1;
inline constexpr int schema_rows = static_cast<int>(sizeof(generated::schemas) / sizeof(generated::schemas[0]));
inline constexpr int domain_rows = static_cast<int>(sizeof(generated::domains) / sizeof(generated::domains[0]));

constexpr int find_domain(std::string_view domain) {
    if (domain == "ai.onnx") domain = "";
    for (int i = 0; i != domain_rows; ++i)
        if (generated::domains[i].name == domain) return i;
    return -1;
}

/// Row of the operator, or -1.
constexpr int find_op(std::string_view domain, std::string_view name) {
    int const wanted = find_domain(domain);
    int low = 0;
    int high = wanted < 0 ? 0 : op_rows;
    while (low < high) {
        int const middle = (low + high) / 2;
        generated::op_row const& op = generated::ops[middle];
        int const order = op.domain != wanted ? op.domain - wanted : text(op.name).compare(name);
        if (order == 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

} // namespace detail

/// One version of one operator: a handle of two bytes to a generated row, passed by value. Null if a look-up failed; then only
/// operator bool may be called.
class op_schema {
public:
    constexpr op_schema() = default;
    constexpr explicit op_schema(int row) : row_(static_cast<std::int16_t>(row)) {}

    constexpr explicit operator bool() const { return row_ >= 0; }
    friend constexpr bool operator==(op_schema, op_schema) = default;

    /// "" is the default domain, ai.onnx.
    [[nodiscard]] constexpr std::string_view domain() const { return generated::domains[op().domain].name; }
    [[nodiscard]] constexpr std::string_view name() const { return detail::text(op().name); }
    [[nodiscard]] constexpr int since() const { return row().since; }
    [[nodiscard]] constexpr bool deprecated() const { return row().deprecated; }

    [[nodiscard]] constexpr int min_inputs() const { return row().min_inputs; }
    [[nodiscard]] constexpr int max_inputs() const { return detail::arity(row().max_inputs); }
    [[nodiscard]] constexpr int min_outputs() const { return row().min_outputs; }
    [[nodiscard]] constexpr int max_outputs() const { return detail::arity(row().max_outputs); }

    /// Formal inputs; a variadic one counts once.
    [[nodiscard]] constexpr int input_count() const { return length(generated::formal_lists, row().inputs); }
    [[nodiscard]] constexpr formal input(int i) const { return formal_at(row().inputs, i); }
    [[nodiscard]] constexpr int output_count() const { return length(generated::formal_lists, row().outputs); }
    [[nodiscard]] constexpr formal output(int i) const { return formal_at(row().outputs, i); }

    [[nodiscard]] constexpr int type_var_count() const { return length(generated::var_lists, row().vars); }
    [[nodiscard]] constexpr type_var var(int i) const {
        generated::var_row const& v = generated::vars[generated::var_lists[row().vars] + i];
        return {detail::text(v.name), detail::types(v.set)};
    }

    /// Attributes, sorted by name.
    [[nodiscard]] constexpr int attribute_count() const { return length(generated::attribute_lists, row().attributes); }
    [[nodiscard]] constexpr attribute attr(int i) const {
        generated::attribute_row const& a = attribute_at(i);
        return {detail::text(a.name), static_cast<attr_type>(a.type), a.required, detail::text(a.default_text)};
    }
    /// Index of the attribute with this name, or -1.
    [[nodiscard]] constexpr int find_attribute(std::string_view name) const {
        for (int i = 0, n = attribute_count(); i != n; ++i)
            if (detail::text(attribute_at(i).name) == name) return i;
        return -1;
    }

    /// Position among all schemas, as in schema_at().
    [[nodiscard]] constexpr int index() const { return row_; }

private:
    [[nodiscard]] constexpr generated::schema_row const& row() const { return generated::schemas[row_]; }
    [[nodiscard]] constexpr generated::op_row const& op() const { return generated::ops[row().op]; }
    [[nodiscard]] constexpr generated::attribute_row const& attribute_at(int i) const {
        return generated::attributes[generated::attribute_indices[generated::attribute_lists[row().attributes] + i]];
    }
    static constexpr int length(unsigned short const* lists, int list) { return lists[list + 1] - lists[list]; }
    [[nodiscard]] constexpr formal formal_at(int list, int i) const {
        generated::formal_row const& f = generated::formals[generated::formal_lists[list] + i];
        return {.name = detail::text(f.name),
                .type_var = f.var,
                .kind = static_cast<option>(f.kind & 3),
                .homogeneous = (f.kind & 4) != 0,
                .min_arity = f.min_arity,
                .types = f.var < 0 ? detail::types(f.set) : var(f.var).types};
    }

    std::int16_t row_ = -1;
};

/// Versions of one operator, ascending.
class version_range {
public:
    constexpr version_range() = default;
    constexpr version_range(int first, int last)
        : first_(static_cast<std::int16_t>(first)),
          last_(static_cast<std::int16_t>(last)) {}

    [[nodiscard]] constexpr int size() const { return last_ - first_; }
    [[nodiscard]] constexpr bool empty() const { return first_ == last_; }
    [[nodiscard]] constexpr op_schema operator[](int i) const { return op_schema(first_ + i); }

private:
    std::int16_t first_ = 0;
    std::int16_t last_ = 0;
};

/// Operators of all domains, for iteration: op_versions(0) ... op_versions(op_count() - 1), sorted by (domain, name).
constexpr int op_count() { return detail::op_rows; }
/// All versions of the operator with this index.
constexpr version_range op_versions(int op) { return {generated::ops[op].first, generated::ops[op + 1].first}; }
/// All schemas of all operators, sorted by (domain, name, since).
constexpr int schema_count() { return detail::schema_rows; }
constexpr op_schema schema_at(int i) { return op_schema(i); }
/// Domains: "" first.
constexpr int domain_count() { return detail::domain_rows; }
constexpr std::string_view domain_at(int i) { return generated::domains[i].name; }

/// The versions of an operator that are in force somewhere in [since, until]: the one in force at `since`, if any, and every
/// later one up to `until`. "ai.onnx" is the default domain "".
constexpr version_range versions(std::string_view domain, std::string_view name, int since, int until) {
    int const op = detail::find_op(domain, name);
    if (op < 0) return {};
    int first = generated::ops[op].first;
    int last = generated::ops[op + 1].first;
    while (last != first && generated::schemas[last - 1].since > until) --last;
    while (last - first > 1 && generated::schemas[first + 1].since <= since) ++first;
    return {first, last};
}

/// The version in force at `opset`: the newest with since() <= opset. Null if there is none.
constexpr op_schema find(std::string_view domain, std::string_view name, int opset) {
    version_range const all = versions(domain, name, opset, opset);
    return all.empty() ? op_schema() : all[all.size() - 1];
}

/// The newest version of a domain in this release of ONNX; 0: no such domain.
constexpr int newest_version(std::string_view domain) {
    int const i = detail::find_domain(domain);
    return i < 0 ? 0 : generated::domains[i].newest;
}

/// The opset in which the operator first appeared; 0: never.
constexpr int first_version(std::string_view domain, std::string_view name) {
    int const op = detail::find_op(domain, name);
    return op < 0 ? 0 : generated::schemas[generated::ops[op].first].since;
}

/// The first version after `schema` in which the formal input or output at `position` allows all of these types; 0: none.
constexpr int first_version_of_type(op_schema schema, bool is_output, int position, type_set given) {
    version_range const later =
        versions(schema.domain(), schema.name(), schema.since(), newest_version(schema.domain()));
    for (int i = 1; i < later.size(); ++i) {
        int const n = is_output ? later[i].output_count() : later[i].input_count();
        if (position < n && !later[i].deprecated() &&
            (is_output ? later[i].output(position) : later[i].input(position)).types.contains(given))
            return later[i].since();
    }
    return 0;
}

/// The operator of this domain whose name is nearest to a misspelled one; empty if none is near.
constexpr std::string_view nearest_name(std::string_view domain, std::string_view name) {
    int const wanted = detail::find_domain(domain);
    nearest near(name);
    for (int i = 0; i != detail::op_rows; ++i)
        if (generated::ops[i].domain == wanted) near.offer(detail::text(generated::ops[i].name));
    return near.found();
}

/// The attribute of this schema whose name is nearest to a misspelled one; empty if none is near.
constexpr std::string_view nearest_attribute(op_schema schema, std::string_view name) {
    nearest near(name);
    for (int i = 0, n = schema.attribute_count(); i != n; ++i) near.offer(schema.attr(i).name);
    return near.found();
}

} // namespace ATON_NAMESPACE::onnx

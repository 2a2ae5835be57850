// SPDX-License-Identifier: MIT
// Binds the string of `symbolic<"...">` to its ATen schema: "aten::elu(self, alpha)" names arguments of a schema that torch
// declares; a whole schema, as for TORCH_LIBRARY, declares an operator that torch does not declare.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/aten/default_value.hpp>
#include <aton/aten/function_schema.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/core/nearest.hpp>
#include <aton/dsl/diagnosis.hpp>

namespace ATON_NAMESPACE::dsl::detail {

constexpr std::string_view trim(std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
}

/// Iterates over the names between the parentheses of "aten::elu(self, alpha)".
class name_cursor {
public:
    constexpr explicit name_cursor(std::string_view signature) {
        std::size_t const open = signature.find('(');
        std::size_t const close = signature.rfind(')');
        well_formed_ = open != std::string_view::npos && close == signature.size() - 1 && open < close;
        if (well_formed_) rest_ = trim(signature.substr(open + 1, close - open - 1));
        done_ = rest_.empty();
    }
    constexpr bool next(std::string_view& out) {
        if (done_) return false;
        std::size_t const comma = rest_.find(',');
        done_ = comma == std::string_view::npos;
        out = trim(rest_.substr(0, comma));
        if (!done_) rest_.remove_prefix(comma + 1);
        return true;
    }
    [[nodiscard]] constexpr bool well_formed() const { return well_formed_; }

private:
    std::string_view rest_;
    bool well_formed_ = false;
    bool done_ = true;
};

constexpr std::size_t count_names(std::string_view signature) {
    name_cursor cursor(signature);
    std::string_view ignored;
    std::size_t n = 0;
    while (cursor.next(ignored)) ++n;
    return n;
}

/// A parsed signature, before its names are bound.
struct signature_facts {
    std::string_view text;
    std::string_view overload;
    std::string_view known; ///< torch's schema of the overload; empty: not declared by torch
    std::string_view schema;
    std::size_t count = 0; ///< of named arguments
    bool declares = false; ///< a whole schema, not just names
};

constexpr signature_facts read_signature(std::string_view text) {
    signature_facts f;
    f.text = text;
    f.declares = find_text(text, "->") != std::string_view::npos;
    f.overload = f.declares ? aten::parse_head(text).qualified : trim(text.substr(0, find_text(text, "(")));
    f.known = aten::find_schema(f.overload);
    f.schema = f.declares ? text : f.known;
    f.count = f.declares ? static_cast<std::size_t>(aten::argument_count(text)) : count_names(text);
    return f;
}

struct named_argument {
    std::string_view name;
    int position = -1; ///< in the schema; -1: no such argument
    aten::schema_type type;
};

/// The named arguments in the order of the signature, N of them.
template <std::size_t N>
struct bound_arguments {
    named_argument arguments[N + 1]{};
    std::uint8_t positions[N + 1]{};
    bool well_formed = true; ///< for a whole schema: whether aten::syntax_error() is empty, without another pass
};

/// Binds all arguments of a schema that the user wrote, which may be malformed.
template <std::size_t N>
constexpr void bind_declared(std::string_view schema, bound_arguments<N>& out) {
    bool seen_default = false;
    std::size_t count = 0;
    aten::argument_cursor cursor(schema);
    aten::schema_argument a;
    for (; cursor.next(a) && count != N; ++count) {
        out.arguments[count] = {a.name, static_cast<int>(count), a.type};
        out.positions[count] = static_cast<std::uint8_t>(count);
        for (std::size_t i = 0; i != count; ++i)
            if (out.arguments[i].name == a.name) out.well_formed = false;
        if (seen_default && !a.has_default && !a.keyword_only) out.well_formed = false;
        if (a.has_default && !aten::has_its_type(aten::parse_default(a), a.type)) out.well_formed = false;
        seen_default = seen_default || a.has_default;
    }
    aten::return_cursor returns(schema);
    aten::schema_return ignored;
    while (returns.next(ignored)) {
    }
    if (count != N || !cursor.error().empty() || !returns.error().empty()) out.well_formed = false;
}

template <std::size_t N>
constexpr bound_arguments<N> bind_names(signature_facts const& f) {
    bound_arguments<N> out;
    if (!f.declares) {
        name_cursor names(f.text);
        for (std::size_t i = 0; i != N; ++i) names.next(out.arguments[i].name);
    }
    if (f.schema.empty()) return out;
    if (f.declares) {
        bind_declared(f.schema, out);
        return out;
    }
    aten::argument_cursor cursor(f.schema);
    aten::schema_argument a;
    for (int position = 0; cursor.next(a); ++position) {
        for (std::size_t i = 0; i != N; ++i) {
            if (out.arguments[i].position >= 0 || out.arguments[i].name != a.name) continue;
            out.arguments[i] = {a.name, position, a.type};
            out.positions[i] = static_cast<std::uint8_t>(position);
        }
    }
    return out;
}

/// Whether the signature itself is correct; `signature_problem` describes the error if not.
constexpr bool signature_is_sound(signature_facts const& f, named_argument const* arguments, bool well_formed) {
    if (aten::names_default(f.overload)) return false;
    if (f.declares) {
        bool const redeclared = !f.known.empty() && f.known != f.text;
        return well_formed && find_text(f.overload, "::") != std::string_view::npos && !redeclared;
    }
    if (f.known.empty() || !name_cursor(f.text).well_formed()) return false;
    for (std::size_t i = 0; i != f.count; ++i) {
        if (arguments[i].position < 0) return false;
        for (std::size_t j = 0; j != i; ++j)
            if (arguments[j].position == arguments[i].position) return false;
    }
    return true;
}

/// Another overload of the operator that has this argument: aten::add.Tensor has self, aten::add does not.
constexpr std::string_view other_overload_with(std::string_view overload, std::string_view argument) {
    std::string_view const other = aten::nearest_overload(overload.substr(0, find_text(overload, ".")));
    aten::schema_argument found;
    int position = 0;
    bool const has = other != overload && aten::find_argument(aten::find_schema(other), argument, found, position);
    return has ? other : std::string_view{};
}

constexpr sentence signature_problem(signature_facts const& f, named_argument const* arguments) {
    sentence s;
    if (aten::names_default(f.overload))
        return s << f.overload << ": the default overload has no name in a schema; write "
                 << aten::without_default(f.overload) << "(...)";
    if (f.declares) {
        if (!aten::syntax_error(f.text).empty()) return s << f.text << ": " << aten::syntax_error(f.text);
        aten::argument_cursor cursor(f.schema);
        for (aten::schema_argument a; cursor.next(a);)
            if (a.has_default && !aten::has_its_type(aten::parse_default(a), a.type))
                return s << f.overload << ": argument " << a.name << " is " << a.type.text << ", but its default is "
                         << a.default_text;
        if (find_text(f.overload, "::") == std::string_view::npos)
            return s << f.overload << ": the schema needs a namespace, as in my_ops::" << f.overload;
        return s << f.overload << ": torch declares a different schema; write only the argument names: " << f.overload
                 << "(...)";
    }
    s << f.overload;
    if (f.known.empty()) {
        std::string_view first;
        if (name_cursor(f.text).next(first) && find_text(first, " ") != std::string_view::npos)
            return s << ": no such ATen operator; a schema of your own must end with its results, as in -> Tensor";
        s << ": no such ATen operator";
        auto const near = aten::nearest_overload(f.overload);
        return near.empty() ? s : s << "; did you mean " << near << "?";
    }
    if (!name_cursor(f.text).well_formed())
        return s << ": write the argument names in parentheses: " << f.overload << "(self, ...)";
    for (std::size_t i = 0; i != f.count; ++i) {
        if (arguments[i].position < 0) {
            s << ": no argument " << arguments[i].name;
            auto near = aten::nearest_argument(f.schema, arguments[i].name);
            if (near.empty()) near = other_overload_with(f.overload, arguments[i].name);
            return near.empty() ? s : s << "; did you mean " << near << "?";
        }
        for (std::size_t j = 0; j != i; ++j)
            if (arguments[j].position == arguments[i].position)
                return s << ": argument " << arguments[i].name << " is named twice";
    }
    return s;
}

/// The type of a schema that a misspelled one, or one of C++, stands for; empty: none is near.
constexpr std::string_view near_type(aten::schema_type const& t) {
    if (t.base != aten::base_type::other || t.list || t.text.find_first_of("([.") != std::string_view::npos) return {};
    if (t.base_text == "double" || t.base_text == "half") return "float";
    if (t.base_text.find("string") != std::string_view::npos) return "str";
    if (t.base_text.find("int") == 0 || t.base_text == "long" || t.base_text == "size_t") return "int";
    nearest near(t.base_text);
    for (std::string_view const known : {"Tensor", "Scalar", "SymInt", "int", "float", "bool", "str", "ScalarType"})
        near.offer(known);
    return near.found();
}

template <fixed_string Text>
struct signature {
    static constexpr signature_facts facts = read_signature(Text.view());
    static constexpr std::size_t count = facts.count;
    static constexpr bound_arguments<count> bound = bind_names<count>(facts);
};

} // namespace ATON_NAMESPACE::dsl::detail

// SPDX-License-Identifier: MIT
// Parses an operator declaration at compile time: "Foo(T X, T? B, float alpha, int n=1) -> (T Z)" with "T: float16, float".
// Value types are type variables, `any`, tensor(float), seq(float) and optional(float); `?` marks an optional input, `...` a variadic
// one. Attribute types are float, int, string, tensor and graph; `[]` makes a list, `?` an optional attribute without default.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/core/nearest.hpp>
#include <aton/onnx/declared_default.hpp>
#include <aton/onnx/declared_schema.hpp>
#include <aton/onnx/schema.hpp>

namespace ATON_NAMESPACE::onnx {

/// A syntax error in a declaration: a sentence, the wrong word, and the nearest valid one.
struct declaration_problem {
    std::string_view what;
    std::string_view culprit;
    std::string_view nearest;

    constexpr explicit operator bool() const { return !what.empty(); }
};

/// A parsed declaration, with arrays of maximum size.
struct declaration {
    static constexpr int max_formals = 24;
    static constexpr int max_attributes = 32;
    static constexpr int max_vars = 8;

    std::string_view name;
    formal inputs[max_formals]{};
    int input_count = 0;
    formal outputs[max_formals]{};
    output_rule rules[max_formals]{};
    int output_count = 0;
    type_var vars[max_vars]{};
    int var_count = 0;
    attribute attributes[max_attributes]{};
    int attribute_count = 0;
    declaration_problem problem;
};

namespace detail {

/// Hashes of the names of element types: comparing strings takes many constexpr steps.
struct type_name_hashes {
    std::uint64_t onnx[onnx_dtype_count]{};
    std::uint64_t torch[onnx_dtype_count]{};

    constexpr type_name_hashes() {
        for (std::size_t i = 1; i != onnx_dtype_count; ++i) {
            onnx[i] = hash_of(onnx_name(static_cast<dtype>(i)));
            torch[i] = hash_of(name(static_cast<dtype>(i)));
        }
    }
};
inline constexpr type_name_hashes type_names;

/// The declaration type that corresponds to a C++ or ATen type or to a bare element type; empty if `word` is neither.
constexpr std::string_view declaration_type_for(std::string_view word) {
    constexpr std::string_view words[][2] = {{"Tensor", "T"},          {"value", "T"},
                                             {"optional_value", "T"},  {"TensorList", "T"},
                                             {"double", "float"},      {"Scalar", "float"},
                                             {"number", "float"},      {"SymFloat", "float"},
                                             {"bool", "int"},          {"SymInt", "int"},
                                             {"SymBool", "int"},       {"long", "int"},
                                             {"int64_t", "int"},       {"int32_t", "int"},
                                             {"size_t", "int"},        {"unsigned", "int"},
                                             {"ScalarType", "int"},    {"dtype", "int"},
                                             {"str", "string"},        {"string_view", "string"},
                                             {"std", "int or string"}, {"complex", "tensor(...)"}};
    for (auto const& row : words)
        if (row[0] == word) return row[1];
    std::uint64_t const hash = hash_of(word);
    for (std::size_t i = 1; i != onnx_dtype_count; ++i)
        if (hash == type_names.onnx[i] || hash == type_names.torch[i]) return "tensor(...)";
    return {};
}

/// Parses one declaration; stops at the first problem.
class declaration_reader {
public:
    constexpr declaration_reader(std::string_view text, std::string_view constraints, declaration& out) : out_(out) {
        read(constraints);
        if (!read_constraints()) return;
        constrained_ = out_.var_count != 0;
        read(text);
        read_operator();
    }

private:
    constexpr bool fail(std::string_view what, std::string_view culprit = {}, std::string_view nearest = {}) {
        if (!out_.problem) out_.problem = {what, culprit, nearest};
        return false;
    }

    // Tokens. Written with pointers to save constexpr steps.

    constexpr void read(std::string_view text) {
        at_ = text.data();
        end_ = at_ + text.size();
    }
    constexpr char peek() {
        for (; at_ != end_; ++at_)
            if (char const c = *at_; c != ' ' && c != '\n' && c != '\t') return c;
        return '\0';
    }
    constexpr bool take(char sign) {
        if (peek() != sign) return false;
        ++at_;
        return true;
    }
    constexpr bool take(std::string_view sign) {
        if (peek() != sign[0] || rest().substr(0, sign.size()) != sign) return false;
        at_ += sign.size();
        return true;
    }
    template <class Sign>
    constexpr bool expect(Sign sign, std::string_view what) {
        return take(sign) || fail(what, word());
    }
    constexpr std::string_view word() {
        peek();
        char const* const start = at_;
        for (; at_ != end_; ++at_) {
            char const c = *at_;
            if (c < '0' || c > 'z' || (c > '9' && c < 'A') || (c > 'Z' && c < 'a' && c != '_')) break;
        }
        return text_between(start, at_);
    }
    static constexpr std::string_view text_between(char const* first, char const* last) {
        return {first, static_cast<std::size_t>(last - first)};
    }
    [[nodiscard]] constexpr std::string_view rest() const { return text_between(at_, end_); }

    // "T: float16, seq(float); I: int64".

    /// float, float64, tensor(float), seq(float), optional(float), any.
    constexpr bool read_type_set(type_set& out) {
        std::string_view const first = word();
        if (first == "any") {
            out = any_type;
            return true;
        }
        if (peek() != '(') return read_element(first, out);
        bool const wraps = first == "tensor" || first == "seq" || first == "optional";
        if (!wraps) return fail("no such type", first);
        take('(');
        type_set inner;
        if (!read_type_set(inner) || !expect(')', "expected ')' after a type")) return false;
        out = first == "seq" ? type_set{inner.plain << 32, 0} : first == "optional" ? type_set{0, inner.plain} : inner;
        return !out.empty() || fail("no such type", first); // seq(seq(float))
    }
    constexpr bool read_element(std::string_view name, type_set& out) {
        std::uint64_t const hash = hash_of(name);
        for (std::size_t i = 1; i != onnx_dtype_count; ++i)
            if (hash == type_names.onnx[i] || hash == type_names.torch[i]) {
                out = tensors(static_cast<dtype>(i));
                return true;
            }
        nearest near(name);
        for (std::size_t i = 1; i != onnx_dtype_count; ++i) near.offer(onnx_name(static_cast<dtype>(i)));
        return fail("no such type", name, near.found());
    }
    constexpr bool read_constraints() {
        while (peek() != '\0') {
            std::string_view const name = word();
            if (name.empty()) return fail("expected a type variable, as in \"T: float, double\"");
            if (out_.var_count == declaration::max_vars) return fail("too many type variables", name);
            if (find_var(name) >= 0) return fail("a type variable is constrained twice", name);
            if (!expect(':', "expected ':' after a type variable")) return false;
            type_set types;
            do {
                type_set one;
                if (!read_type_set(one)) return false;
                types = types | one;
            } while (take(','));
            out_.vars[out_.var_count++] = {name, types};
            if (peek() != '\0' && !expect(';', "expected ';' between type variables")) return false;
        }
        return true;
    }

    // "Foo(T X, float alpha=1) -> (T Z = like(X))".

    [[nodiscard]] constexpr int find_var(std::string_view name) const {
        for (int i = 0; i != out_.var_count; ++i)
            if (out_.vars[i].name == name) return i;
        return -1;
    }
    [[nodiscard]] constexpr int find_input(std::string_view name) const {
        for (int i = 0; i != out_.input_count; ++i)
            if (out_.inputs[i].name == name) return i;
        return -1;
    }
    static constexpr attr_type attribute_type(std::string_view word, bool list) {
        if (word == "float") return list ? attr_type::floats : attr_type::f;
        if (word == "int") return list ? attr_type::ints : attr_type::i;
        if (word == "string") return list ? attr_type::strings : attr_type::s;
        if (word == "tensor") return list ? attr_type::tensors : attr_type::t;
        if (word == "graph") return list ? attr_type::graphs : attr_type::g;
        return attr_type::undefined;
    }

    constexpr void read_operator() {
        out_.name = word();
        if (out_.name.empty()) return void(fail("expected the name of an operator"));
        if (!expect('(', "expected '(' after the name")) return;
        if (!take(')')) {
            do {
                if (!read_parameter()) return;
            } while (take(','));
            if (!expect(')', "expected ',' or ')' after a parameter")) return;
        }
        if (!expect("->", "expected '-> (T Z)' after the parameters") ||
            !expect('(', "expected '(' before the outputs"))
            return;
        do {
            if (!read_output()) return;
        } while (take(','));
        if (!expect(')', "expected ',' or ')' after an output")) return;
        if (peek() != '\0') fail("nothing may follow the outputs", rest());
        check_order();
    }

    /// An input, `T X`, `T? X`, `T... Xs`, `tensor(int64) X`, or an attribute, `float[] x = [1, 2]`, `int? n`.
    constexpr bool read_parameter() {
        char const* const start = at_;
        std::string_view const type = word();
        bool const is_type = type == "tensor" && peek() == '(';
        if (!is_type && attribute_type(type, false) != attr_type::undefined) return read_attribute(type);
        at_ = start;
        formal f;
        if (!read_formal(f)) return false;
        if (out_.input_count == declaration::max_formals) return fail("too many inputs", f.name);
        if (find_input(f.name) >= 0) return fail("two inputs have this name", f.name);
        if (peek() == '=') return fail("an input cannot have a default; write T? for an optional one", f.name);
        out_.inputs[out_.input_count++] = f;
        return true;
    }
    constexpr bool read_attribute(std::string_view type) {
        bool const list = take("[]");
        bool const optional = take('?');
        attribute a;
        a.name = word();
        a.type = attribute_type(type, list);
        if (a.name.empty()) return fail("expected the name of an attribute after its type", type);
        if (out_.attribute_count == declaration::max_attributes) return fail("too many attributes", a.name);
        for (int i = 0; i != out_.attribute_count; ++i)
            if (out_.attributes[i].name == a.name) return fail("two attributes have this name", a.name);
        if (take('=') && !read_default(a)) return false;
        a.required = !optional && a.default_text.empty();
        out_.attributes[out_.attribute_count++] = a;
        return true;
    }
    /// The text up to the next comma or closing parenthesis that is not inside brackets or quotes.
    constexpr bool read_default(attribute& a) {
        peek();
        char const* const start = at_;
        int depth = 0;
        while (at_ != end_) {
            char const c = *at_;
            if (depth == 0 && (c == ',' || c == ')')) break;
            depth += c == '[' ? 1 : c == ']' ? -1 : 0;
            std::size_t const string = c == '\'' || c == '"' ? quoted(rest()) : 0;
            at_ += string == 0 ? 1 : string;
        }
        a.default_text = trimmed(text_between(start, at_));
        if (a.default_text.empty()) return fail("expected a default after '='", a.name);
        bool const no_default = a.type == attr_type::t || a.type == attr_type::g || a.type == attr_type::tensors ||
                                a.type == attr_type::graphs;
        if (no_default)
            return fail("a tensor or graph attribute cannot have a default; write tensor? for an optional one", a.name);
        return is_default(a.default_text, a.type) || fail("the default does not have the attribute's type", a.name);
    }

    constexpr bool read_formal(formal& f) {
        char const* const start = at_;
        std::string_view const type = word();
        if (type == "any" || peek() == '(') {
            at_ = start;
            if (!read_type_set(f.types)) return false;
            f.homogeneous = type != "any";
        } else if (type.empty()) {
            return fail("expected a type", rest().substr(0, 1));
        } else if (!read_var(type, f)) {
            return false;
        }
        if (take("...")) f.kind = option::variadic;
        else if (take('?')) f.kind = option::optional;
        f.name = word();
        return !f.name.empty() || fail("expected a name after the type", type);
    }
    constexpr bool read_var(std::string_view type, formal& f) {
        int var = find_var(type);
        if (var < 0)
            if (std::string_view const meant = declaration_type_for(type); !meant.empty())
                return fail("a C++ or ATen type, which a declaration does not have", type, meant);
        if (var < 0 && constrained_) {
            nearest near(type);
            for (int i = 0; i != out_.var_count; ++i) near.offer(out_.vars[i].name);
            return fail(
                "no such type; constrain it as in \"T: float, double\", or write tensor(float)", type, near.found());
        }
        if (var < 0) {
            if (out_.var_count == declaration::max_vars) return fail("too many type variables", type);
            var = out_.var_count++;
            out_.vars[var] = {type, any_type};
        }
        f.type_var = static_cast<std::int8_t>(var);
        f.types = out_.vars[var].types;
        return true;
    }

    constexpr bool read_output() {
        formal f;
        if (!read_formal(f)) return false;
        if (out_.output_count == declaration::max_formals) return fail("too many outputs", f.name);
        for (int i = 0; i != out_.output_count; ++i)
            if (out_.outputs[i].name == f.name) return fail("two outputs have this name", f.name);
        output_rule r;
        if (take('=') && !read_rule(r)) return false;
        out_.rules[out_.output_count] = r;
        out_.outputs[out_.output_count++] = f;
        return true;
    }
    constexpr bool read_rule(output_rule& r) {
        std::string_view const name = word();
        if (name != "like" && name != "broadcast") return fail("expected like(X) or broadcast(X, Y) after '='", name);
        r.is = name == "like" ? output_rule::kind::like : output_rule::kind::broadcast;
        if (!expect('(', "expected '(' after like or broadcast") || !read_rule_input(r.first)) return false;
        if (r.is == output_rule::kind::broadcast &&
            (!expect(',', "broadcast takes two inputs") || !read_rule_input(r.second)))
            return false;
        return expect(')', "expected ')' after the inputs of a rule");
    }
    constexpr bool read_rule_input(std::int8_t& out) {
        std::string_view const name = word();
        int const i = find_input(name);
        if (i < 0) {
            nearest near(name);
            for (int k = 0; k != out_.input_count; ++k) near.offer(out_.inputs[k].name);
            return fail("no input has this name", name, near.found());
        }
        out = static_cast<std::int8_t>(i);
        return true;
    }

    /// Only the last input, and the last output, may be variadic.
    constexpr void check_order() {
        for (int i = 0; i + 1 < out_.input_count; ++i)
            if (out_.inputs[i].kind == option::variadic)
                fail("only the last input may be variadic", out_.inputs[i].name);
        for (int i = 0; i + 1 < out_.output_count; ++i)
            if (out_.outputs[i].kind == option::variadic)
                fail("only the last output may be variadic", out_.outputs[i].name);
    }

    char const* at_ = nullptr;
    char const* end_ = nullptr;
    declaration& out_;
    bool constrained_ = false;
};

} // namespace detail

/// Parses `text`, "Foo(T X, float alpha) -> (T Z)", with `constraints`, "T: float, double; I: int64" (empty: any tensor).
constexpr declaration read_declaration(std::string_view text, std::string_view constraints) {
    declaration out;
    detail::declaration_reader(text, constraints, out);
    return out;
}

} // namespace ATON_NAMESPACE::onnx

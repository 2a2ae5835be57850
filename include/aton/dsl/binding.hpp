// SPDX-License-Identifier: MIT
// Binds the arguments of an ATen call to a mapping: fills in defaults, expands numbers to lists, and drops nothing silently.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/default_value.hpp>
#include <aton/aten/function_schema.hpp>
#include <aton/aten/scalar_type.hpp>
#include <aton/core/error.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/dsl/node_builder.hpp>
#include <aton/dsl/number_text.hpp>

namespace ATON_NAMESPACE::dsl::detail {

using aten::base_type;
using aten::schema_type;

// `Argument` is dsl::argument, as a template parameter, so that these functions add nothing to the cost of an include.

/// The schema's default as an argument.
template <class Argument>
Argument default_argument(aten::schema_argument const& a) {
    using kind = aten::default_kind;
    aten::default_value const d = aten::parse_default(a);
    decltype(Argument::sizes) ints;
    decltype(Argument::floats) floats;
    bool_list bools;
    std::string text;
    switch (d.kind()) {
    case kind::boolean: return Argument::of_number(d.as_bool());
    case kind::integer: return Argument::of_number(d.as_int());
    case kind::floating: return Argument::of_number(d.as_double());
    case kind::complex: return Argument::of_number(scalar::complex(d.real(), d.imaginary()));
    case kind::string: aten::unescape(d.text(), [&](char c) { text += c; }); return Argument::of_text(std::move(text));
    case kind::identifier: // a name of an enumeration whose values are int: `int reduction=Mean`
        if (a.type.base == aten::base_type::int_ && d.text() == "Mean") return Argument::of_number(1);
        return Argument::of_tag(std::string(d.text()));
    case kind::int_list:
        for (std::size_t i = 0; i != d.size(); ++i) ints.emplace_back(d.int_at(i));
        return Argument::of_sizes(std::move(ints));
    case kind::float_list:
        for (std::size_t i = 0; i != d.size(); ++i) floats.push_back(d.double_at(i));
        return Argument::of_floats(std::move(floats));
    case kind::bool_list:
        for (std::size_t i = 0; i != d.size(); ++i) bools.push_back(d.bool_at(i));
        return Argument::of_bools(bools);

    default: return Argument::none();
    }
}

template <class List, class Element>
std::string join(List const& list, Element element) {
    constexpr std::size_t shown = 8; // lists of a program can be long
    std::string out = "[";
    std::size_t count = 0;
    for (auto const& e : list)
        if (count++ < shown) out += (out.size() > 1 ? ", " : "") + element(e);
    return out + (count > shown ? ", ...] of " + std::to_string(count) : "]");
}

/// An argument's value, for error messages.
template <class Argument>
std::string to_text(Argument const& a)
    requires requires { a.is; }
{
    using kind = argument::kind;
    auto const size_text = [](sym_int const& s) {
        return s.is_constant() ? std::to_string(s.constant()) : std::string("a computed size");
    };
    switch (a.is) {
    case kind::missing: return "missing";
    case kind::none: return "None";
    case kind::tensor: return "a tensor";
    case kind::tensors: return "a list of " + std::to_string(a.tensors.size()) + " tensors";
    case kind::number: return to_text(a.number);
    case kind::sym_size: return size_text(a.size);
    case kind::sizes: return join(a.sizes, size_text);
    case kind::floats: return join(a.floats, [](double d) { return to_text(scalar(d)); });
    case kind::numbers: return join(a.numbers, [](scalar const& s) { return to_text(s); });
    case kind::bools: return join(a.bools.view(), [](bool b) { return std::string(b ? "True" : "False"); });
    case kind::text: return "\"" + clipped(a.text, 60) + "\"";
    case kind::type: return a.type == dtype::undefined ? "a dtype that ONNX does not have" : std::string(name(a.type));
    case kind::tag: return a.text;
    }
    return {};
}

template <class Argument>
bool same(Argument const& a, Argument const& b) {
    return a.is == b.is && a.text == b.text && a.ints == b.ints && to_text(a) == to_text(b) && a.number == b.number &&
           a.floats == b.floats && a.numbers == b.numbers;
}

/// Converts an argument to the canonical form of its schema type: numbers become lists, sizes or wrapped tensors.
template <class Graph, class Argument>
class argument_normalizer {
public:
    argument_normalizer(Graph& graph, std::string_view overload) : graph_(graph), overload_(overload) {}

    void normalize(Argument& a, aten::schema_argument const& formal) {
        schema_type const& t = formal.type;
        if (a.is == kind::none) {
            if (!t.optional && t.base != base_type::generator)
                refuse(formal, "is None, but its type is " + std::string(t.text));
            return;
        }
        bool fits = true;
        switch (t.base) {
        case base_type::tensor: fits = t.list ? to_tensors(a, t.element_optional) : to_tensor(a); break;
        case base_type::int_:
        case base_type::sym_int:
            fits = t.list ? to_sizes(a, t.list_size) : to_size(a, t.base == base_type::sym_int);
            break;
        case base_type::float_: fits = t.list ? to_floats(a, t.list_size) : to_float(a); break;
        case base_type::scalar: fits = t.list ? to_numbers(a) : a.is == kind::number || a.is == kind::sym_size; break;
        case base_type::bool_: fits = t.list ? to_bools(a, t.list_size) : to_bool(a); break;
        case base_type::str: fits = a.is == kind::text; break;
        case base_type::scalar_type: fits = to_type(a) && a.type != dtype::undefined; break;
        case base_type::layout: fits = to_tag(a, {"strided"}); break;
        case base_type::device: fits = to_tag(a, {}); break;
        case base_type::memory_format:
            fits = to_tag(a, {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"});
            break;
        default: break;
        }
        if (!fits) refuse(formal, "is " + to_text(a) + ", but its type is " + std::string(t.text));
    }

    [[noreturn]] void refuse(aten::schema_argument const& formal, std::string const& what) const {
        throw unsupported_error(overload_, "argument '" + std::string(formal.name) + "' " + what);
    }

private:
    using kind = argument::kind;

    /// A Python number where a tensor is expected: a 0-d constant that promotes weakly.
    value wrap(scalar const& s) {
        dtype const t = s.is_bool()       ? dtype::bool_
                        : s.is_integral() ? dtype::int64
                        : s.is_complex()  ? dtype::complex128
                                          : dtype::float64;
        value_id const id = append_constant(graph_, scalar_tensor(s, t));
        graph_.values[id].wrapped_number = true;
        return {graph_, id};
    }
    bool to_tensor(Argument& a) {
        if (a.is == kind::number) a = Argument::of_tensor(wrap(a.number));
        if (a.is == kind::sym_size)
            a = Argument::of_tensor(a.size.is_constant() ? wrap(a.size.constant()) : a.size.as_value());
        return a.is == kind::tensor;
    }
    static bool to_tensors(Argument& a, bool may_be_absent) {
        if (a.is == kind::sizes && a.sizes.empty()) a = Argument::of_tensors({});
        if (a.is != kind::tensors) return false;
        a.values.clear();
        for (optional_value const& v : a.tensors) {
            if (v) a.values.push_back(*v);
            if (!v && !may_be_absent) return false;
        }
        return true;
    }
    static bool to_size(Argument& a, bool symbolic) {
        if (a.is == kind::tensor && a.tensor->dtype() == dtype::int64) a = Argument::of_size(*a.tensor);
        if (a.is == kind::number && symbolic) a = Argument::of_size(a.number.template to<std::int64_t>());
        if (a.is == kind::sym_size && !symbolic && a.size.is_constant()) a = Argument::of_number(a.size.constant());
        return a.is == kind::sym_size || a.is == kind::number;
    }
    static bool to_sizes(Argument& a, std::int32_t length) {
        if (a.is == kind::number) a = Argument::of_sizes({a.number.template to<std::int64_t>()});
        if (a.is == kind::sym_size) a = Argument::of_sizes({a.size});
        if (a.is != kind::sizes) return false;
        if (a.sizes.size() == 1 && length > 1) a.sizes.resize(static_cast<std::size_t>(length), a.sizes[0]);
        a.ints.clear();
        for (sym_int const& s : a.sizes)
            if (s.is_constant()) a.ints.push_back(s.constant());
        return true;
    }
    static bool to_floats(Argument& a, std::int32_t length) {
        if (a.is == kind::number)
            a = Argument::of_floats(decltype(Argument::floats)(static_cast<std::size_t>(length > 1 ? length : 1),
                                                               a.number.template to<double>()));
        if (a.is == kind::sizes) {
            decltype(Argument::floats) floats;
            for (sym_int const& s : a.sizes) floats.push_back(static_cast<double>(s.constant()));
            a = Argument::of_floats(std::move(floats));
        }
        return a.is == kind::floats;
    }
    static bool to_numbers(Argument& a) {
        decltype(Argument::numbers) numbers;
        if (a.is == kind::floats) numbers.assign(a.floats.begin(), a.floats.end());
        if (a.is == kind::sizes)
            for (sym_int const& s : a.sizes) numbers.emplace_back(s.constant());
        if (a.is == kind::floats || a.is == kind::sizes) a = Argument::of_numbers(std::move(numbers));
        return a.is == kind::numbers;
    }
    /// Defaults may be numbers of an enumeration: aten::triu_indices has `ScalarType? dtype=4`.
    static bool to_type(Argument& a) {
        dtype t = dtype::undefined;
        if (a.is == kind::number && a.number.is_integral()) t = aten::scalar_type(a.number.template to<std::int64_t>());
        if (a.is == kind::tag) t = aten::scalar_type(a.text);
        if (t != dtype::undefined) a = Argument::of_type(t);
        return a.is == kind::type;
    }
    /// The same for an enumeration with `names` in the order of torch's numbers: `MemoryFormat memory_format=0`.
    static bool to_tag(Argument& a, std::initializer_list<std::string_view> names) {
        if (a.is == kind::number && a.number.is_integral()) {
            auto const n = a.number.template to<std::int64_t>();
            if (n >= 0 && n < static_cast<std::int64_t>(names.size()))
                a = Argument::of_tag(std::string(names.begin()[n]));
        }
        if (a.is == kind::text) a = Argument::of_tag(a.text);
        return a.is == kind::tag;
    }
    static bool to_float(Argument& a) {
        if (a.is == kind::number && !a.number.is_complex()) a.number = a.number.template to<double>();
        return a.is == kind::number;
    }
    static bool to_bool(Argument& a) {
        if (a.is == kind::number) a.number = a.number.template to<bool>();
        return a.is == kind::number;
    }
    static bool to_bools(Argument& a, std::int32_t length) {
        if (a.is == kind::number) {
            bool_list bools;
            for (std::int32_t i = 0; i < (length > 1 ? length : 1); ++i) bools.push_back(a.number.template to<bool>());
            a = Argument::of_bools(bools);
        }
        return a.is == kind::bools;
    }

    Graph& graph_;
    std::string_view overload_;
};

/// Whether a row may ignore an argument. Device, memory format and strided layout have no meaning in ONNX; a sparse layout has.
inline bool may_stay_unnamed(argument const& a, aten::schema_argument const& formal) {
    if (formal.type.base == base_type::device || formal.type.base == base_type::memory_format) return true;
    if (formal.name == "pin_memory" || formal.name == "non_blocking") return true;
    return formal.type.base == base_type::layout && a.text == "strided";
}

/// Fills in defaults and normalizes all arguments of a call, given in schema order; `named` are the positions that the body takes.
/// Throws unsupported_error for a missing argument, a wrong kind, or an unnamed argument that is not at its default.
template <class Graph, class Argument>
void bind_arguments(Graph& graph, std::string_view overload, std::string_view schema,
                    std::span<std::uint8_t const> named, std::vector<Argument>& arguments) {
    argument_normalizer<Graph, Argument> normalizer(graph, overload);
    aten::argument_cursor cursor(schema);
    aten::schema_argument formal;
    std::size_t position = 0;
    for (; cursor.next(formal); ++position) {
        if (position == arguments.size()) arguments.emplace_back();
        Argument& a = arguments[position];
        bool const given = a.is != argument::kind::missing;
        if (!given && !formal.has_default) normalizer.refuse(formal, "is missing");
        if (!given) a = default_argument<Argument>(formal);
        bool is_named = false;
        for (std::uint8_t p : named) is_named = is_named || p == position;
        normalizer.normalize(a, formal);
        a.name = formal.name;
        if (is_named || !given || may_stay_unnamed(a, formal)) continue;
        if (!formal.has_default) normalizer.refuse(formal, "has no default, and the row does not name it");
        Argument expected = default_argument<Argument>(formal);
        normalizer.normalize(expected, formal);
        if (!same(a, expected))
            normalizer.refuse(formal,
                              "is " + to_text(a) + "; the mapping supports only the default, " +
                                  std::string(formal.default_text));
    }
    if (position < arguments.size())
        throw unsupported_error(overload, "too many arguments; the schema has " + std::to_string(position));
}

} // namespace ATON_NAMESPACE::dsl::detail

// SPDX-License-Identifier: MIT
// Binds the arguments of an ATen call to a mapping: fills in defaults, expands numbers to lists, and drops nothing silently.
// Internal header.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/default_argument.hpp>
#include <aton/aten/function_schema.hpp>
#include <aton/aten/scalar_type.hpp>
#include <aton/core/error.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/dsl/node_builder.hpp>
#include <aton/dsl/number_text.hpp>

namespace ATON_NAMESPACE::dsl::detail {

using aten::base_type;
using aten::schema_type;

// `Argument` is dsl::bound_argument, as a template parameter, so that these functions add nothing to the cost of an include.

template <class List, class Element>
std::string join(List const& list, Element element) {
    constexpr std::size_t shown = 8; // lists of a program can be long
    std::string out = "[";
    std::size_t count = 0;
    for (auto const& e : list)
        if (count++ < shown) out += (out.size() > 1 ? ", " : "") + element(e);
    return out + (count > shown ? ", ...] of " + std::to_string(count) : "]");
}

template <std::same_as<number> Number>
std::string to_text(Number const& n) {
    return n.is_constant() ? to_text(n.constant()) : "a computed " + std::string(name(n.dtype()));
}

/// An argument's value, for error messages.
template <std::same_as<bound_argument> Argument>
std::string to_text(Argument const& a) {
    using kind = argument_kind;
    switch (a.kind) {
    case kind::missing: return "missing";
    case kind::none: return "None";
    case kind::tensor: return "a tensor";
    case kind::tensors: return "a list of " + std::to_string(a.tensors.size()) + " tensors";
    case kind::number: return to_text(a.number);
    case kind::numbers: return join(a.numbers, [](number const& n) { return to_text(n); });
    case kind::number_lists: return "a list of " + std::to_string(a.lengths.size()) + " lists";
    case kind::text: return "\"" + clipped(a.text, 60) + "\"";
    case kind::texts: return "a list of " + std::to_string(a.texts.size()) + " strings";
    case kind::type: return a.type == dtype::undefined ? "a dtype that ONNX does not have" : std::string(name(a.type));
    default: return clipped(a.text, 60);
    }
}

/// Whether two bound arguments are surely equal; tensors and computed numbers are not.
template <class Argument>
bool same(Argument const& a, Argument const& b) {
    auto const is_same = [](auto const& x, auto const& y) {
        return x.is_constant() && y.is_constant() && x.constant() == y.constant() && to_text(x) == to_text(y);
    };
    bool equal = a.kind == b.kind && a.kind != argument_kind::tensor && a.tensors.empty() && b.tensors.empty() &&
                 is_same(a.number, b.number) && a.numbers.size() == b.numbers.size() && a.text == b.text &&
                 a.lengths == b.lengths && a.texts == b.texts && a.type == b.type;
    for (std::size_t i = 0; equal && i != a.numbers.size(); ++i) equal = is_same(a.numbers[i], b.numbers[i]);
    return equal;
}

/// The number of a value that a constant of one element reaches through casts and reshapes; nothing for other values.
template <class Graph>
std::optional<scalar> folded(Graph const& graph, value_id id) {
    if (tensor const* const t = graph.constant(id))
        return t->element_count() == 1 ? std::optional(t->at(0)) : std::nullopt;
    graph_value const& v = graph.values[id];
    if (v.producer < 0) {
        if (graph.around == nullptr || v.outer == no_value) return std::nullopt;
        return folded(*graph.around, v.outer);
    }
    graph_node const& n = graph.nodes[static_cast<std::size_t>(v.producer)];
    bool const reshapes = n.op == "Identity" || n.op == "Reshape" || n.op == "Squeeze" || n.op == "Unsqueeze";
    if (!n.domain.empty() || !(reshapes || n.op == "Cast")) return std::nullopt;
    std::optional<scalar> const from = folded(graph, n.inputs[0]);
    if (!from || n.op != "Cast") return from;
    if (!fits(*from, v.type.dtype)) return std::nullopt;
    return scalar_tensor(*from, v.type.dtype).at(0);
}

/// Converts an argument to the form of its schema type: numbers have its dtype, or become lists or wrapped tensors.
template <class Graph, class Argument>
class argument_normalizer {
public:
    argument_normalizer(Graph& graph, std::string_view overload) : graph_(graph), overload_(overload) {}

    void normalize(Argument& a, aten::schema_argument const& formal) {
        schema_type const& t = formal.type;
        a.name = formal.name;
        if (a.kind == kind::none) {
            if (!t.optional && t.base != base_type::generator)
                refuse(formal, "is None, but its type is " + std::string(t.text));
            return;
        }
        bool fits = true;
        switch (t.base) {
        case base_type::tensor: fits = t.list ? to_tensors(a, t.element_optional) : to_tensor(a); break;
        case base_type::int_:
        case base_type::sym_int:
        case base_type::float_:
        case base_type::sym_float:
        case base_type::bool_:
        case base_type::sym_bool:
        case base_type::complex:
        case base_type::scalar: fits = t.list ? to_numbers(a, formal) : to_number(a, formal); break;
        case base_type::str: fits = a.kind == (t.list ? kind::texts : kind::text); break;
        case base_type::scalar_type: fits = to_type(a) && a.type != dtype::undefined; break;
        case base_type::layout: fits = to_tag(a, {"strided"}); break;
        case base_type::device: fits = to_tag(a, {}); break;
        case base_type::memory_format:
            fits = to_tag(a, {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"});
            break;
        default: fits = t.list ? to_lists(a, formal) : to_tuple(a, tensors_of_tuple(t)); break;
        }
        if (!fits) refuse(formal, "is " + to_text(a) + ", but its type is " + std::string(t.text));
    }

    [[noreturn]] void refuse(aten::schema_argument const& formal, std::string const& what) const {
        throw unsupported_error(overload_, "argument '" + std::string(formal.name) + "' " + what);
    }

private:
    using kind = argument_kind;

    bool to_tensor(Argument& a) {
        if (a.kind == kind::number) {
            a.tensor = value(graph_, append_wrapped_number(graph_, a.number));
            a.kind = kind::tensor;
        }
        return a.kind == kind::tensor;
    }
    static bool to_tensors(Argument& a, bool may_be_absent) {
        if (a.kind == kind::numbers && a.numbers.empty()) a.kind = kind::tensors;
        if (a.kind != kind::tensors) return false;
        for (optional_value const& v : a.tensors) {
            if (v) a.values.push_back(*v);
            if (!v && !may_be_absent) return false;
        }
        return true;
    }
    /// A tuple of tensors holds exactly as many as its type; nothing checks other types.
    static bool to_tuple(Argument& a, std::size_t count) {
        return count == 0 || (to_tensors(a, false) && a.values.size() == count);
    }
    /// Lists of numbers; nothing checks lists of other lists.
    bool to_lists(Argument& a, aten::schema_argument const& formal) {
        aten::schema_argument element = formal;
        element.type.base = base_of_lists(formal.type);
        bool const is_int = element.type.base == base_type::int_ || element.type.base == base_type::sym_int;
        if (!is_int && element.type.base != base_type::float_) return true;
        if ((a.kind == kind::numbers && a.numbers.empty()) || (a.kind == kind::tensors && a.tensors.empty()))
            a.kind = kind::number_lists;
        if (a.kind != kind::number_lists) return false;
        for (number& n : a.numbers)
            if (!convert(n, element)) return false;
        return true;
    }
    /// A 0-d tensor is a number, too.
    bool to_number(Argument& a, aten::schema_argument const& formal) {
        if (a.kind == kind::tensor && a.tensor->has_rank() && a.tensor->rank() == 0) {
            a.number = *a.tensor;
            a.kind = kind::number;
        }
        return a.kind == kind::number && convert(a.number, formal);
    }
    /// A number is a list of one, which is repeated where the schema says how long the list is.
    bool to_numbers(Argument& a, aten::schema_argument const& formal) {
        if (a.kind == kind::tensors && a.tensors.empty()) a.kind = kind::numbers;
        if (a.kind == kind::number) {
            a.numbers = {a.number};
            a.kind = kind::numbers;
        }
        if (a.kind != kind::numbers) return false;
        for (number& n : a.numbers)
            if (!convert(n, formal)) return false;
        if (a.numbers.size() == 1 && formal.type.list_size > 1)
            a.numbers.resize(static_cast<std::size_t>(formal.type.list_size), number(a.numbers[0]));
        fill_arrays(a, formal.type.base);
        return true;
    }
    /// Converts a number to the type of the argument; false if it does not fit.
    bool convert(number& n, aten::schema_argument const& formal) {
        if (!n.is_constant())
            if (auto const known = folded(n.as_value().owner(), n.as_value().id())) n = *known;
        switch (formal.type.base) {
        case base_type::float_:
        case base_type::sym_float:
            if (n.is_complex()) return false;
            n = n.is_constant() ? number(n.template constant<double>()) : cast(n, dtype::float64);
            break;
        case base_type::int_:
        case base_type::sym_int:
            if (n.is_complex() || n.is_floating()) return false;
            n = n.is_constant() ? number(n.template constant<std::int64_t>()) : cast(n, dtype::int64);
            break;
        case base_type::bool_:
        case base_type::sym_bool:
            n = n.is_constant() ? number(n.template constant<bool>()) : cast(n, dtype::bool_);
            break;
        case base_type::complex:
            if (n.is_constant()) n = number(scalar::complex(n.template constant<double>(), n.constant().imaginary()));
            break;
        default: break;
        }
        n.set_name(formal.name);
        return true;
    }
    number cast(number const& n, dtype to) {
        return n.dtype() == to ? n : number(value(graph_, append_cast(graph_, n.as_value(), to)));
    }
    static void fill_arrays(Argument& a, base_type element) {
        bool constant = true;
        for (number const& n : a.numbers) {
            constant = constant && n.is_constant();
            if (element == base_type::int_ || element == base_type::sym_int) a.sizes.push_back(n.to_size());
        }
        if (!constant) return;
        for (number const& n : a.numbers) switch (element) {
            case base_type::int_:
            case base_type::sym_int: a.ints.push_back(n.template constant<std::int64_t>()); break;
            case base_type::float_:
            case base_type::sym_float: a.floats.push_back(n.template constant<double>()); break;
            case base_type::bool_:
            case base_type::sym_bool: a.bools.push_back(n.template constant<bool>()); break;
            default: a.scalars.push_back(n.constant());
            }
    }
    /// Defaults may be numbers of an enumeration: aten::triu_indices has `ScalarType? dtype=4`.
    static bool to_type(Argument& a) {
        dtype t = dtype::undefined;
        if (std::optional<std::int64_t> const n = enumerator(a)) t = aten::scalar_type(*n);
        if (a.kind == kind::tag) t = aten::scalar_type(a.text);
        if (t != dtype::undefined) {
            a.type = t;
            a.kind = kind::type;
        }
        return a.kind == kind::type;
    }
    /// The same for an enumeration with `names` in the order of torch's numbers: `MemoryFormat memory_format=0`.
    static bool to_tag(Argument& a, std::initializer_list<std::string_view> names) {
        if (std::optional<std::int64_t> const n = enumerator(a);
            n && *n >= 0 && *n < static_cast<std::int64_t>(names.size())) {
            a.text = names.begin()[*n];
            a.kind = kind::tag;
        }
        if (a.kind == kind::text) a.kind = kind::tag;
        return a.kind == kind::tag;
    }
    static std::optional<std::int64_t> enumerator(Argument const& a) {
        bool const is_number = a.kind == kind::number && a.number.is_constant() && a.number.is_integral();
        return is_number ? std::optional(a.number.template constant<std::int64_t>()) : std::nullopt;
    }

    Graph& graph_;
    std::string_view overload_;
};

/// Whether a row may ignore an argument. Device, memory format, strided layout and the default generator have no meaning in ONNX; a sparse
/// layout has.
inline bool may_stay_unnamed(argument const& a, aten::schema_argument const& formal) {
    if (formal.type.base == base_type::device || formal.type.base == base_type::memory_format) return true;
    if (formal.type.base == base_type::generator && a.kind == argument_kind::none) return true;
    if (formal.name == "pin_memory" || formal.name == "non_blocking") return true;
    return formal.type.base == base_type::layout && a.text == "strided";
}

/// The arguments of a call, given in schema order, with defaults filled in and in the form of their schema types; `named` are the positions
/// that the body takes. Throws unsupported_error for a missing argument, a wrong kind, or an unnamed argument that is not at its default.
template <class Bound, class Graph, class Argument>
std::vector<Bound> bind_arguments(Graph& graph, std::string_view overload, std::string_view schema,
                                  std::span<std::uint8_t const> named, std::vector<Argument> given) {
    argument_normalizer<Graph, Bound> normalizer(graph, overload);
    std::vector<Bound> bound;
    aten::argument_cursor cursor(schema);
    aten::schema_argument formal;
    for (std::size_t position = 0; cursor.next(formal); ++position) {
        bool const is_given = position < given.size() && given[position].kind != argument_kind::missing;
        if (!is_given && !formal.has_default) normalizer.refuse(formal, "is missing");
        Bound& a =
            bound.emplace_back(Bound{is_given ? std::move(given[position]) : aten::default_argument<Argument>(formal)});
        normalizer.normalize(a, formal);
        bool is_named = false;
        for (std::uint8_t p : named) is_named = is_named || p == position;
        if (is_named || !is_given || may_stay_unnamed(a, formal)) continue;
        if (!formal.has_default) normalizer.refuse(formal, "has no default, and the row does not name it");
        Bound expected{aten::default_argument<Argument>(formal)};
        normalizer.normalize(expected, formal);
        if (!same(a, expected))
            normalizer.refuse(formal,
                              "is " + to_text(a) + "; the mapping supports only the default, " +
                                  std::string(formal.default_text));
    }
    if (bound.size() < given.size())
        throw unsupported_error(overload, "too many arguments; the schema has " + std::to_string(bound.size()));
    return bound;
}

#ifdef ATON_EXTERN_TEMPLATES // src/dsl/templates.cpp
extern template std::vector<bound_argument> bind_arguments(graph_data&, std::string_view, std::string_view,
                                                           std::span<std::uint8_t const>, std::vector<argument>);
#endif

} // namespace ATON_NAMESPACE::dsl::detail

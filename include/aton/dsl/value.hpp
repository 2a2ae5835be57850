// SPDX-License-Identifier: MIT
// Handles to values of the graph under construction: `value`, `optional_value`, and results with sets of possible types.
// Public header.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/scalar.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::dsl {

class value;
/// The type of `absent`: a template, so that a function can take it alone.
template <class = void>
struct absence {};
/// The type of `absent`.
using absent_t = absence<>;

namespace detail {

/// False for every type: the condition of a static_assert that exists for its sentence. (Compilers explain a condition that they compute.)
template <class>
inline constexpr bool never = false;

/// Refuses a number or tensor that the graph computes where the mapping needs a constant. `what`: "argument 'alpha'", "a size"; empty: the
/// name of the value.
template <class Value = value>
[[noreturn]] void refuse_computed(std::string what, Value const& v);

} // namespace detail

/// A value of the graph: two words, passed by value. Its type may be partly unknown: dtype undefined, shape without rank.
class value {
public:
    value() = default;
    /// A handle to a value of a graph, which must outlive it.
    value(graph_data& graph, value_id id) : graph_(&graph), id_(id) {}
    /// Exists only for its diagnostic, which std::tuple<value, value> would bury. It is constexpr because Clang instantiates the body of such a
    /// constructor where it is chosen, at the user's line; that of any other, late and without a way back to that line.
    template <class T>
    // NOLINTNEXTLINE(google-explicit-constructor): an error where nothing is converted on purpose.
    constexpr value(absence<T>) {
        static_assert(detail::never<T>, "absent is not a value: write optional_value where a value may be absent");
    }

    /// Kind, dtype and shape, as far as they are known.
    [[nodiscard]] value_type const& type() const { return record().type; }
    /// The element type; `undefined` when it is not known.
    [[nodiscard]] aton::dtype dtype() const { return record().type.dtype; }
    /// The shape, which may lack the rank or single sizes.
    [[nodiscard]] aton::shape const& shape() const { return record().type.shape; }
    /// Whether the number of dimensions is known.
    [[nodiscard]] bool has_rank() const { return shape().has_rank(); }
    /// The number of dimensions; refuses the conversion if it is unknown.
    [[nodiscard]] std::int64_t rank() const {
        if (!has_rank()) throw unsupported_error("the rank of %" + label() + " is not known; the mapping needs it");
        return static_cast<std::int64_t>(shape().rank());
    }
    /// Dimension `i`; negative counts from the end.
    /// Refuses the conversion when the rank is not known or has no such dimension.
    [[nodiscard]] dim const& size(std::int64_t i) const {
        std::int64_t const n = rank();
        if (i < -n || i >= n)
            throw unsupported_error("dimension " + std::to_string(i) + " is out of range for rank " +
                                    std::to_string(n));
        return shape()[static_cast<std::size_t>(i < 0 ? i + n : i)];
    }

    /// Whether the value is known at export: a Constant or an initializer.
    [[nodiscard]] bool is_constant() const { return graph_ != nullptr && graph_->constant(id_) != nullptr; }
    /// The payload of a constant; refuses the conversion if the value is not constant.
    [[nodiscard]] tensor const& constant() const {
        tensor const* t = is_constant() ? graph_->constant(id_) : nullptr;
        if (t == nullptr) detail::refuse_computed({}, *this);
        return *t;
    }
    /// The single element of a constant as a number: `alpha.constant<double>()`.
    /// Refuses the conversion when the value is not a constant of one element.
    /// ```cpp body
    /// if (x.is_constant()) {
    ///     auto const factor = x.constant<double>();
    /// }
    /// ```
    template <class T>
    [[nodiscard]] T constant() const {
        tensor const& t = constant();
        if (t.element_count() != 1) throw unsupported_error("%" + label() + " must have one element");
        if constexpr (std::same_as<T, scalar>) return t.at(0);
        else return t.at(0).template to<T>();
    }

    /// Whether the value was made from a Python number, which promotes weakly, as in `x + 2`.
    [[nodiscard]] bool is_wrapped_number() const { return record().wrapped_number; }

    // NOLINTBEGIN(modernize-use-nodiscard): these change the graph, and return the value for chaining.
    /// Sets the type of a result that cannot be inferred.
    value const& set_type(value_type type) const {
        owner().values[id_].type = std::move(type);
        return *this;
    }
    /// States the shape of a result where it cannot be inferred.
    value const& set_shape(aton::shape shape) const {
        owner().values[id_].type.shape = std::move(shape);
        return *this;
    }
    // NOLINTEND(modernize-use-nodiscard)

    /// The index of the value in its graph; `no_value` for a handle that was never set.
    [[nodiscard]] value_id id() const { return id_; }
    /// The graph of the value; refuses the conversion for a value that was never set.
    [[nodiscard]] graph_data& owner() const {
        if (graph_ == nullptr) throw illegal_call("the mapping uses a value that was never set");
        return *graph_;
    }
    /// Whether both are handles to the same value. To compare elements, use `g.op<"Equal">(x, y)`.
    [[nodiscard]] bool same_as(value const& other) const { return graph_ == other.graph_ && id_ == other.id_; }

private:
    [[nodiscard]] graph_value const& record() const { return owner().values[id_]; }
    [[nodiscard]] std::string label() const { return record().name.empty() ? std::to_string(id_) : record().name; }

    graph_data* graph_ = nullptr;
    value_id id_ = no_value;
};

/// Exists only for its diagnostic: == would compare handles, not elements.
template <std::derived_from<value> A, class B>
bool operator==(A const&, B const&) {
    static_assert(
        detail::never<A>,
        "== does not compare values: write g.op<\"Equal\">(x, y) for their elements, x.same_as(y) for one value");
    return false;
}

/// A result of `g.op`: a value whose type is in `Types`. Converts only to `value` and to supersets.
/// ```cpp body
/// typed_value<tensors(dtype::bool_)> const equal = g.op<"Equal">(x, y);
/// value const inverse = g.op<"Not">(equal); // `Not` of a float32 would not compile
/// ```
template <type_set Types>
class typed_value : public value {
public:
    /// The types that the value can have.
    static constexpr type_set types = Types;

    typed_value() = default;
    /// States that a value has one of these types; nothing checks it.
    constexpr explicit typed_value(value v) : value(v) {}
    /// From a value with fewer possible types.
    template <type_set Narrower>
        requires(Types.contains(Narrower) && Narrower != Types)
    // NOLINTNEXTLINE(google-explicit-constructor): the value is in every superset.
    constexpr typed_value(typed_value<Narrower> v) : value(v) {}
};

/// What a call with outputs<1> returns: a value, and a tuple of it, as for any other number of outputs.
template <type_set Types>
class single_output : public typed_value<Types> {
public:
    /// The only output.
    constexpr explicit single_output(value v) : typed_value<Types>(v) {}
    /// The only element.
    template <std::size_t I>
    [[nodiscard]] constexpr typed_value<Types> const& get() const {
        static_assert(I == 0);
        return *this;
    }
};

/// Skips an optional input of `g.op`, and is an `optional_value` without a value.
inline constexpr absent_t absent{};

/// A value or nothing: ATen's `Tensor?`.
class optional_value {
public:
    optional_value() = default;
    /// A value, or none.
    // NOLINTBEGIN(google-explicit-constructor): a value is an optional value.
    optional_value(value v) : value_(v) {}
    optional_value(absent_t) {}
    optional_value(std::nullopt_t) {}
    template <std::derived_from<value> Value>
    optional_value(std::optional<Value> const& v) : value_(v ? *v : value()) {}
    // NOLINTEND(google-explicit-constructor)
    /// Absent; `name` is the argument, for messages, and must outlive the value.
    optional_value(absent_t, std::string_view name) : name_(name) {}

    /// Whether there is a value.
    [[nodiscard]] bool has_value() const { return value_.id() != no_value; }
    /// The same, for conditions.
    explicit operator bool() const { return has_value(); }
    /// The value; refuses the conversion if it is absent: `if (bias) ... *bias`.
    /// ```cpp body
    /// value const sum = o ? value(g.op<"Add">(x, *o)) : x;
    /// ```
    [[nodiscard]] value const& operator*() const {
        if (!has_value()) refuse_absent();
        return value_;
    }
    /// A member of the value; refuses the conversion where it is absent.
    [[nodiscard]] value const* operator->() const { return &**this; }
    /// The index of the value in its graph; `no_value` where it is absent.
    [[nodiscard]] value_id id() const { return value_.id(); }

private:
    [[noreturn]] void refuse_absent() const {
        throw unsupported_error((name_.empty() ? std::string("an optional value") : "'" + std::string(name_) + "'") +
                                " is absent, but the mapping uses it without a check");
    }

    std::string_view name_;
    value value_;
};

namespace detail {

template <class Value>
[[noreturn]] void refuse_computed(std::string what, Value const& v) {
    graph_data const* graph = &v.owner();
    value_id id = v.id();
    node_origin from;
    for (;;) { // to the value that the program computes: through captures and the casts of the binder
        graph_value const& at = graph->values[id];
        if (at.producer < 0) {
            if (graph->around == nullptr || at.outer == no_value) break;
            id = at.outer;
            graph = graph->around;
            continue;
        }
        graph_node const& node = graph->nodes[static_cast<std::size_t>(at.producer)];
        if (node.op != "Cast") {
            if (node.origin < graph->origins.size()) from = graph->origins[node.origin];
            break;
        }
        id = node.inputs[0];
    }
    graph_value const& found = graph->values[id];
    bool const is_number = !what.empty();
    if (!is_number && found.name.empty() && from.name.empty()) what = "%" + std::to_string(v.id());
    if (what.empty()) what = "'" + (found.name.empty() ? from.name : found.name) + "'";
    if (!is_number && found.initializer >= 0)
        throw unsupported_error(what +
                                " is a weight of the model, which is not read; the mapping needs a constant: use "
                                "a tensor of fewer elements");
    bool const is_input = !is_number && found.producer < 0 && graph->around == nullptr;
    throw unsupported_error(what + (is_input ? " is an input of the program" : " is computed by the program") +
                            (from.source.empty() ? "" : " (" + from.source + ")") +
                            "; the mapping needs a constant: use a " + (is_number ? "number" : "tensor") +
                            " that does not depend on the inputs");
}

} // namespace detail

/// ATen's `SymInt`: a constant, or a 0-d int64 value computed by the graph.
class sym_int {
public:
    sym_int() = default;
    /// From a number, or from a 0-d int64 value; a constant value becomes its number. Refuses a constant of several elements.
    // NOLINTBEGIN(google-explicit-constructor): a number or a value is a size.
    sym_int(std::int64_t constant) : constant_(constant) {}
    sym_int(int constant) : constant_(constant) {}
    sym_int(value v) : value_(v) {
        if (v.is_constant()) *this = sym_int(v.constant<std::int64_t>());
    }
    // NOLINTEND(google-explicit-constructor)

    /// Whether the size is a number.
    [[nodiscard]] bool is_constant() const { return value_.id() == no_value; }
    /// The number; refuses the conversion if the graph computes it.
    [[nodiscard]] std::int64_t constant() const {
        if (!is_constant()) detail::refuse_computed("a size", value_);
        return constant_;
    }
    /// Whether the size is a number, and this one.
    [[nodiscard]] bool is(std::int64_t n) const { return is_constant() && constant_ == n; }
    /// The 0-d int64 value of a size that is not constant.
    [[nodiscard]] dsl::value const& as_value() const { return value_; }

private:
    std::int64_t constant_ = 0;
    dsl::value value_;
};

/// The usual name of sym_int; write `sym_int` beside `using namespace std`, where `size` is ambiguous.
using size = sym_int;

/// Asks `g.op` for the first `N` outputs as a tuple: `auto [y, h, c] = g.op<"LSTM">(x, w, r, outputs<3>)`.
template <int N>
struct outputs_t {};
/// The argument that asks `g.op` for `N` outputs.
template <int N>
inline constexpr outputs_t<N> outputs{};

/// Asks `g.op` for a number of outputs that is known only at run time, as a vector.
struct output_list {
    std::size_t count;
    /// Asks for `n` outputs.
    constexpr explicit output_list(std::size_t n) : count(n) {}
};

namespace detail {

/// A std::optional of a value, which is an operand that may be missing.
template <class T>
inline constexpr bool is_optional_operand = false;
template <std::derived_from<value> Value>
inline constexpr bool is_optional_operand<std::optional<Value>> = true;

/// The number of outputs that an argument of this type requests; 0: it is another argument; -1: known only at run time.
template <class T>
inline constexpr int outputs_asked = 0;
template <int N>
inline constexpr int outputs_asked<outputs_t<N>> = N;
template <>
inline constexpr int outputs_asked<output_list> = -1;

} // namespace detail

} // namespace ATON_NAMESPACE::dsl

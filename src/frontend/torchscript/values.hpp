// SPDX-License-Identifier: MIT
// The values of TorchScript's code while it is interpreted. Containers live as long as the interpreter, because code and pickles can
// make them cyclic or arbitrarily deep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/scalar.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/program/program.hpp>

#include "syntax.hpp"

namespace ATON_NAMESPACE::torchscript {

enum class kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    complex,
    text,
    device,
    open_text, ///< a string that the model would compute: the text of a number or tensor
    symbol,    ///< a number that the program computes: a SymInt, SymFloat or SymBool
    tensor,    ///< a value of the program
    weight,    ///< a tensor of the archive that is not yet a value of the program
    list,
    rows, ///< a list of as many tensors as the model decides: those of a value of the program along its first dimension
    parts, ///< a list of as many parts of a tensor as the model decides: `list` has the tensor, the dimension, and the size of a part
    tuple, ///< also a NamedTuple, with the names of its fields
    optional, ///< None or a value, which data decides: `list` has the number that tells whether it is None, and the value
    either, ///< one of two tensors of different ranks or dtypes: `list` has the condition, and what it is if that holds and if not
    dict,
    object,
    function, ///< a function, or a method of an object
    type,     ///< a class
    path,     ///< a dotted name: torch.relu, ops.prim.dtype, __torch__.a.b
    nothing,  ///< uninitialized(T), or values of different types: any use is an error, which `name` explains
};

/// None, a number, a string or a device, known while the code is interpreted. Only constants have equality and text, and only they can be
/// keys of a dict: a number that the program computes is a `value` without them, so that nothing can take it for a constant.
class constant {
public:
    constant() = default; ///< None
    explicit constant(scalar number) : number_(number) {
        is_ = number.is_bool()       ? kind::boolean
              : number.is_integral() ? kind::integer
              : number.is_complex()  ? kind::complex
                                     : kind::real;
    }
    /// A string, or the name of a device.
    constant(kind k, std::string text) : is_(k), text_(std::move(text)) {}

    [[nodiscard]] kind is() const { return is_; }
    [[nodiscard]] bool is_number() const {
        return is_ == kind::boolean || is_ == kind::integer || is_ == kind::real || is_ == kind::complex;
    }
    /// Of a number.
    [[nodiscard]] scalar number() const { return number_; }
    /// Of a string or a device.
    [[nodiscard]] std::string const& text() const { return text_; }

    /// Python's: 1 == 1.0 == True, and values of other kinds differ.
    friend bool operator==(constant const& a, constant const& b) {
        if (a.is_number() && b.is_number()) return a.number_ == b.number_;
        return a.is_ == b.is_ && a.text_ == b.text_;
    }

private:
    kind is_ = kind::none;
    scalar number_;
    std::string text_;
};

struct list_of_values;
struct dict_of_values;
struct instance;

class value {
public:
    static constexpr std::size_t max_text = std::size_t{1} << 16U;

    value() = default; ///< None
    explicit value(constant c) : is_(c.is()), constant_(std::move(c)) {}
    static value of(bool b) { return value(constant(scalar(b))); }
    static value of(std::int64_t n) { return value(constant(scalar(n))); }
    static value of(double x) { return value(constant(scalar(x))); }
    /// With `is_from_tensor`, a number that is known because it is computed from constant tensors. Loops that it ends are not unrolled, as those
    /// of other tensors.
    static value of(scalar n, bool is_from_tensor = false) {
        value v(constant{n});
        v.is_from_tensor_ = is_from_tensor;
        return v;
    }
    /// A string, a device, a path, or a reason why there is nothing.
    static value of(kind k, std::string text) {
        value v;
        v.is_ = k;
        v.constant_ = constant(k, std::move(text));
        return v;
    }
    /// A tensor, a number or rows of the program, by their value; a weight, by its place in the heap.
    static value of(kind k, std::size_t index) {
        value v;
        v.is_ = k;
        v.index_ = index;
        return v;
    }
    static value of(kind k, list_of_values* list) {
        value v;
        v.is_ = k;
        v.list_ = list;
        return v;
    }
    static value of(dict_of_values* dict) {
        value v;
        v.is_ = kind::dict;
        v.dict_ = dict;
        return v;
    }
    static value of(instance* object) {
        value v;
        v.is_ = kind::object;
        v.object_ = object;
        return v;
    }
    /// A function, or the method of an object.
    static value of(function_code const* function, instance* object = nullptr) {
        value v;
        v.is_ = kind::function;
        v.function_ = function;
        v.object_ = object;
        return v;
    }
    static value of(class_code const* type) {
        value v;
        v.is_ = kind::type;
        v.type_ = type;
        return v;
    }

    [[nodiscard]] kind is() const { return is_; }

    /// The constant that it is; null for all that is not known.
    [[nodiscard]] constant const* known() const { return is_ <= kind::device ? &constant_ : nullptr; }
    /// The number, if it is a constant.
    [[nodiscard]] std::optional<scalar> number() const {
        return constant_.is_number() ? std::optional(constant_.number()) : std::nullopt;
    }
    [[nodiscard]] bool is_number() const { return constant_.is_number(); }
    /// Whether it is a number: a constant, or one that the program computes.
    [[nodiscard]] bool is_any_number() const { return is_number() || is_ == kind::symbol; }
    /// The integer, if it is a constant int. A bool is not.
    [[nodiscard]] std::optional<std::int64_t> integer() const {
        return is_ == kind::integer ? std::optional(constant_.number().to<std::int64_t>()) : std::nullopt;
    }
    /// Whether it is the constant True.
    [[nodiscard]] bool is_true() const { return is_ == kind::boolean && constant_.number() == scalar(true); }
    /// The string, if it is a constant; null otherwise.
    [[nodiscard]] std::string const* text() const { return is_ == kind::text ? &constant_.text() : nullptr; }
    /// The name of a device or a path, or why there is nothing.
    [[nodiscard]] std::string const& name() const { return constant_.text(); }
    /// The value of the program that a tensor, a number or rows are.
    [[nodiscard]] program::value_index computed() const { return static_cast<program::value_index>(index_); }
    /// The place of a weight in the heap.
    [[nodiscard]] std::size_t weight() const { return index_; }
    [[nodiscard]] list_of_values* list() const { return list_; }
    [[nodiscard]] dict_of_values* dict() const { return dict_; }
    [[nodiscard]] instance* object() const { return object_; }
    [[nodiscard]] function_code const* function() const { return function_; }
    [[nodiscard]] class_code const* type() const { return type_; }

    /// A number that the code holds as a 0-d tensor of this dtype, as traced code does with sizes. It is a number until an operator needs the
    /// tensor.
    [[nodiscard]] value as_tensor(dtype type) const {
        value out = *this;
        out.tensor_type_ = type;
        return out;
    }
    [[nodiscard]] value as_number() const { return as_tensor(dtype::undefined); }
    /// The dtype of such a number; undefined for others.
    [[nodiscard]] dtype tensor_type() const { return tensor_type_; }
    [[nodiscard]] bool is_number_as_tensor() const { return tensor_type_ != dtype::undefined; }
    /// Whether an operator gets a tensor.
    [[nodiscard]] bool acts_as_tensor() const {
        return is_ == kind::tensor || is_ == kind::weight || is_number_as_tensor();
    }

    /// A weight without dimensions that the code names as a constant: the tracer makes them of Python's numbers, and torch promotes their
    /// dtype as weakly as that of a number.
    [[nodiscard]] value as_weak() const {
        value out = *this;
        out.is_weak_ = true;
        return out;
    }
    [[nodiscard]] bool is_weak() const { return is_weak_; }

    [[nodiscard]] bool is_from_tensor() const { return is_from_tensor_; }

    /// Whether both are the same constant, or the same thing of the program or the heap: no node has to choose between them.
    [[nodiscard]] bool is_same(value const& other) const;

private:
    kind is_ = kind::none;
    bool is_weak_ = false;
    bool is_from_tensor_ = false;
    dtype tensor_type_ = dtype::undefined;
    constant constant_;
    std::size_t index_ = 0;
    list_of_values* list_ = nullptr;
    dict_of_values* dict_ = nullptr;
    instance* object_ = nullptr;
    function_code const* function_ = nullptr;
    class_code const* type_ = nullptr;
};

struct list_of_values {
    std::vector<value> items;
    class_code const* fields = nullptr; ///< of a NamedTuple
    dtype element = dtype::undefined;   ///< of an empty list, as a tensor, if the code tells its type
    std::size_t serial = 0;             ///< the number of containers and objects made before
};

struct dict_of_values {
    std::vector<std::pair<constant, value>> items; ///< in the order of insertion
    std::size_t serial = 0;
};

/// An object of a class of the archive.
struct instance {
    std::string class_name; ///< "__torch__.a.b.X"
    class_code const* type = nullptr;
    std::map<std::string, value, std::less<>> attributes;
    std::string path;       ///< in the module: "layer1.0.conv1"
    bool is_loaded = false; ///< from data.pkl; false: made by the code
    std::size_t serial = 0;
};

/// A tensor of the archive.
struct weight {
    stored_tensor data;
    std::string name; ///< in the module: "layer1.0.conv1.weight"
    program::input_kind role = program::input_kind::constant;
    bool requires_gradient = false;
    program::value_index value = program::no_value; ///< once it is used
};

/// Owns what values point to.
struct heap {
    std::deque<list_of_values> lists;
    std::deque<dict_of_values> dicts;
    std::deque<instance> instances;
    std::vector<weight> weights;
    std::size_t made = 0;  ///< containers and objects
    std::size_t fence = 0; ///< older ones must not change: the code around a branch that depends on data uses them

    [[nodiscard]] value list(std::vector<value> items) {
        return value::of(kind::list,
                         &lists.emplace_back(list_of_values{std::move(items), nullptr, dtype::undefined, made++}));
    }
    [[nodiscard]] value tuple(std::vector<value> items) {
        return value::of(kind::tuple,
                         &lists.emplace_back(list_of_values{std::move(items), nullptr, dtype::undefined, made++}));
    }
    /// A container of the kind of `v`, a list, tuple or optional, and with its fields, that has other items.
    [[nodiscard]] value with_items(value const& v, std::vector<value> items) {
        value out = v.is() == kind::tuple ? tuple(std::move(items)) : list(std::move(items));
        out.list()->fields = v.list()->fields;
        return v.is() == kind::optional ? value::of(kind::optional, out.list()) : out;
    }
    [[nodiscard]] value optional(value is_none, value held) {
        value const items = list({std::move(is_none), std::move(held)});
        return value::of(kind::optional, items.list());
    }
    [[nodiscard]] value either(value condition, value first, value second) {
        value const items = list({std::move(condition), std::move(first), std::move(second)});
        return value::of(kind::either, items.list());
    }
    [[nodiscard]] value dict() {
        dict_of_values& made_dict = dicts.emplace_back();
        made_dict.serial = made++;
        return value::of(&made_dict);
    }
    [[nodiscard]] value object(std::string class_name) {
        instance& made_object = instances.emplace_back();
        made_object.class_name = std::move(class_name);
        made_object.serial = made++;
        return value::of(&made_object);
    }
};

/// Whether the code has declared a variable without giving it a value.
[[nodiscard]] inline bool is_uninitialized(value const& v) { return v.is() == kind::nothing && v.name().empty(); }

/// Whether it is the constant False.
[[nodiscard]] inline bool is_false(value const& v) { return v.is() == kind::boolean && !v.is_true(); }

/// The value, where the code has found out that it is not None.
[[nodiscard]] inline value without_none(value const& v) { return v.is() == kind::optional ? v.list()->items[1] : v; }

/// "an int", "a tensor": for messages.
[[nodiscard]] std::string_view describe(value const& v);

/// What str() gives in TorchScript: "1." for 1.0, "[1, 2]" for a list; nothing if a part of the value is not a constant.
[[nodiscard]] std::string text_of(constant const& c);
[[nodiscard]] std::optional<std::string> text_of(value const& v);

} // namespace ATON_NAMESPACE::torchscript

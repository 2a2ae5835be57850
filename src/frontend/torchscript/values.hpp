// SPDX-License-Identifier: MIT
// The values of TorchScript's code while it is interpreted. Containers live as long as the interpreter, because code and pickles can
// make them cyclic or arbitrarily deep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/program/program.hpp>

#include "syntax.hpp"

namespace ATON_NAMESPACE::torchscript {

enum class kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    tensor, ///< a value of the program
    weight, ///< a tensor of the archive that is not yet a value of the program
    symbol, ///< a number that the program computes: a SymInt, SymFloat or SymBool
    list,
    rows, ///< a list of as many tensors as the model decides: those of a value of the program along its first dimension
    tuple, ///< also a NamedTuple, with the names of its fields
    dict,
    object,
    function, ///< a function, or a method of `object`
    type,     ///< a class
    path,     ///< a dotted name: torch.relu, ops.prim.dtype, __torch__.a.b
    device,   ///< `text`
    nothing,  ///< uninitialized(T): any use is an error
};

struct list_of_values;
struct dict_of_values;
struct instance;

struct value {
    static constexpr std::size_t max_text = std::size_t{1} << 16U;

    kind is = kind::none;
    /// A number that the code holds as a 0-d tensor, as traced code does with sizes. It is a number until an operator needs the tensor.
    bool is_tensor = false;
    /// A weight without dimensions that the code names as a constant: the tracer makes them of Python's numbers, and torch promotes their
    /// dtype as weakly as that of a number.
    bool is_weak = false;
    std::int64_t integer = 0; ///< an integer or bool; the index of a tensor, weight or symbol
    double real = 0;
    std::string text;
    list_of_values* list = nullptr;
    dict_of_values* dict = nullptr;
    instance* object = nullptr;
    function_code const* function = nullptr;
    class_code const* type = nullptr;

    static value of(bool b) {
        value v;
        v.is = kind::boolean;
        v.integer = b ? 1 : 0;
        return v;
    }
    static value of(std::int64_t n) {
        value v;
        v.is = kind::integer;
        v.integer = n;
        return v;
    }
    static value of(double x) {
        value v;
        v.is = kind::real;
        v.real = x;
        return v;
    }
    static value of(kind k, std::string text) {
        value v;
        v.is = k;
        v.text = std::move(text);
        return v;
    }
    static value of(kind k, std::size_t index) {
        value v;
        v.is = k;
        v.integer = static_cast<std::int64_t>(index);
        return v;
    }

    [[nodiscard]] bool is_number() const { return is == kind::boolean || is == kind::integer || is == kind::real; }
    /// Whether an operator gets a tensor.
    [[nodiscard]] bool acts_as_tensor() const { return is == kind::tensor || is == kind::weight || is_tensor; }
    [[nodiscard]] scalar number() const {
        if (is == kind::real) return {real};
        if (is == kind::boolean) return {integer != 0};
        return {integer};
    }
};

struct list_of_values {
    std::vector<value> items;
    class_code const* fields = nullptr; ///< of a NamedTuple
    std::size_t serial = 0;             ///< the number of containers and objects made before
};

struct dict_of_values {
    std::vector<std::pair<value, value>> items; ///< in the order of insertion
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
        value v;
        v.is = kind::list;
        v.list = &lists.emplace_back(list_of_values{std::move(items), nullptr, made++});
        return v;
    }
    [[nodiscard]] value tuple(std::vector<value> items) {
        value v = list(std::move(items));
        v.is = kind::tuple;
        return v;
    }
    [[nodiscard]] value dict() {
        value v;
        v.is = kind::dict;
        v.dict = &dicts.emplace_back();
        v.dict->serial = made++;
        return v;
    }
    [[nodiscard]] value object(std::string class_name) {
        value v;
        v.is = kind::object;
        v.object = &instances.emplace_back();
        v.object->class_name = std::move(class_name);
        v.object->serial = made++;
        return v;
    }
};

/// "an int", "a tensor": for messages.
[[nodiscard]] std::string_view describe(value const& v);

} // namespace ATON_NAMESPACE::torchscript

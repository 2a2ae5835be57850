// SPDX-License-Identifier: MIT
// One argument of an ATen call: the same for programs, mappings and the runtime, which differ in how they hold tensors and numbers.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE::aten {

/// What an argument is, and which member of `basic_argument` holds it.
enum class argument_kind : std::uint8_t {
    missing, ///< not given: the default of the schema
    none,    ///< Python's None
    tensor,
    tensors,      ///< Tensor[] and Tensor?[]
    number,       ///< Scalar, float, int, SymInt, bool
    numbers,      ///< a list of them
    number_lists, ///< a list of lists of them
    text,         ///< str
    texts,
    type,  ///< ScalarType
    tag,   ///< the name of a device, a layout or a memory format, in `text`
    graph, ///< of a higher-order operator: `index` in the program's list of graphs, and its name in `text`
    op,    ///< of a higher-order operator: the overload that it runs, in `text`
    other, ///< anything that ATen operators do not accept, described in `text`
};

/// An argument of an ATen call. `Tensor` is a handle whose conversion to bool says whether there is a tensor; `Number` is a constant, or
/// also the handle of a computed number.
template <class Tensor, class Number>
struct basic_argument {
    std::string name; ///< in the schema; empty: by position
    argument_kind kind = argument_kind::missing;
    Tensor tensor{};
    std::vector<Tensor> tensors; ///< those of Tensor?[] may be absent
    Number number{};
    std::vector<Number> numbers;
    std::vector<std::int64_t> lengths; ///< number_lists: of each list; `numbers` are those of all lists
    std::string text;
    std::vector<std::string> texts;
    dtype type = dtype::undefined;
    std::int64_t index = 0;

    /// A missing argument.
    basic_argument() = default;

    /// Python's None.
    [[nodiscard]] static basic_argument none() { return of(argument_kind::none); }
    /// A tensor; None if `t` is absent.
    [[nodiscard]] static basic_argument of_tensor(Tensor t) {
        basic_argument a = of(t ? argument_kind::tensor : argument_kind::none);
        a.tensor = std::move(t);
        return a;
    }
    /// A list of tensors, some of which may be absent.
    [[nodiscard]] static basic_argument of_tensors(std::vector<Tensor> all) {
        basic_argument a = of(argument_kind::tensors);
        a.tensors = std::move(all);
        return a;
    }
    /// A Scalar, float, int, SymInt or bool.
    [[nodiscard]] static basic_argument of_number(Number n) {
        basic_argument a = of(argument_kind::number);
        a.number = std::move(n);
        return a;
    }
    /// A list of numbers.
    [[nodiscard]] static basic_argument of_numbers(std::vector<Number> all) {
        basic_argument a = of(argument_kind::numbers);
        a.numbers = std::move(all);
        return a;
    }
    /// A list of lists of numbers.
    template <class Lists = std::vector<std::vector<Number>>>
    [[nodiscard]] static basic_argument of_number_lists(Lists const& all) {
        basic_argument a = of(argument_kind::number_lists);
        for (auto const& list : all) {
            a.lengths.push_back(static_cast<std::int64_t>(list.size()));
            for (Number const& n : list) a.numbers.push_back(n);
        }
        return a;
    }
    /// A string.
    [[nodiscard]] static basic_argument of_text(std::string s) { return of(argument_kind::text, std::move(s)); }
    /// A list of strings.
    [[nodiscard]] static basic_argument of_texts(std::vector<std::string> all) {
        basic_argument a = of(argument_kind::texts);
        a.texts = std::move(all);
        return a;
    }
    /// A ScalarType. A mapping refuses `dtype::undefined`, a dtype that ONNX does not have.
    [[nodiscard]] static basic_argument of_type(dtype t) {
        basic_argument a = of(argument_kind::type);
        a.type = t;
        return a;
    }
    /// A device, a layout or a memory format, by name.
    [[nodiscard]] static basic_argument of_tag(std::string s) { return of(argument_kind::tag, std::move(s)); }
    /// A graph of a higher-order operator.
    [[nodiscard]] static basic_argument of_graph(std::int64_t index, std::string name) {
        basic_argument a = of(argument_kind::graph, std::move(name));
        a.index = index;
        return a;
    }
    /// An overload that a higher-order operator runs.
    [[nodiscard]] static basic_argument of_op(std::string s) { return of(argument_kind::op, std::move(s)); }
    /// Something that no ATen operator accepts, with its description.
    [[nodiscard]] static basic_argument of_other(std::string s) { return of(argument_kind::other, std::move(s)); }

    /// The same argument with a name: `argument::of_number(2).named("alpha")`.
    [[nodiscard]] basic_argument named(std::string given) && {
        name = std::move(given);
        return std::move(*this);
    }

private:
    static basic_argument of(argument_kind k, std::string s = {}) {
        basic_argument a;
        a.kind = k;
        a.text = std::move(s);
        return a;
    }
};

/// The numbers of `Argument`, whose kind is number_lists, as lists of what `convert` makes of each.
template <class Argument, class Convert>
[[nodiscard]] auto lists_of(Argument const& a, Convert convert) {
    std::vector<std::vector<std::remove_cvref_t<decltype(convert(a.numbers[0]))>>> all;
    std::size_t at = 0;
    for (std::int64_t const length : a.lengths) {
        auto& list = all.emplace_back();
        for (std::int64_t i = 0; i != length; ++i) list.push_back(convert(a.numbers[at++]));
    }
    return all;
}

/// The argument with other handles: `to_tensor` and `to_number` are called for each tensor, also absent ones of a list, and each number.
template <class Tensor, class Number, class ToTensor, class ToNumber>
[[nodiscard]] auto transform(basic_argument<Tensor, Number> const& a, ToTensor to_tensor, ToNumber to_number) {
    using to_tensor_type = std::remove_cvref_t<decltype(to_tensor(a.tensor))>;
    using to_number_type = std::remove_cvref_t<decltype(to_number(a.number))>;
    basic_argument<to_tensor_type, to_number_type> out;
    out.name = a.name;
    out.kind = a.kind;
    if (a.kind == argument_kind::tensor) out.tensor = to_tensor(a.tensor);
    if (a.kind == argument_kind::tensors)
        for (Tensor const& each : a.tensors) out.tensors.push_back(to_tensor(each));
    if (a.kind == argument_kind::number) out.number = to_number(a.number);
    if (a.kind == argument_kind::numbers || a.kind == argument_kind::number_lists)
        for (Number const& each : a.numbers) out.numbers.push_back(to_number(each));
    out.lengths = a.lengths;
    out.text = a.text;
    out.texts = a.texts;
    out.type = a.type;
    out.index = a.index;
    return out;
}

} // namespace ATON_NAMESPACE::aten

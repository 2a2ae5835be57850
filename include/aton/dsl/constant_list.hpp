// SPDX-License-Identifier: MIT
// Lists of numbers that become constant tensors: `g.constant({1.0, 2.0})`.
// Public header.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/scalar.hpp>
#include <aton/core/tensor.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/number_text.hpp>

namespace ATON_NAMESPACE::dsl {

/// The numbers of a constant: braces, a vector, a span, an array. Integers beyond int64 are refused.
class constant_list {
public:
    /// From a list of C++ numbers or of scalars.
    // NOLINTBEGIN(google-explicit-constructor): a list of numbers is a constant list.
    template <class List>
        requires(!std::convertible_to<List const&, tensor>)
    constant_list(List const& list) {
        constexpr bool is_list = detail::list_like<List>;
        static_assert(is_list,
                      "g.constant takes a tensor or a list of numbers; g.scalar(number, dtype) makes a 0-d constant");
        if constexpr (is_list) {
            using element = detail::element_of<List>;
            constexpr bool has_numbers = is_number<element>;
            static_assert(has_numbers, "g.constant takes a tensor or a list of numbers; elements must be numbers");
            add<element>(list);
        }
    }
    template <class Number>
    constant_list(std::initializer_list<Number> list) {
        constexpr bool has_numbers = is_number<Number>;
        static_assert(has_numbers, "g.constant takes a tensor or a list of numbers; elements must be numbers");
        add<Number>(list);
    }
    constant_list(std::initializer_list<scalar> list) : numbers_(list) {}
    // NOLINTEND(google-explicit-constructor)

    /// The dtype of numbers without a given one: bool, int64, float64 or complex128, the first that holds all; float32 for C++ `float`.
    template <class = void>
    [[nodiscard]] dtype natural_type() const {
        bool floating = false;
        bool integral = false;
        bool complex = false;
        for (scalar const& n : numbers_) {
            floating = floating || n.is_floating();
            integral = integral || n.is_integral();
            complex = complex || n.is_complex();
        }
        if (complex) return dtype::complex128;
        if (type_ != dtype::undefined) return type_;
        return floating ? dtype::float64 : integral || numbers_.empty() ? dtype::int64 : dtype::bool_;
    }
    /// A 1-d tensor of the numbers. Refuses numbers that do not fit the dtype.
    template <class = void>
    [[nodiscard]] tensor to_tensor(dtype type) const {
        if (!tensor::can_hold(type))
            throw unsupported_error("the dtype of a list of numbers cannot be " + std::string(name(type)));
        tensor out{type, {static_cast<std::int64_t>(numbers_.size())}, {}};
        for (scalar const& n : numbers_) {
            if (!fits(n, type)) detail::refuse_constant(n, type);
            out.append(n);
        }
        return out;
    }
    /// A tensor of the numbers with these sizes. Refuses sizes that need another number of elements.
    template <class = void>
    [[nodiscard]] tensor to_tensor(dtype type, std::vector<std::int64_t> const& sizes) const {
        tensor out = to_tensor(type);
        out.sizes = sizes;
        bool fitting = out.element_count() == static_cast<std::int64_t>(numbers_.size());
        std::string text;
        for (std::int64_t const s : sizes) {
            fitting = fitting && s >= 0;
            text += (text.empty() ? "" : ", ") + std::to_string(s);
        }
        if (!fitting)
            throw unsupported_error("a list of " + std::to_string(numbers_.size()) +
                                    " numbers does not fit the sizes [" + text + "]");
        return out;
    }

private:
    template <class T>
    static constexpr bool is_number = std::is_arithmetic_v<T> || std::same_as<T, scalar>;

    template <class Number, class List>
    void add(List const& list) {
        if constexpr (std::same_as<Number, float>) type_ = dtype::float32;
        else if constexpr (std::floating_point<Number>) type_ = dtype::float64;
        else if constexpr (std::same_as<Number, bool>) type_ = dtype::bool_;
        else if constexpr (std::integral<Number>) type_ = dtype::int64;
        for (Number const each : list) {
            if constexpr (std::same_as<Number, bool> || std::same_as<Number, scalar>) numbers_.push_back(each);
            else if constexpr (std::integral<Number>) numbers_.emplace_back(integer(each));
            else if constexpr (std::floating_point<Number>) numbers_.emplace_back(static_cast<double>(each));
        }
    }
    template <class Number>
    static std::int64_t integer(Number n) {
        auto const number = static_cast<std::int64_t>(n);
        if (std::is_unsigned_v<Number> && number < 0)
            throw unsupported_error("the number " + std::to_string(n) + " of a constant does not fit int64");
        return number;
    }

    std::vector<scalar> numbers_;
    dtype type_ = dtype::undefined; ///< by the C++ type of the numbers
};

} // namespace ATON_NAMESPACE::dsl

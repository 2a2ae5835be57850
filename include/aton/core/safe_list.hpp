// SPDX-License-Identifier: MIT
// Lists with checked access: an index out of range refuses the conversion.
// Public header.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace detail {

/// A separate function, so that an access costs only a comparison.
template <class = void>
[[noreturn]] void refuse_index(std::size_t index, std::size_t size) {
    throw unsupported_error(size == 0 ? std::string("an empty list where the mapping needs an element")
                                      : "a list of " + std::to_string(size) + " elements where the mapping needs " +
                                            std::to_string(index + 1));
}

} // namespace detail

/// std::span with checked access: the parameter type for `Tensor[]`, `int[]` and `SymInt[]`.
template <class T>
class safe_span : public std::span<T> {
    using base = std::span<T>;

public:
    using base::base;
    constexpr safe_span() = default;
    /// From the span of the standard library.
    // NOLINTNEXTLINE(google-explicit-constructor): a span is a span.
    constexpr safe_span(base other) : base(other) {}

    /// Element `i`. Refuses the call where there are not as many.
    constexpr T& operator[](std::size_t i) const {
        if (i >= base::size()) detail::refuse_index(i, base::size());
        return base::operator[](i);
    }
    /// The first element. Refuses an empty list.
    [[nodiscard]] constexpr T& front() const { return (*this)[0]; }
    /// The last element. Refuses an empty list.
    [[nodiscard]] constexpr T& back() const { return (*this)[base::empty() ? 0 : base::size() - 1]; }
    /// `count` elements from `from` on, or all that follow. Refuses the call where there are not as many.
    [[nodiscard]] constexpr safe_span subspan(std::size_t from, std::size_t count = std::dynamic_extent) const {
        if (from > base::size()) detail::refuse_index(from, base::size());
        std::size_t const rest = base::size() - from;
        if (count != std::dynamic_extent && count > rest) detail::refuse_index(from + count - 1, base::size());
        return base::subspan(from, count == std::dynamic_extent ? rest : count);
    }
};
template <class T, class Count>
safe_span(T*, Count) -> safe_span<T>;
template <class List>
safe_span(List&&) -> safe_span<std::remove_reference_t<decltype(*std::data(std::declval<List&>()))>>;

/// std::vector with checked access.
template <class T>
class safe_vector : public std::vector<T> {
    using base = std::vector<T>;

public:
    using base::base;
    using typename base::const_reference;
    using typename base::reference;
    safe_vector() = default;
    /// From the vector of the standard library, or from a list of elements.
    // NOLINTBEGIN(google-explicit-constructor): a vector is a vector.
    safe_vector(base const& other) : base(other) {}
    safe_vector(base&& other) : base(std::move(other)) {}
    safe_vector(std::initializer_list<T> all) : base(all) {} // not inherited, for deduction
    // NOLINTEND(google-explicit-constructor)

    /// Element `i`. Refuses the call where there are not as many.
    reference operator[](std::size_t i) {
        check(i);
        return base::operator[](i);
    }
    const_reference operator[](std::size_t i) const {
        check(i);
        return base::operator[](i);
    }
    /// The first element. Refuses an empty list.
    reference front() { return (*this)[0]; }
    [[nodiscard]] const_reference front() const { return (*this)[0]; }
    /// The last element. Refuses an empty list.
    reference back() { return (*this)[last()]; }
    [[nodiscard]] const_reference back() const { return (*this)[last()]; }
    /// Removes the last element. Refuses an empty list.
    void pop_back() {
        check(0);
        base::pop_back();
    }
    /// The first `count` elements.
    /// Refuses the call where there are not as many.
    [[nodiscard]] safe_span<T const> first(std::size_t count) const {
        return safe_span<T const>(*this).subspan(0, count);
    }

private:
    [[nodiscard]] std::size_t last() const { return base::empty() ? 0 : base::size() - 1; }
    void check(std::size_t i) const {
        if (i >= base::size()) detail::refuse_index(i, base::size());
    }
};
template <class T>
safe_vector(std::initializer_list<T>) -> safe_vector<T>;
template <class Iterator>
    requires requires(Iterator i) { *++i; }
safe_vector(Iterator, Iterator) -> safe_vector<std::remove_cvref_t<decltype(*std::declval<Iterator&>())>>;
template <class T>
safe_vector(std::vector<T>) -> safe_vector<T>;

} // namespace ATON_NAMESPACE

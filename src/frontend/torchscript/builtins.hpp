// SPDX-License-Identifier: MIT
// Functions of TorchScript on constants: the methods of strings, and functions of numbers. Each is a row of a table, which the documentation
// lists and a test compares with torch's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/version.hpp>

#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// One constant, a list or a tuple of constants, or why there is none.
struct builtin_result {
    enum class shape : std::uint8_t { one, list, tuple, refused };

    shape is = shape::one;
    std::vector<constant> items;
    std::string_view refusal = {};

    static builtin_result of(scalar number) { return {shape::one, {constant(number)}}; }
    static builtin_result of(std::string text) { return {shape::one, {constant(kind::text, std::move(text))}}; }
    static builtin_result refused(std::string_view why) { return {shape::refused, {}, why}; }
};

/// The arguments of a call, which fit the row.
class builtin_arguments {
public:
    explicit builtin_arguments(std::span<constant const> all) : all_(all) {}

    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] bool has(std::size_t i) const { return i < all_.size() && all_[i].is() != kind::none; }
    [[nodiscard]] std::string_view text(std::size_t i, std::string_view otherwise = {}) const {
        return has(i) ? std::string_view(all_[i].text()) : otherwise;
    }
    [[nodiscard]] std::int64_t integer(std::size_t i, std::int64_t otherwise = 0) const {
        return has(i) ? all_[i].number().to<std::int64_t>() : otherwise;
    }
    [[nodiscard]] double real(std::size_t i) const { return all_[i].number().to<double>(); }
    [[nodiscard]] scalar number(std::size_t i) const { return all_[i].number(); }
    [[nodiscard]] constant const& at(std::size_t i) const { return all_[i]; }

private:
    std::span<constant const> all_;
};

/// A function, by the name that the serializer writes behind `torch.` or `ops.prim.`.
struct builtin {
    std::string_view name;
    /// The kinds of its arguments: "str int str?", where `?` means that the argument may be missing. `float` takes every real number, and
    /// `complex` every number.
    std::string_view takes;
    builtin_result (*run)(builtin_arguments const&);
};

[[nodiscard]] std::span<builtin const> text_builtins();
[[nodiscard]] std::span<builtin const> number_builtins();
/// Functions of complex numbers, which hold where at least one argument is complex.
[[nodiscard]] std::span<builtin const> complex_builtins();

/// The row that takes the arguments; null if there is none.
[[nodiscard]] builtin const* find_builtin(std::string_view name, std::span<constant const> arguments);

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
// Shapes whose dimensions are numbers, named symbols or unknown, and whose rank may be unknown.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// One dimension: a size (>= 0), a symbol ("batch"), or unknown.
class dim {
public:
    dim() = default;
    /// A size, or a symbol by its name. A negative size means unknown.
    // NOLINTBEGIN(google-explicit-constructor): a number or a name is a dimension.
    dim(std::int64_t size) : size_(size < 0 ? -1 : size) {} // negative: unknown
    dim(std::string symbol) : symbol_(std::move(symbol)) {}
    template <std::size_t N> // not a pointer: 0 is a size
    dim(char const (&symbol)[N]) : symbol_(symbol) {}
    // NOLINTEND(google-explicit-constructor)

    /// Whether the size is a number.
    [[nodiscard]] bool is_static() const { return size_ >= 0; }
    /// Whether the size is unknown but has a name.
    [[nodiscard]] bool is_symbolic() const { return size_ < 0 && !symbol_.empty(); }
    /// The size. Throws unsupported_error if it is not static: a mapping that needs the number refuses the call.
    [[nodiscard]] std::int64_t size() const {
        if (!is_static()) refuse_dynamic();
        return size_;
    }
    /// The size, or `other` if it is not static.
    [[nodiscard]] std::int64_t size_or(std::int64_t other) const { return is_static() ? size_ : other; }
    /// Whether the size is static, and this one.
    [[nodiscard]] bool is(std::int64_t size) const { return is_static() && size_ == size; }
    /// The name of the symbol; empty when there is none.
    [[nodiscard]] std::string_view symbol() const { return symbol_; }
    /// Whether both are known to have the same size: equal numbers or the same symbol. False for two unknown dimensions.
    [[nodiscard]] bool same_as(dim const& other) const {
        return is_static() ? size_ == other.size_ : is_symbolic() && !other.is_static() && symbol_ == other.symbol_;
    }
    friend bool operator==(dim const&, dim const&) = default;

private:
    template <class = void> // a template for the same reason as graph_data's functions
    [[noreturn]] void refuse_dynamic() const {
        throw unsupported_error((is_symbolic() ? "the size '" + symbol_ + "' is dynamic" : "a size is not known") +
                                ", but the mapping needs its number; export with a static size, or compute with "
                                "g.size(x, i) in the mapping");
    }

    std::int64_t size_ = -1;
    std::string symbol_;
};

/// The product of the sizes; the maximum int64 if it overflows or a size is negative.
template <class Sizes, class Size>
constexpr std::int64_t element_count_of(Sizes const& sizes, Size size) {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    std::int64_t n = 1;
    bool beyond = false;
    for (auto const& each : sizes) {
        std::int64_t const s = size(each);
        if (s == 0) return 0;
        beyond = beyond || s < 0 || n > largest / s;
        if (!beyond) n *= s;
    }
    return beyond ? largest : n;
}

/// The dimensions of a tensor. Default-constructed, its rank is unknown.
class shape {
public:
    shape() = default;
    /// From the dimensions: `shape{2, "batch", dim()}`. An empty list is the shape of a 0-d tensor.
    template <class = void> // a template for the same reason as graph_data's functions
    shape(std::initializer_list<dim> dims) : ranked_(true),
                                             dims_(dims) {}
    /// From a list of dimensions or of sizes.
    template <class Dims>
        requires requires(Dims const& dims) { dim(*dims.begin()); }
    explicit shape(Dims const& dims) : ranked_(true),
                                       dims_(dims.begin(), dims.end()) {}

    /// Whether the number of dimensions is known.
    [[nodiscard]] bool has_rank() const { return ranked_; }
    /// The number of dimensions; 0 when it is not known.
    [[nodiscard]] std::size_t rank() const { return dims_.size(); }
    /// Dimension `i`, or an unknown one if `i` is out of range.
    [[nodiscard]] dim const& operator[](std::size_t i) const {
        static dim const none;
        return i < dims_.size() ? dims_[i] : none;
    }
    /// The dimensions; none when the rank is not known.
    [[nodiscard]] std::vector<dim> const& dims() const { return dims_; }
    /// Whether the rank is known and every dimension is a number.
    [[nodiscard]] bool is_static() const {
        if (!ranked_) return false;
        for (dim const& d : dims_)
            if (!d.is_static()) return false;
        return true;
    }
    /// The number of elements, or the maximum int64 on overflow. Throws unsupported_error if the shape is not static.
    [[nodiscard]] std::int64_t element_count() const {
        if (!is_static())
            throw unsupported_error("the number of elements is not known, but the mapping needs it; export with static "
                                    "sizes, or compute with g.sizes(x) in the mapping");
        return element_count_of(dims_, [](dim const& d) { return d.size(); });
    }
    /// The number of elements, or `other` if the shape is not static.
    [[nodiscard]] std::int64_t element_count_or(std::int64_t other) const {
        return is_static() ? element_count() : other;
    }
    friend bool operator==(shape const&, shape const&) = default;

private:
    bool ranked_ = false;
    std::vector<dim> dims_;
};

} // namespace ATON_NAMESPACE

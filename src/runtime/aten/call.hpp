// SPDX-License-Identifier: MIT
// The call of an ATen operator as kernels see it, and the rows that list kernels.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/runtime/aten_operator.hpp>
#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The results of a call, in order.
class results {
public:
    // NOLINTBEGIN(google-explicit-constructor): a tensor is the only result.
    results(tensor t) { all_.results.emplace_back(std::move(t)); }
    results(value v) { all_.results.push_back(std::move(v)); }
    results(std::vector<value> all) { all_.results = std::move(all); }
    // NOLINTEND(google-explicit-constructor)
    results(std::initializer_list<value> all) { all_.results = all; }

    /// Sets the value of a mutated argument after the call.
    results& mutate(std::string argument, tensor now) {
        all_.mutated.emplace_back(std::move(argument), std::move(now));
        return *this;
    }
    [[nodiscard]] aten_results& all() { return all_; }

private:
    aten_results all_;
};

/// A call of an overload, with all arguments of its schema. Accessors throw aton::error for names that the schema does
/// not have and for arguments of another kind.
class call {
public:
    call(std::string_view overload, std::vector<aten_argument> bound, aten_options const& options)
        : overload_(overload),
          bound_(std::move(bound)),
          options_(options) {}

    [[nodiscard]] std::string_view overload() const { return overload_; }
    [[nodiscard]] device where() const { return options_.where; }
    [[nodiscard]] std::uint64_t seed() const { return options_.seed; }

    [[nodiscard]] bool has_argument(std::string_view name) const;
    [[nodiscard]] aten_argument const& argument(std::string_view name) const;
    /// Whether the argument is not None.
    [[nodiscard]] bool given(std::string_view name) const;

    /// A tensor; a number becomes a 0-d tensor: int64, float32, complex64 or bool.
    [[nodiscard]] tensor t(std::string_view name) const;
    /// Empty for None.
    [[nodiscard]] tensor maybe(std::string_view name) const { return given(name) ? t(name) : tensor(); }
    [[nodiscard]] std::vector<tensor> const& tensors(std::string_view name) const;
    [[nodiscard]] scalar number(std::string_view name) const;
    [[nodiscard]] std::int64_t i(std::string_view name) const { return number(name).to_saturated<std::int64_t>(); }
    [[nodiscard]] double f(std::string_view name) const { return number(name).to<double>(); }
    [[nodiscard]] bool b(std::string_view name) const { return number(name).to<double>() != 0; }
    [[nodiscard]] std::optional<std::int64_t> maybe_i(std::string_view name) const;
    [[nodiscard]] std::optional<double> maybe_f(std::string_view name) const;
    [[nodiscard]] std::vector<std::int64_t> ints(std::string_view name) const; ///< a single number is a list of one
    [[nodiscard]] std::vector<double> floats(std::string_view name) const;
    [[nodiscard]] std::string_view text(std::string_view name) const;
    [[nodiscard]] dtype type(std::string_view name) const;                  ///< undefined for None
    [[nodiscard]] dtype type(std::string_view name, dtype otherwise) const; ///< `otherwise` for None

    /// Runs another overload.
    [[nodiscard]] aten_results run(std::string_view overload, std::vector<aten_argument> arguments) const {
        return call_aten(overload, std::move(arguments), options_);
    }

private:
    std::string_view overload_;
    std::vector<aten_argument> bound_;
    aten_options options_;
};

// Type promotion, as in at::TensorIterator.

/// The result dtype of these arguments (Tensor, Tensor[], Scalar): tensors with dimensions take priority over 0-d ones,
/// and those over numbers.
[[nodiscard]] dtype result_type(call const& c, std::initializer_list<std::string_view> names);
/// float32 for integers and bool: the dtype in which functions of real numbers are computed.
[[nodiscard]] constexpr dtype to_real(dtype t) { return is_floating(t) || is_complex(t) ? t : dtype::float32; }
/// The dtype in which ATen's kernels compute: float32 for float16 and bfloat16. Results are cast back.
[[nodiscard]] constexpr dtype compute_type(dtype t) {
    return t == dtype::float16 || t == dtype::bfloat16 ? dtype::float32 : t;
}
/// An argument (Tensor or Scalar) cast to a dtype; a number becomes a 0-d tensor on the device of the call.
[[nodiscard]] tensor operand(call const& c, std::string_view name, dtype as);
/// A number as a 0-d tensor of this dtype on the device of the call.
[[nodiscard]] tensor constant(call const& c, scalar const& value, dtype as);

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// An integer as the operand of a kernel.
[[nodiscard]] constexpr scalar whole_number(std::int64_t n) { return {static_cast<long long>(n)}; }
/// The only element of a tensor on any device.
[[nodiscard]] inline double number_of(tensor const& x) { return to_host(x).item().to<double>(); }

/// Dropout in training: x where `kept` is true, scaled so that its mean is preserved.
[[nodiscard]] inline tensor dropped(tensor const& x, tensor const& kept, double p) {
    return x * cast(kept, x.dtype()) * scalar(p == 1 ? 0 : 1 / (1 - p));
}

/// Two operands in the compute type, and the dtype of the result.
struct operand_pair {
    tensor x;
    tensor y;
    dtype type = dtype::undefined;

    /// Casts a computed tensor to the dtype of the result.
    [[nodiscard]] tensor finish(tensor const& z) const { return cast(z, type); }
};
/// Promotes two operands. Both, including numbers, are rounded to the dtype of the result first.
[[nodiscard]] operand_pair promoted(call const& c, std::string_view x = "self", std::string_view y = "other");
/// Like promoted, for functions of real numbers: integers become float32.
[[nodiscard]] operand_pair promoted_to_real(call const& c, std::string_view x = "self", std::string_view y = "other");
/// Like promoted, for products, quotients and powers, whose second operand is not rounded: a number beyond the range of
/// float16 keeps its value.
[[nodiscard]] operand_pair promoted_factors(call const& c, std::string_view x = "self", std::string_view y = "other");
[[nodiscard]] operand_pair promoted_real_factors(call const& c, std::string_view x = "self",
                                                 std::string_view y = "other");

using kernel = results (*)(call const&);

/// The kernel of an overload.
struct row {
    std::string_view overload; ///< without "aten::" for the namespace aten
    kernel run;
};

using rows = std::span<row const>;

// One function per operator family, in a file of the same name.
[[nodiscard]] rows activation();
[[nodiscard]] rows activation_backward();
[[nodiscard]] rows adaptive_pooling();
[[nodiscard]] rows attention();
[[nodiscard]] rows bessel_functions();
[[nodiscard]] rows binary_math();
[[nodiscard]] rows bitwise();
[[nodiscard]] rows bucketing();
[[nodiscard]] rows class_loss();
[[nodiscard]] rows comparison();
[[nodiscard]] rows complex_tensors();
[[nodiscard]] rows conversion();
[[nodiscard]] rows convolution();
[[nodiscard]] rows creation();
[[nodiscard]] rows cumulative();
[[nodiscard]] rows decompositions();
[[nodiscard]] rows diagonals();
[[nodiscard]] rows distances();
[[nodiscard]] rows elementwise_binary();
[[nodiscard]] rows elementwise_unary();
[[nodiscard]] rows embedding();
[[nodiscard]] rows fake_quantization();
[[nodiscard]] rows gradients();
[[nodiscard]] rows histograms();
[[nodiscard]] rows incomplete_gamma();
[[nodiscard]] rows indexing();
[[nodiscard]] rows joining();
[[nodiscard]] rows linear_algebra();
[[nodiscard]] rows loss();
[[nodiscard]] rows loss_backward();
[[nodiscard]] rows loss_scaling();
[[nodiscard]] rows masked_indexing();
[[nodiscard]] rows matrix_product();
[[nodiscard]] rows norm();
[[nodiscard]] rows normalization();
[[nodiscard]] rows normalization_backward();
[[nodiscard]] rows orthogonal_polynomials();
[[nodiscard]] rows padding();
[[nodiscard]] rows padding_backward();
[[nodiscard]] rows patches();
[[nodiscard]] rows pixels();
[[nodiscard]] rows pooling();
[[nodiscard]] rows pooling_backward();
[[nodiscard]] rows prims_creation();
[[nodiscard]] rows prims_elementwise();
[[nodiscard]] rows prims_reduction();
[[nodiscard]] rows prims_shape();
[[nodiscard]] rows random();
[[nodiscard]] rows ranges();
[[nodiscard]] rows recurrent();
[[nodiscard]] rows reduction();
[[nodiscard]] rows repeating();
[[nodiscard]] rows resize();
[[nodiscard]] rows resize_backward();
[[nodiscard]] rows sampling();
[[nodiscard]] rows scaled_product();
[[nodiscard]] rows scatter();
[[nodiscard]] rows segments();
[[nodiscard]] rows selection();
[[nodiscard]] rows short_time_transforms();
[[nodiscard]] rows slicing();
[[nodiscard]] rows softmax();
[[nodiscard]] rows sorting();
[[nodiscard]] rows special_functions();
[[nodiscard]] rows spectra();
[[nodiscard]] rows splitting();
[[nodiscard]] rows statistics();
[[nodiscard]] rows transforms();
[[nodiscard]] rows unique();
[[nodiscard]] rows view();
[[nodiscard]] rows zeta_functions();

} // namespace ATON_NAMESPACE::runtime::aten_kernels

// SPDX-License-Identifier: MIT
// ATen operators: dtypes, copies, and properties of tensors.
#include <string>
#include <string_view>

#include <aton/aten/promotion.hpp>
#include <aton/aten/scalar_type.hpp>
#include <aton/core/error.hpp>

#include "elementwise.hpp"
#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// A new tensor, or a view of the same elements.
template <dtype Type>
results cast_to(call const& c) {
    return cast(c.t("self"), Type);
}

tensor converted_to(tensor const& x, dtype to) { return cast(x, to, !aten::overflows(to)); }

/// Casts to `dtype` if it is given; layouts and memory formats have no visible effect.
results converted(call const& c) {
    tensor const x = c.t("self");
    return converted_to(x, c.type("dtype", x.dtype()));
}
results converted_as_other(call const& c) { return converted_to(c.t("self"), c.t("other").dtype()); }

results itself(call const& c) { return c.t("self"); }
results copied(call const& c) { return clone(c.t("self")); }
results made_contiguous(call const& c) { return contiguous(c.t("self")); }

results copied_from(call const& c) {
    tensor const x = c.t("self");
    return contiguous(cast(c.t("src"), x.dtype()).expanded(x.sizes()));
}

results filled(call const& c) {
    tensor const x = c.t("self");
    aten_argument const& value = c.argument("value");
    if (value.kind == aten::argument_kind::tensor && value.tensor.rank() != 0)
        throw error("the fill value must be a number or a 0-d tensor");
    return operand(c, "value", x.dtype()).expanded(x.sizes());
}
results zeroed(call const& c) { return full_like(c.t("self"), 0); }

results conjugate(call const& c) {
    tensor const x = c.t("self");
    return is_complex(x.dtype()) ? complex_of(real_part(x), -imaginary_part(x)) : x;
}
results real(call const& c) {
    tensor const x = c.t("self");
    return is_complex(x.dtype()) ? real_part(x) : x;
}

// Numbers are returned as 0-d tensors on the CPU.

results of_bool(bool b) { return tensor::of_scalar(b, dtype::bool_); }
results of_int(std::int64_t i) { return tensor::of_scalar(static_cast<long long>(i), dtype::int64); }

/// Python's item(): a bool, an int, a float or a complex number.
results item(call const& c) {
    tensor const x = c.t("self");
    if (x.count() != 1)
        throw error("a tensor of " + std::to_string(x.count()) + " elements cannot be converted to a number");
    dtype const t = x.dtype();
    dtype const as = t == dtype::bool_ ? dtype::bool_
                     : is_integral(t)  ? dtype::int64
                     : is_complex(t)   ? dtype::complex128
                                       : dtype::float64;
    return to_host(reshape(cast(x, as), {}));
}
results is_true(call const& c) {
    tensor const x = c.t("self");
    if (x.count() != 1)
        throw error("a tensor of " + std::to_string(x.count()) + " elements cannot be converted to a bool");
    return to_host(reshape(cast(x, dtype::bool_), {}));
}

results has_complex(call const& c) { return of_bool(is_complex(c.t("self").dtype())); }
results has_floats(call const& c) { return of_bool(is_floating(c.t("self").dtype())); }
results has_sign(call const& c) {
    dtype const t = c.t("self").dtype();
    return of_bool(is_floating(t) || is_complex(t) || is_signed_integral(t));
}

/// The number of a dtype in c10::ScalarType.
std::int64_t code_of(dtype t) {
    constexpr std::int64_t after_bfloat16 = 16;
    for (std::int64_t n = 0; n != after_bfloat16; ++n)
        if (aton::aten::scalar_type(n) == t && t != dtype::undefined) return n;
    throw error("there is no ScalarType number for " + std::string(name(t)));
}

results common_of_types(call const& c) {
    return of_int(code_of(aton::aten::promote_types(c.type("type1"), c.type("type2"))));
}
results common_of_tensors(call const& c) { return of_int(code_of(result_type(c, {"tensor", "other"}))); }

results number_as_tensor(call const& c) {
    return constant(c, c.number("s"), c.type("dtype", aton::aten::default_dtype));
}

/// Assertions always hold in exported programs and are not checked.
results nothing(call const& /*c*/) { return std::vector<value>(); }

} // namespace

rows conversion() {
    static constexpr row all[] = {
        {"_assert_tensor_metadata", nothing},
        {"_cast_Byte", cast_to<dtype::uint8>},
        {"_cast_Char", cast_to<dtype::int8>},
        {"_cast_Double", cast_to<dtype::float64>},
        {"_cast_Float", cast_to<dtype::float32>},
        {"_cast_Half", cast_to<dtype::float16>},
        {"_cast_Int", cast_to<dtype::int32>},
        {"_cast_Long", cast_to<dtype::int64>},
        {"_cast_Short", cast_to<dtype::int16>},
        {"_conj", conjugate},
        {"_conj_copy", conjugate},
        {"_conj_physical", conjugate},
        {"_local_scalar_dense", item},
        {"_to_copy", converted},
        {"alias", itself},
        {"alias_copy", copied},
        {"clone", copied},
        {"conj", conjugate},
        {"conj_physical", conjugate},
        {"contiguous", made_contiguous},
        {"copy", copied_from},
        {"detach", itself},
        {"detach_copy", copied},
        {"fill.Scalar", filled},
        {"fill.Tensor", filled},
        {"is_complex", has_complex},
        {"is_floating_point", has_floats},
        {"is_nonzero", is_true},
        {"is_signed", has_sign},
        {"item", item},
        {"lift", itself},
        {"lift_fresh", itself},
        {"lift_fresh_copy", copied},
        {"promote_types", common_of_types},
        {"real", real},
        {"resolve_conj", itself},
        {"resolve_neg", itself},
        {"result_type.Tensor", common_of_tensors},
        {"scalar_tensor", number_as_tensor},
        {"to.device", converted},
        {"to.dtype", converted},
        {"to.dtype_layout", converted},
        {"to.other", converted_as_other},
        {"type_as", converted_as_other},
        {"zero", zeroed},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels

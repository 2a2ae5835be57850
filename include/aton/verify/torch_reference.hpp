// SPDX-License-Identifier: MIT
// Calls torch as a reference for aton::verify: ATen's operators, and those of loaded libraries. The only header of Aton that includes
// torch's headers; link libtorch.
//
//     aton::verify::check_options options;
//     options.truth = aton::verify::call_torch;
//     options.registered_schema = aton::verify::torch_schema;
//     CHECK(aton::verify::check(my_table, options).passed());
// Public header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

namespace torch_detail {

using runtime::aten_argument;
using runtime::tensor;
using runtime::value;

struct type_pair {
    dtype here;
    at::ScalarType there;
};
inline constexpr type_pair types[] = {
    {dtype::float32, at::kFloat},
    {dtype::float64, at::kDouble},
    {dtype::float16, at::kHalf},
    {dtype::bfloat16, at::kBFloat16},
    {dtype::int64, at::kLong},
    {dtype::int32, at::kInt},
    {dtype::int16, at::kShort},
    {dtype::int8, at::kChar},
    {dtype::uint8, at::kByte},
    {dtype::uint16, at::kUInt16},
    {dtype::uint32, at::kUInt32},
    {dtype::uint64, at::kUInt64},
    {dtype::bool_, at::kBool},
    {dtype::complex64, at::kComplexFloat},
    {dtype::complex128, at::kComplexDouble},
    {dtype::float8_e4m3fn, at::kFloat8_e4m3fn},
    {dtype::float8_e5m2, at::kFloat8_e5m2},
};

inline at::ScalarType to_torch(dtype t) {
    for (type_pair const& each : types)
        if (each.here == t) return each.there;
    throw error("torch does not have the dtype " + std::string(name(t)));
}
inline dtype from_torch(at::ScalarType t) {
    for (type_pair const& each : types)
        if (each.there == t) return each.here;
    throw error(std::string("no dtype of Aton corresponds to torch's ") + at::toString(t));
}

/// A copy with the same strides; contiguous if a stride is negative, which torch does not support.
inline at::Tensor to_torch(tensor const& x) {
    tensor host = runtime::to_host(x);
    if (x.count() == 0) return at::empty(host.sizes(), at::TensorOptions(to_torch(x.dtype())));
    if (std::any_of(host.strides().begin(), host.strides().end(), [](std::int64_t s) { return s < 0; }))
        host = runtime::contiguous(host);
    auto const before = host.storage_offset() * static_cast<std::int64_t>(runtime::element_bytes(host.dtype()));
    at::Tensor out = at::empty({host.storage_count()}, at::TensorOptions(to_torch(x.dtype())));
    if (out.numel() != 0) std::memcpy(out.data_ptr(), host.bytes() - before, out.nbytes());
    return out.as_strided(host.sizes(), host.strides(), host.storage_offset());
}
inline tensor from_torch(at::Tensor const& x) {
    at::Tensor const dense = x.detach().resolve_conj().resolve_neg().contiguous();
    tensor out = tensor::empty(from_torch(dense.scalar_type()), dense.sizes().vec());
    if (dense.numel() != 0) std::memcpy(out.bytes(), dense.data_ptr(), dense.nbytes());
    return out;
}

inline c10::Scalar to_torch(scalar const& s) {
    if (s.is_bool()) return s.to<std::int64_t>() != 0;
    if (s.is_complex()) return c10::complex<double>(s.to<double>(), s.imaginary());
    if (s.is_integral()) return s.to<std::int64_t>();
    return s.to<double>();
}

inline c10::IValue number_of(scalar const& s, c10::TypePtr const& as) {
    switch (as->kind()) {
    case c10::TypeKind::FloatType: return s.to<double>();
    case c10::TypeKind::BoolType: return s.to<double>() != 0;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return s.to<std::int64_t>();
    case c10::TypeKind::TensorType: {
        at::Tensor out = at::scalar_tensor(to_torch(s),
                                           s.is_bool()       ? at::kBool
                                           : s.is_integral() ? at::kLong
                                           : s.is_complex()  ? at::kComplexDouble
                                                             : at::kDouble);
        out.unsafeGetTensorImpl()->set_wrapped_number(true);
        return out;
    }
    default: return to_torch(s);
    }
}

inline c10::IValue text_of(std::string const& text, c10::TypePtr const& as) {
    if (as->kind() == c10::TypeKind::StringType) return text;
    if (as->kind() == c10::TypeKind::DeviceObjType) return at::Device(text);
    if (text == "strided") return static_cast<std::int64_t>(at::kStrided);
    std::pair<std::string_view, at::MemoryFormat> const formats[] = {
        {"contiguous_format", at::MemoryFormat::Contiguous},
        {"preserve_format", at::MemoryFormat::Preserve},
        {"channels_last", at::MemoryFormat::ChannelsLast},
        {"channels_last_3d", at::MemoryFormat::ChannelsLast3d}};
    for (auto const& [word, format] : formats)
        if (text == word) return static_cast<std::int64_t>(format);
    throw error("'" + text + "' is not a " + as->str());
}

inline c10::TypePtr without_optional(c10::TypePtr const& t) {
    return t->kind() == c10::TypeKind::OptionalType ? t->castRaw<c10::OptionalType>()->getElementType() : t;
}

/// A single number becomes a list of one element, as in Python.
inline c10::IValue list_of(aten_argument const& a, c10::TypePtr const& of) {
    if (a.kind == aten::argument_kind::number) return list_of(aten_argument::of_numbers({a.number}), of);
    c10::TypePtr const element = without_optional(of);
    bool const may_be_none = of->kind() == c10::TypeKind::OptionalType;
    c10::impl::GenericList out(of->kind() == c10::TypeKind::SymIntType ? c10::TypePtr(c10::IntType::get()) : of);
    if (element->kind() == c10::TypeKind::TensorType) {
        for (tensor const& x : a.tensors)
            out.push_back(x ? c10::IValue(to_torch(x)) : may_be_none ? c10::IValue() : c10::IValue(at::Tensor()));
        return out;
    }
    for (scalar const& s : a.numbers) out.push_back(number_of(s, element));
    return out;
}

inline c10::IValue to_torch(aten_argument const& a, c10::TypePtr const& formal) {
    c10::TypePtr const t = without_optional(formal);
    if (a.kind == aten::argument_kind::none) return {};
    if (t->kind() == c10::TypeKind::ListType) return list_of(a, t->castRaw<c10::ListType>()->getElementType());
    switch (a.kind) {
    case aten::argument_kind::tensor: return to_torch(a.tensor);
    case aten::argument_kind::number: return number_of(a.number, t);
    case aten::argument_kind::text:
    case aten::argument_kind::tag: return text_of(a.text, t);
    case aten::argument_kind::type: return static_cast<std::int64_t>(to_torch(a.type));
    default: throw error("argument '" + a.name + "' is a list, but the schema has " + t->str());
    }
}

inline value from_torch(c10::IValue const& v) {
    if (v.isTensor()) return v.toTensor().defined() ? value(from_torch(v.toTensor())) : value();
    if (v.isBool()) return tensor::of_scalar(v.toBool(), dtype::bool_);
    if (v.isInt()) return tensor::of_scalar(v.toInt(), dtype::int64);
    if (v.isDouble()) return tensor::of_scalar(v.toDouble(), dtype::float64);
    if (v.isComplexDouble())
        return tensor::of_scalar(scalar::complex(v.toComplexDouble().real(), v.toComplexDouble().imag()),
                                 dtype::complex128);
    if (!v.isList()) return {};
    std::vector<tensor> all;
    for (c10::IValue const& each : v.toListRef()) all.push_back(from_torch(each).one());
    return all;
}

/// The operator and the overload of "aten::add.Tensor".
inline std::pair<std::string, std::string> names_of(std::string_view overload) {
    std::size_t const dot = std::min(overload.find('.'), overload.size());
    std::string_view const rest = overload.substr(dot);
    return {std::string(overload.substr(0, dot)), std::string(rest.substr(rest.empty() ? 0 : 1))};
}

} // namespace torch_detail

/// The schema that an operator is registered with in torch's dispatcher; empty if it is not registered.
/// `options.registered_schema = torch_schema` compares it with that of each row.
[[nodiscard]] inline std::string torch_schema(std::string_view overload) {
    auto const [op, name] = torch_detail::names_of(overload);
    std::optional<c10::OperatorHandle> const handle = c10::Dispatcher::singleton().findSchema({op, name});
    return handle.has_value() ? c10::toString(handle->schema()) : std::string();
}

/// Calls the operator registered with torch, on the CPU. Throws aton::error with torch's message if torch rejects the call.
[[nodiscard]] inline runtime::aten_results call_torch(sample const& s) {
    auto const [op, overload] = torch_detail::names_of(s.overload);
    try {
        c10::OperatorHandle const handle = c10::Dispatcher::singleton().findSchemaOrThrow(op.c_str(), overload.c_str());
        std::vector<c10::IValue> stack;
        for (c10::Argument const& formal : handle.schema().arguments()) {
            runtime::aten_argument const* given = nullptr;
            for (runtime::aten_argument const& a : s.arguments)
                if (a.name == formal.name()) given = &a;
            if (given != nullptr) stack.push_back(torch_detail::to_torch(*given, formal.real_type()));
            else stack.push_back(formal.default_value().value_or(c10::IValue()));
        }
        at::NoGradGuard const no_gradients;
        handle.callBoxed(stack);
        runtime::aten_results out;
        for (c10::IValue const& v : stack) out.results.push_back(torch_detail::from_torch(v));
        return out;
    } catch (c10::Error const& e) {
        throw error(s.overload + ": " + e.what_without_backtrace());
    } catch (std::exception const& e) {
        throw error(s.overload + ": " + e.what());
    }
}

} // namespace ATON_NAMESPACE::verify

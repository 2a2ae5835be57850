// SPDX-License-Identifier: MIT
// Arguments of calls, as torch's dispatcher passes them, as arguments of nodes.
#include "recorder.hpp"

#include <sstream>

#include <aton/aten/scalar_type.hpp>

namespace ATON_NAMESPACE::torch {

namespace {

c10::TypePtr without_optional(c10::TypePtr const& t) {
    return t->kind() == c10::TypeKind::OptionalType ? t->castRaw<c10::OptionalType>()->getElementType() : t;
}

template <class T>
std::string text_of(T const& v) {
    std::ostringstream out;
    out << v;
    return out.str();
}

scalar number_of(c10::IValue const& v) {
    if (v.isBool()) return scalar(v.toBool());
    if (v.isInt()) return scalar(v.toInt());
    if (v.isDouble()) return scalar(v.toDouble());
    c10::complex<double> const z = v.toComplexDouble();
    return scalar::complex(z.real(), z.imag());
}

bool is_number(c10::IValue const& v) { return v.isBool() || v.isInt() || v.isDouble() || v.isComplexDouble(); }

/// "channels_last"
std::string format_name(at::MemoryFormat format) {
    switch (format) {
    case at::MemoryFormat::Contiguous: return "contiguous_format";
    case at::MemoryFormat::Preserve: return "preserve_format";
    case at::MemoryFormat::ChannelsLast: return "channels_last";
    case at::MemoryFormat::ChannelsLast3d: return "channels_last_3d";
    default: return "unknown";
    }
}

} // namespace

program::argument recorder::list_of(c10::IValue const& v, c10::TypePtr const& element) {
    using made = program::argument;
    c10::TypePtr const of = without_optional(element);
    std::vector<program::value_ref> tensors;
    std::vector<program::number> numbers;
    std::vector<std::string> texts;
    for (c10::IValue const& each : v.toListRef()) {
        if (of->kind() == c10::TypeKind::TensorType)
            tensors.push_back(each.isNone() ? program::value_ref() : program::value_ref(value_of(each.toTensor())));
        else if (of->kind() == c10::TypeKind::StringType) texts.push_back(each.toStringRef());
        else if (is_number(each)) numbers.emplace_back(number_of(each));
        else return made::of_other("a list of " + of->str());
    }
    if (of->kind() == c10::TypeKind::TensorType) return made::of_tensors(std::move(tensors));
    if (of->kind() == c10::TypeKind::StringType) return made::of_texts(std::move(texts));
    return made::of_numbers(std::move(numbers));
}

program::argument recorder::argument_of(c10::IValue const& v, c10::TypePtr const& type) {
    using made = program::argument;
    c10::TypePtr const t = without_optional(type);
    if (v.isNone()) return made::none();
    switch (t->kind()) {
    case c10::TypeKind::TensorType: return made::of_tensor(value_of(v.toTensor()));
    case c10::TypeKind::ListType: return list_of(v, t->castRaw<c10::ListType>()->getElementType());
    case c10::TypeKind::StringType: return made::of_text(v.toStringRef());
    case c10::TypeKind::ScalarTypeType: return made::of_type(aten::scalar_type(v.toInt()));
    case c10::TypeKind::LayoutType:
        return made::of_tag(v.toInt() == static_cast<std::int64_t>(at::kStrided)
                                ? "strided"
                                : text_of(static_cast<at::Layout>(v.toInt())));
    case c10::TypeKind::MemoryFormatType: return made::of_tag(format_name(static_cast<at::MemoryFormat>(v.toInt())));
    case c10::TypeKind::DeviceObjType: return made::of_tag(v.toDevice().str());
    case c10::TypeKind::GeneratorType: return made::none(); // whose numbers are drawn does not matter to a model
    default: break;
    }
    if (is_number(v)) return made::of_number(number_of(v));
    return made::of_other("an argument of type " + t->str());
}

} // namespace ATON_NAMESPACE::torch

// SPDX-License-Identifier: MIT
// Type rules of operators whose dtype or kind no type variable determines: Cast, Constant, random numbers, quantization, sequences,
// optionals.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/ir/shapes/context.hpp>
#include <aton/ir/shapes/layout.hpp>

namespace ATON_NAMESPACE::shapes {

/// The dtype in attribute `name`, or `fallback`.
template <class Context>
dtype dtype_attribute(Context const& c, std::string_view name, dtype fallback) {
    return dtype_from_onnx(c.number(name, static_cast<std::int64_t>(fallback)));
}

/// Cast and BitCast: the shape of the input, the dtype of an attribute.
template <class Context>
void cast(Context& c) {
    c.same(0, 0);
    dtype const to = dtype_attribute(c, "to", dtype::undefined);
    dtype const from = c.element_type(0);
    if (c.node().op == "BitCast" && from != dtype::undefined && to != dtype::undefined && bits(from) != bits(to))
        c.refuse("dtypes of " + std::to_string(bits(from)) + " bits and " + std::to_string(bits(to)) + " bits");
    c.set_dtype(0, to);
}

/// EyeLike, RandomNormalLike and similar: the dtype of an attribute, or else of the input.
template <class Context>
void like(Context& c) {
    if (c.node().op == "EyeLike") c.expect_rank(0, 2, 2);
    c.same(0, 0);
    c.set_dtype(0, dtype_attribute(c, "dtype", c.element_type(0)));
}

template <class Context>
void random(Context& c) {
    c.set_dtype(0, dtype_attribute(c, "dtype", dtype::float32));
    for (std::int64_t const n : c.numbers("shape").values)
        if (n < 0) c.refuse("invalid size " + std::to_string(n));
    if (list const sizes = c.numbers("shape")) c.set(0, to_dims(sizes));
}

template <class Context>
void multinomial(Context& c) {
    c.set_dtype(0, dtype_attribute(c, "dtype", dtype::int32));
    c.expect_rank(0, 2, 2);
    if (c.number("sample_size", 1) < 0) c.refuse("sample_size is negative");
    c.set(0, {c.ranked(0) && c.rank(0) == 2 ? c.in(0)[0] : dim(), c.number("sample_size", 1)});
}

/// BlackmanWindow, HammingWindow, HannWindow.
template <class Context>
void window_function(Context& c) {
    c.set_dtype(0, dtype_attribute(c, "output_datatype", dtype::float32));
    list const size = c.elements(0);
    c.set(0, {size.size() == 1 ? size.as_dim(0) : dim()});
}

template <class Context>
void constant_of_shape(Context& c) {
    node_attribute const* value = c.attribute("value");
    if (value != nullptr && value->tensors.size() == 1 &&
        (value->tensors[0].sizes.size() != 1 || value->tensors[0].element_count() != 1))
        c.refuse("value must be a 1-d tensor of one element");
    c.set_dtype(0, value != nullptr && value->tensors.size() == 1 ? value->tensors[0].type : dtype::float32);
    shape_from(c, 0);
}

template <class Context>
void quantize(Context& c) {
    c.same(0, 0);
    if (!c.has(2)) c.set_dtype(0, dtype_attribute(c, "output_dtype", dtype::uint8));
}

template <class Context>
void dequantize(Context& c) {
    c.same(0, 0);
    c.set_default_dtype(0, dtype_attribute(c, "output_dtype", c.element_type(1)));
}

template <class Context>
void constant(Context& c) {
    if (c.node().attributes.size() != 1) return;
    node_attribute const& a = c.node().attributes[0];
    auto const length = static_cast<std::int64_t>(a.ints.size() + a.floats.size() + a.strings.size());
    if (a.name == "value" && a.tensors.size() == 1) {
        c.set_dtype(0, a.tensors[0].type);
        c.set(0, to_dims({true, a.tensors[0].sizes, {}}));
    } else if (std::string_view const name = a.name; name.starts_with("value_")) {
        c.set_dtype(0,
                    name.starts_with("value_int")     ? dtype::int64
                    : name.starts_with("value_float") ? dtype::float32
                                                      : dtype::string);
        c.set(0, name.ends_with('s') ? dims{dim(length)} : dims{});
    }
}

/// The common shape of the elements of a sequence.
template <class Context>
void common_shape(Context& c, std::size_t operands) {
    dims out = c.in(0);
    for (std::size_t i = 1; i < operands; ++i) {
        if (!c.ranked(i) || c.in(i).size() != out.size()) return;
        for (std::size_t k = 0; k != out.size(); ++k)
            if (!out[k].same_as(c.in(i)[k])) out[k] = dim();
    }
    c.set(0, out);
}

/// SplitToSequence and ConcatFromSequence: the axis has the given size, or is added or removed.
template <class Context>
void along_axis(Context& c, bool added, bool removed, dim const& size) {
    std::int64_t const axis = c.axis(0, c.rank(0) + (added ? 1 : 0));
    if (axis < 0) return;
    dims out;
    append(out, c.in(0), 0, axis);
    if (!removed) out.push_back(size);
    append(out, c.in(0), axis + (added ? 0 : 1), c.rank(0));
    c.set(0, out);
}

/// Operators on sequences: a sequence, or one element.
template <class Context>
void sequence(Context& c) {
    std::string_view const op = c.node().op;
    bool const is_element = op == "SequenceAt" || op == "ConcatFromSequence";
    c.set_default_dtype(0, op == "SequenceEmpty" ? dtype_attribute(c, "dtype", dtype::float32) : c.element_type(0));
    c.set_kind(0, is_element ? value_kind::tensor : value_kind::sequence);
    if (!c.ranked(0)) return;
    if (op == "SequenceAt" || op == "SequenceErase") return c.same(0, 0);
    if (op == "SequenceInsert") return common_shape(c, 2);
    if (op == "SequenceConstruct") return common_shape(c, c.inputs());
    if (op == "ConcatFromSequence") return along_axis(c, c.number("new_axis", 0) != 0, false, dim());
    if (op == "SplitToSequence")
        along_axis(c, false, !c.has(1) && c.number("keepdims", 1) == 0, c.has(1) ? dim() : dim(1));
}

template <class Context>
void optional(Context& c) {
    if (!c.has(0)) return;
    bool const wrap = c.node().op == "Optional";
    bool const of_sequence = c.type(0).kind == value_kind::sequence || c.type(0).kind == value_kind::optional_sequence;
    c.set_default_dtype(0, c.element_type(0));
    if (wrap) c.set_kind(0, of_sequence ? value_kind::optional_sequence : value_kind::optional_tensor);
    else c.set_kind(0, of_sequence ? value_kind::sequence : value_kind::tensor);
    c.same(0, 0);
}

} // namespace ATON_NAMESPACE::shapes

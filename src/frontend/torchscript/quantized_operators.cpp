// SPDX-License-Identifier: MIT
// Modules that torch quantized in eager mode or by FX: tensors of quantized dtypes, packed weights, and the operators quantized::. A quantized tensor
// is held as the floats that it stands for, those between a quantize and a dequantize of quantized_decomposed, so that its products are those of
// floats, as in programs of torch.export.
#include "quantized_operators.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/files/text.hpp"
#include "scalar_codes.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

/// The numbers of torch's quantized dtypes.
struct quantized_type {
    std::int64_t code;
    dtype stored;
    std::int64_t low;
    std::int64_t high;
};
constexpr quantized_type quantized_types[] = {
    {12, dtype::int8, -128, 127},
    {13, dtype::uint8, 0, 255},
    {14, dtype::int32, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}};

/// Operators that move the elements of a quantized tensor, or compare them, and keep its parameters.
constexpr std::string_view moving[] = {
    "aten::alias",           "aten::chunk",         "aten::clone",      "aten::contiguous", "aten::dropout",
    "aten::flatten",         "aten::max_pool1d",    "aten::max_pool2d", "aten::permute",    "aten::relu",
    "aten::relu_",           "aten::reshape",       "aten::select",     "aten::slice",      "aten::squeeze",
    "aten::transpose",       "aten::unsqueeze",     "aten::view",       "aten::cat",        "aten::unflatten",
    "aten::channel_shuffle", "aten::pixel_shuffle", "aten::t"};
/// Operators whose results are rounded to the parameters of their operand.
constexpr std::string_view rounding[] = {"aten::adaptive_avg_pool2d",
                                         "aten::adaptive_avg_pool3d",
                                         "aten::avg_pool2d",
                                         "aten::avg_pool3d",
                                         "aten::mean",
                                         "aten::upsample_nearest2d",
                                         "aten::upsample_bilinear2d",
                                         "aten::hardtanh",
                                         "aten::clamp",
                                         "aten::leaky_relu"};

/// An operator of floats, and what follows it.
struct float_operator {
    std::string_view name; ///< after quantized::
    std::string_view op;
    bool has_relu = false;
    std::size_t operands = 2; ///< the scale and the zero point of the result follow
};
constexpr float_operator float_operators[] = {{"add", "aten::add"},
                                              {"add_relu", "aten::add", true},
                                              {"mul", "aten::mul"},
                                              {"mul_relu", "aten::mul", true},
                                              {"cat", "aten::cat"},
                                              {"cat_relu", "aten::cat", true},
                                              {"layer_norm", "aten::layer_norm", false, 5},
                                              {"group_norm", "aten::group_norm", false, 5},
                                              {"instance_norm", "aten::instance_norm", false, 5},
                                              {"hardswish", "aten::hardswish", false, 1},
                                              {"sigmoid", "aten::sigmoid", false, 1},
                                              {"leaky_relu", "aten::leaky_relu", false, 2},
                                              {"elu", "aten::elu", false, 1}};

template <class Range>
bool is_among(Range const& all, std::string_view name) {
    return std::find(std::begin(all), std::end(all), name) != std::end(all);
}

value attribute(value const& object, std::string_view name) {
    if (object.is() != kind::object) return {};
    auto const found = object.object()->attributes.find(name);
    return found == object.object()->attributes.end() ? value{} : found->second;
}

} // namespace

value quantized_tensor(heap& to, std::string_view scheme, value const& data, std::vector<value> const& parameters) {
    bool const by_channel = scheme.starts_with("per_channel_affine");
    if (parameters.size() != (by_channel ? 3U : 2U) || (!by_channel && scheme != "per_tensor_affine")) return {};
    value made = to.object("quantized tensor");
    auto& attributes = made.object()->attributes;
    attributes["data"] = data;
    attributes["scale"] = parameters[0];
    attributes["zero_point"] = parameters[1];
    if (by_channel) attributes["axis"] = parameters[2];
    return made;
}

void quantized_operators::restore_states() {
    for (instance& object : heap_.instances) {
        auto const state = object.attributes.find("__state__");
        if (state == object.attributes.end() || object.type == nullptr) continue;
        bool const has_method = std::any_of(object.type->methods.begin(),
                                            object.type->methods.end(),
                                            [](function_code const& f) { return f.name == "__setstate__"; });
        if (!has_method) continue;
        value const saved = state->second;
        object.is_loaded = false; // it does not assign, it makes the object
        (void)caller_.call_method(value::of(&object), "__setstate__", {saved});
        object.is_loaded = true;
    }
}

/// A number that is known: a constant, or a tensor of the module with one element.
value quantized_operators::known_parameter(value const& v) {
    if (v.is_number()) return v.as_number();
    if (v.is() == kind::weight) {
        weight const& w = heap_.weights[v.weight()];
        bool const is_written =
            w.value != program::no_value && aliases_.changed().contains(aliases_.memory_of(w.value));
        if (std::optional<value> const number = number_in(w.data); number && !is_written) return number->as_number();
    }
    if (v.is() == kind::symbol) // float(self.scale)
        for (std::size_t i = build_.nodes().size(); i-- > 0;) {
            program::node const& n = build_.nodes()[i];
            if (n.op != "aten::item" || n.results[0].values[0] != v.computed()) continue;
            for (std::size_t w = 0; w != heap_.weights.size(); ++w)
                if (heap_.weights[w].value == n.arguments[0].tensor.index)
                    return known_parameter(value::of(kind::weight, w));
        }
    at_.fail("quantizes with a scale or zero point that is not known");
}

quantization quantized_operators::quantization_of(value const& scale, value const& zero, std::int64_t code) {
    for (quantized_type const& each : quantized_types)
        if (each.code == code) {
            value const step = known_parameter(scale);
            return {step.number()->to<double>(),
                    known_parameter(zero).number()->to<std::int64_t>(),
                    each.low,
                    each.high,
                    each.stored};
        }
    at_.fail("quantizes to the dtype " + std::to_string(code) + ", which is not qint8, quint8 or qint32");
}

/// x rounded to quantized numbers, as the floats that they stand for.
value quantized_operators::quantize(value const& x, quantization const& q) {
    value const out = rounded(
        x, {value::of(q.scale), value::of(q.zero), value::of(q.low), value::of(q.high), value::of(code_of(q.type))});
    parameters_[out.computed()] = q;
    return out;
}

/// The floats of x as quantized numbers with a scale, a zero point, a least and a greatest number, and a dtype.
value quantized_operators::rounded(value const& x, std::vector<value> const& parameters) {
    auto const with = [&](value const& of) {
        call_arguments out{{of}, {}};
        out.positional.insert(out.positional.end(), parameters.begin(), parameters.end());
        return out;
    };
    value const numbers = caller_.call_operator("quantized_decomposed::quantize_per_tensor", with(x));
    return caller_.call_operator("quantized_decomposed::dequantize_per_tensor", with(numbers));
}

/// The floats of a weight of a quantized dtype, as object_reader reads it.
value quantized_operators::dequantized_weight(value const& w) {
    value const data = attribute(w, "data");
    if (data.is() != kind::weight) at_.fail("uses " + std::string(describe(w)) + " as a quantized weight");
    dtype const type = heap_.weights[data.weight()].data.type;
    auto const known = std::ranges::find(quantized_types, type, &quantized_type::stored);
    quantized_type const& range = known == std::end(quantized_types) ? quantized_types[2] : *known;
    value const axis = attribute(w, "axis");
    call_arguments given{{data, attribute(w, "scale"), attribute(w, "zero_point")}, {}};
    if (axis.integer()) {
        given.positional[1] =
            caller_.call_operator("aten::to", {{given.positional[1], value::of(code_of(dtype::float32))}, {}});
        given.positional.push_back(axis);
    }
    for (std::int64_t const n : {range.low, range.high, code_of(type)}) given.positional.push_back(value::of(n));
    return caller_.call_operator(axis.integer() ? "quantized_decomposed::dequantize_per_channel"
                                                : "quantized_decomposed::dequantize_per_tensor",
                                 given);
}

/// The weight and the bias of a packed object, and the numbers of a convolution: stride, padding, dilation and groups.
packed_weight quantized_operators::packed_of(value const& packed) const {
    packed_weight out;
    value const state = attribute(packed, "__state__");
    if (value const w = attribute(packed, "weight"); w.is() != kind::none) {
        out.weight = w;
        out.bias = attribute(packed, "bias");
        if (value const numbers = attribute(packed, "numbers"); numbers.is() == kind::list)
            out.numbers = numbers.list()->items;
        return out;
    }
    if (state.is() == kind::tuple && state.list()->items.size() == 2) { // of a linear layer
        out.weight = state.list()->items[0];
        out.bias = state.list()->items[1];
        return out;
    }
    at_.fail("uses a packed weight of " + std::string(describe(packed)) + " that cannot be read");
}

value quantized_operators::pack(call_arguments const& given) {
    value made = heap_.object("packed weight");
    std::vector<value> const& x = given.positional;
    if (x.size() < 2) at_.fail("packs a weight without a bias");
    made.object()->attributes["weight"] = x[0];
    made.object()->attributes["bias"] = x[1];
    made.object()->attributes["numbers"] = heap_.list(std::vector<value>(x.begin() + 2, x.end()));
    return made;
}

/// A product of x with a packed weight, in floats.
value quantized_operators::packed_product(value const& x, packed_weight const& p, std::string_view name) {
    value const w = attribute(p.weight, "data").is() == kind::none ? p.weight : dequantized_weight(p.weight);
    if (name.starts_with("linear")) return caller_.call_operator("aten::linear", {{x, w, p.bias}, {}});
    if (p.numbers.size() < 4) at_.fail("uses a convolution whose packed weight has no stride");
    call_arguments given{{x, w, p.bias}, {}};
    given.positional.insert(given.positional.end(), p.numbers.begin(), p.numbers.begin() + 4);
    return caller_.call_operator("aten::" + std::string(name.substr(0, 6)), given);
}

value quantized_operators::call_product(std::string_view name, std::vector<value> const& x) {
    bool const has_relu = name.find("_relu") != std::string_view::npos;
    packed_weight const p = packed_of(x[1]);
    if (name.find("_dynamic") != std::string_view::npos) {
        value input = x[0];
        if (name.find("fp16") == std::string_view::npos) { // the activations of the whole tensor share a scale
            bool const reduces = x.size() > 2 && x[2].is_true();
            value const low = value::of(std::int64_t{0});
            value const high = value::of(std::int64_t{reduces ? 127 : 255});
            value const type = value::of(code_of(dtype::uint8));
            value const chosen = caller_.call_operator("quantized_decomposed::choose_qparams",
                                                       {{input, low, high, value::of(6.1e-5), type}, {}});
            input = rounded(input, {chosen.list()->items.at(0), chosen.list()->items.at(1), low, high, type});
        }
        value const y = packed_product(input, p, name);
        return has_relu ? caller_.call_operator("aten::relu", {{y}, {}}) : y;
    }
    if (x.size() < 4) at_.fail("calls " + in_quotes(name) + " without the scale of its result");
    value y = packed_product(x[0], p, name);
    if (has_relu) y = caller_.call_operator("aten::relu", {{y}, {}});
    return quantize(y, quantization_of(x[2], x[3], 13));
}

std::optional<value> quantized_operators::call(std::string const& op, call_arguments const& given) {
    if (is_inside_) return {};
    struct scope {
        explicit scope(bool& flag) : flag_(flag) { flag_ = true; }
        scope(scope const&) = delete;
        scope& operator=(scope const&) = delete;
        ~scope() { flag_ = false; }
        bool& flag_;
    } const inside(is_inside_);
    std::vector<value> const& x = given.positional;
    if (op == "aten::quantize_per_tensor" && x.size() == 4 && x[3].integer())
        return quantize(x[0], quantization_of(x[1], x[2], *x[3].integer()));
    if (op == "aten::quantize_per_channel" && x.size() == 5) return quantize_channels(x);
    if (!op.starts_with("quantized::")) return call_on_quantized(op, given);
    std::string_view const name = std::string_view(op).substr(11);
    if (name.ends_with("_prepack") || name.ends_with("_prepack_fp16")) return pack(given);
    bool const is_product = name.starts_with("linear") || name.starts_with("conv1d") || name.starts_with("conv2d") ||
                            name.starts_with("conv3d");
    if (is_product && x.size() >= 2 && x[1].is() == kind::object) return call_product(name, x);
    if (name == "relu6" && !x.empty()) return requantized(caller_.call_operator("aten::relu6", {{x[0]}, {}}), x[0]);
    for (float_operator const& each : float_operators) {
        if (each.name != name || x.size() != each.operands + 2) continue;
        std::vector<value> operands(x.begin(), x.end() - 2);
        value y = caller_.call_operator(std::string(each.op), {std::move(operands), {}});
        if (each.has_relu) y = caller_.call_operator("aten::relu", {{y}, {}});
        return quantize(y, quantization_of(x[x.size() - 2], x[x.size() - 1], 13));
    }
    return {};
}

/// Operators of torch on quantized tensors.
std::optional<value> quantized_operators::call_on_quantized(std::string const& op, call_arguments const& given) {
    std::vector<value> operands;
    for (value const& each : given.positional) {
        if (each.is() == kind::list || each.is() == kind::tuple)
            operands.insert(operands.end(), each.list()->items.begin(), each.list()->items.end());
        else operands.push_back(each);
    }
    auto const is_quantized = [&](value const& v) {
        return v.is() == kind::tensor && parameters_.contains(v.computed());
    };
    auto const first = std::find_if(operands.begin(), operands.end(), is_quantized);
    if (first == operands.end()) return {};
    quantization const q = parameters_.at(first->computed());
    if (op == "aten::dequantize") return caller_.call_operator("aten::alias", {{*first}, {}});
    if (op == "aten::q_scale") return value::of(q.scale);
    if (op == "aten::q_zero_point") return value::of(q.zero);
    bool const moves = is_among(moving, op);
    if (!moves && !is_among(rounding, op))
        at_.fail("calls " + in_quotes(op) + " on a quantized tensor: dequantize it before");
    value const y = caller_.call_operator(op, given);
    if (!moves) return quantize(y, q);
    std::vector<value> const results = y.is() == kind::list ? y.list()->items : std::vector<value>{y};
    for (value const& each : results)
        if (each.is() == kind::tensor) parameters_[each.computed()] = q;
    return y;
}

void quantized_operators::expect_plain(value const& result, int depth) const {
    if (result.is() == kind::tensor && parameters_.contains(result.computed()))
        at_.fail("returns a quantized tensor, which ONNX does not have: dequantize it before");
    if ((result.is() != kind::list && result.is() != kind::tuple) || depth > 20) return;
    for (value const& each : result.list()->items) expect_plain(each, depth + 1);
}

/// y with the parameters of x.
value quantized_operators::requantized(value const& y, value const& x) {
    auto const found = x.is() == kind::tensor ? parameters_.find(x.computed()) : parameters_.end();
    if (found == parameters_.end()) at_.fail("uses a quantized operator on a tensor that is not quantized");
    return quantize(y, found->second);
}

/// A reference module's weight, quantized for each channel.
value quantized_operators::quantize_channels(std::vector<value> const& x) {
    for (quantized_type const& each : quantized_types) {
        if (x[4].integer() != each.code) continue;
        std::vector<value> parameters = {x[1], x[2], x[3]};
        for (std::int64_t const n : {each.low, each.high, code_of(each.stored)}) parameters.push_back(value::of(n));
        parameters[0] = caller_.call_operator("aten::to", {{x[1], value::of(code_of(dtype::float32))}, {}});
        parameters.insert(parameters.begin(), x[0]);
        value const numbers = caller_.call_operator("quantized_decomposed::quantize_per_channel", {parameters, {}});
        parameters[0] = numbers;
        value const out = caller_.call_operator("quantized_decomposed::dequantize_per_channel", {parameters, {}});
        parameters_[out.computed()] = {1, 0, each.low, each.high, each.stored};
        return out;
    }
    at_.fail("quantizes to a dtype that is not qint8, quint8 or qint32");
}

} // namespace ATON_NAMESPACE::torchscript

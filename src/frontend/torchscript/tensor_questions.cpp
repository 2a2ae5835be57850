// SPDX-License-Identifier: MIT
#include "tensor_questions.hpp"

#include <algorithm>
#include <charconv>

#include <aton/aten/promotion.hpp>
#include <aton/aten/scalar_type.hpp>

#include "frontend/files/text.hpp"
#include "scalar_codes.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

struct fixed_answer {
    std::string_view name;
    bool is;
};

/// Of every tensor of a model: the same on all devices, which are not part of it.
constexpr fixed_answer about_tensors[] = {
    {"is_cpu", true},
    {"is_cuda", false},
    {"is_xpu", false},
    {"is_mps", false},
    {"is_xla", false},
    {"is_ipu", false},
    {"is_mtia", false},
    {"is_maia", false},
    {"is_hpu", false},
    {"is_vulkan", false},
    {"is_meta", false},
    {"is_mkldnn", false},
    {"is_quantized", false},
    {"is_nested", false},
    {"is_sparse", false},
    {"is_sparse_csr", false},
    {"is_inference", false},
    {"is_ort", false},
};

constexpr fixed_answer about_torch[] = {
    {"is_scripting", true},
    {"is_tracing", false},
    {"_get_tracing_state", false},
    {"is_autocast_enabled", false},
    {"is_autocast_cpu_enabled", false},
    {"is_vulkan_available", false},
    {"_use_cudnn_rnn_flatten_weight", false},
    {"has_torch_function", false},
};

template <class Answers>
std::optional<value> answer_of(Answers const& answers, std::string_view name) {
    for (fixed_answer const& each : answers)
        if (each.name == name) return value::of(each.is);
    return {};
}

/// torch.can_cast(): bool < integers < floating < complex.
bool can_cast(dtype from, dtype to) {
    auto const category = [](dtype t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : t == dtype::bool_ ? 0 : 1; };
    return category(from) <= category(to);
}

bool is_true(call_arguments const& given, std::string_view name, std::size_t place) {
    for (auto const& [each, v] : given.named)
        if (each == name) return v.is_true();
    return given.positional.size() > place && given.positional[place].is_true();
}

/// The type and the index of a device.
std::optional<value> answer_about_device(std::string_view name, value const& device) {
    std::string const& text = device.name();
    std::size_t const colon = text.find(':');
    if (name == "type") return value::of(kind::text, text.substr(0, colon));
    if (name != "index") return {};
    if (colon == std::string::npos) return value{};
    std::int64_t index = 0;
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), index);
    return value::of(index);
}

} // namespace

std::optional<value> tensor_questions::call_about_state(std::string_view name, std::vector<value> const& x) {
    if (std::optional<value> out = answer_of(about_torch, name)) return out;
    if (name == "is_grad_enabled") return value::of(gradients_.is_enabled);
    if (name == "set_grad_enabled" && x.size() == 1) {
        gradients_.is_enabled = x[0].is_true();
        return value{};
    }
    if (name == "get_autocast_dtype" && x.size() == 1)
        return value::of(
            code_of(text_of(constant_in(at_, x[0], "a type of device")) == "cpu" ? dtype::bfloat16 : dtype::float16));
    if (name == "device" && x.size() == 1)
        return value::of(kind::device, text_of(constant_in(at_, x[0], "the name of a device")));
    if (name == "warn" || name == "manual_seed" || name == "_print") return value{};
    if (name.starts_with("_no_grad_") && name != "_no_grad_embedding_renorm_" && !x.empty())
        return caller_.call_operator("aten::" + std::string(name.substr(9)), {x, {}});
    if ((name == "broadcast_shapes" || name == "_infer_size") && x.size() == 2 && x[0].is() == kind::list &&
        x[1].is() == kind::list)
        return broadcast_sizes(x[0].list()->items, x[1].list()->items);
    if (name == "_assert") {
        build_.drop("torch._assert");
        return value{};
    }
    if (name == "wait" && x.size() == 1) return x[0]; // fork() has run already
    if (name == "_unwrap_optional" && x.size() == 1) {
        if (x[0].is() == kind::none)
            at_.fail("unwraps an optional value that is None, for which torch raises an exception");
        if (x[0].is() == kind::optional) build_.drop("ops.prim.RaiseException");
        return without_none(x[0]);
    }
    if ((name == "promote_types" || name == "can_cast") && x.size() == 2 && x[0].integer() && x[1].integer()) {
        dtype const a = aten::scalar_type(*x[0].integer());
        dtype const b = aten::scalar_type(*x[1].integer());
        return name == "can_cast" ? value::of(can_cast(a, b)) : value::of(code_of(aten::promote_types(a, b)));
    }
    if (name == "result_type" && x.size() == 2) {
        aten::promotion types;
        for (value const& each : x) {
            if (each.acts_as_tensor()) {
                inferred_type const type = types_.type_of(values_.tensor_of(each));
                types.add_tensor(type.type, !type.has_rank || !type.sizes.empty());
            } else if (each.is_any_number()) {
                types.add_number(values_.type_of_number(each, dtype::float64));
            } else {
                return {};
            }
        }
        return value::of(code_of(types.result()));
    }
    return {};
}

value tensor_questions::broadcast_sizes(std::vector<value> const& a, std::vector<value> const& b) {
    std::vector<value> out = a.size() >= b.size() ? a : b;
    std::vector<value> const& shorter = a.size() >= b.size() ? b : a;
    for (std::size_t i = 0; i != shorter.size(); ++i) {
        value& size = out[out.size() - shorter.size() + i];
        value const& other = shorter[i];
        if (size.integer() == 1) size = other;
        else if (size.integer() && other.integer() && *other.integer() != 1 && *size.integer() != *other.integer())
            at_.fail("broadcasts sizes that differ");
        else if (!size.integer() && other.integer() && *other.integer() != 1)
            size = other; // the other one is 1 or the same
    }
    return heap_.list(std::move(out));
}

value tensor_questions::compare_tensors(bool closely, call_arguments const& given) {
    std::vector<value> const& x = given.positional;
    if (!closely) {
        value const sizes =
            comparisons_.are_equal(*call_about_tensor("size", {{x[0]}, {}}), *call_about_tensor("size", {{x[1]}, {}}));
        std::optional<bool> const are_same = values_.decide(sizes);
        if (!are_same) at_.fail_undecidable("whether two tensors have the same sizes", sizes);
        if (!*are_same) return value::of(false);
    }
    value const same = caller_.call_operator(closely ? "aten::isclose" : "aten::eq", given);
    return values_.convert_number("bool", caller_.call_operator("aten::all", {{same}, {}}));
}

value tensor_questions::to_list(value const& tensor) {
    if (!tensor.acts_as_tensor()) at_.fail("calls tolist() of " + std::string(describe(tensor)));
    inferred_type const type = types_.type_of(values_.tensor_of(tensor));
    if (!type.has_rank) at_.fail("calls tolist() of a tensor whose number of dimensions is not known");
    if (type.sizes.empty()) return values_.convert_number("item", tensor);
    std::optional<program::extent> const& size = type.sizes[0];
    if (!size || !size->is_number())
        at_.fail(
            "calls tolist() of a tensor with a dynamic size, which would be a list whose length the model computes");
    std::vector<value> items;
    for (std::int64_t i = 0; i != size->number; ++i) {
        at_.spend(4);
        items.push_back(
            to_list(caller_.call_operator("aten::select", {{tensor, value::of(std::int64_t{0}), value::of(i)}, {}})));
    }
    return heap_.list(std::move(items));
}

std::optional<value> tensor_questions::call_about_tensor(std::string_view name, call_arguments const& given) {
    std::vector<value> const& x = given.positional;
    if (x.empty()) return {};
    if (x[0].is() == kind::device) return answer_about_device(name, x[0]);
    if (!x[0].acts_as_tensor()) return {};
    if (name == "dtype") return value::of(code_of(types_.type_of(values_.tensor_of(x[0])).type));
    if (name == "device") return value::of(kind::device, "cpu");
    if (name == "layout") return value::of(std::int64_t{0});
    if (name == "data") return caller_.call_operator("aten::detach", given);
    if (name == "grad" || name == "name") return value{};
    if (name == "requires_grad") return value::of(gradients_.requires_gradient(values_.tensor_of(x[0])));
    if (std::optional<value> out = answer_of(about_tensors, name)) return out;
    if (x[0].is_number_as_tensor()) return {};
    if (name == "abs") return caller_.call_operator("aten::abs", given);
    if (name == "is_leaf")
        return value::of(x[0].is() == kind::weight || !gradients_.requires_gradient(values_.tensor_of(x[0])));
    if (name == "item" || name == "ScalarImplicit") return values_.convert_number("item", x[0]);
    if (name == "IntImplicit") return values_.convert_number("int", x[0]);
    if (name == "FloatImplicit") return values_.convert_number("float", x[0]);
    if (name == "is_nonzero") return values_.convert_number("bool", x[0]);
    if ((name == "equal" || name == "allclose") && x.size() >= 2 && x[1].acts_as_tensor()) {
        if (is_true(given, "equal_nan", 4)) at_.fail("calls allclose() with equal_nan, which is not supported");
        return compare_tensors(name == "allclose", given);
    }
    return call_about_type(name, x);
}

std::optional<value> tensor_questions::call_about_type(std::string_view name, std::vector<value> const& x) {
    constexpr std::string_view names[] = {"size",
                                          "dim",
                                          "len",
                                          "numel",
                                          "is_floating_point",
                                          "is_complex",
                                          "is_signed",
                                          "is_conj",
                                          "is_neg",
                                          "get_device",
                                          "element_size",
                                          "itemsize",
                                          "nbytes",
                                          "sym_size",
                                          "is_same_size"};
    if (std::find(std::begin(names), std::end(names), name) == std::end(names)) return {};
    program::value_index const v = values_.tensor_of(x[0]);
    inferred_type const type = types_.type_of(v);
    auto const bytes = static_cast<std::int64_t>(bits(type.type) / 8);
    if (name == "is_floating_point") return value::of(is_floating(type.type));
    if (name == "is_complex") return value::of(is_complex(type.type));
    if (name == "is_signed")
        return value::of(is_floating(type.type) || is_complex(type.type) || is_signed_integral(type.type));
    if (name == "is_neg" || (name == "is_conj" && !is_complex(type.type))) return value::of(false);
    if (name == "get_device") return value::of(std::int64_t{-1});
    if (name == "element_size" || name == "itemsize") return value::of(bytes);
    if (!type.has_rank) at_.fail("the number of dimensions of a tensor is not known");
    std::size_t const rank = type.sizes.size();
    if (name == "dim") return value::of(static_cast<std::int64_t>(rank));
    if (name == "size" && x.size() == 2)
        return values_.size_value(v, static_cast<std::size_t>(position_in(at_, x[1], rank)));
    if (name == "len")
        return values_.size_value(v, static_cast<std::size_t>(position_in(at_, value::of(std::int64_t{0}), rank)));
    std::vector<value> sizes;
    for (std::size_t i = 0; i != rank; ++i) sizes.push_back(values_.size_value(v, i));
    if (name == "numel" || name == "nbytes") {
        value product = value::of(name == "nbytes" ? bytes : std::int64_t{1});
        for (value const& each : sizes) product = values_.arithmetic("_operator.mul", {product, each});
        return product;
    }
    if (name == "is_same_size" && x.size() == 2)
        return comparisons_.are_equal(heap_.list(std::move(sizes)), *call_about_type("size", {x[1]}));
    if (name == "size" || name == "sym_size") return heap_.list(std::move(sizes));
    return {};
}

} // namespace ATON_NAMESPACE::torchscript

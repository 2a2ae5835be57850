// SPDX-License-Identifier: MIT
// Finds the kernel of an overload, and binds arguments to its schema.
#include <aton/runtime/aten_operator.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <string>

#include <aton/aten/default_value.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

#include "call.hpp"
#include "operand_dtypes.hpp"
#include "runtime/error_boundary.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

using aten_kernels::kernel;
using aten_kernels::row;
using kind = aten_argument::kind;

/// Kernels by qualified overload.
std::map<std::string, kernel, std::less<>> const& known_kernels() {
    static auto const known = [] {
        using namespace aten_kernels;
        std::map<std::string, kernel, std::less<>> all;
        for (rows const family : {activation(),
                                  adaptive_pooling(),
                                  attention(),
                                  binary_math(),
                                  bitwise(),
                                  bucketing(),
                                  class_loss(),
                                  comparison(),
                                  conversion(),
                                  convolution(),
                                  creation(),
                                  cumulative(),
                                  decompositions(),
                                  diagonals(),
                                  distances(),
                                  elementwise_binary(),
                                  elementwise_unary(),
                                  embedding(),
                                  fake_quantization(),
                                  histograms(),
                                  indexing(),
                                  joining(),
                                  linear_algebra(),
                                  loss(),
                                  matrix_product(),
                                  norm(),
                                  normalization(),
                                  padding(),
                                  patches(),
                                  pixels(),
                                  pooling(),
                                  random(),
                                  ranges(),
                                  recurrent(),
                                  reduction(),
                                  repeating(),
                                  resize(),
                                  sampling(),
                                  scatter(),
                                  segments(),
                                  selection(),
                                  slicing(),
                                  softmax(),
                                  sorting(),
                                  special_functions(),
                                  spectra(),
                                  splitting(),
                                  statistics(),
                                  transforms(),
                                  unique(),
                                  view()})
            for (row const& r : family) {
                bool const qualified = r.overload.find("::") != std::string_view::npos;
                all.emplace((qualified ? "" : "aten::") + std::string(r.overload), r.run);
            }
        return all;
    }();
    return known;
}

/// "aten::add.Tensor" for "aten::add_.Tensor"; empty if the operator name does not end in an underscore.
std::string without_underscore(std::string_view overload) {
    std::string_view const op = overload.substr(0, overload.find('.'));
    if (op.empty() || op.back() != '_' || op.ends_with("__")) return {};
    return std::string(op.substr(0, op.size() - 1)) + std::string(overload.substr(op.size()));
}

std::string_view plain(std::string_view overload) {
    constexpr std::string_view unnamed = ".default";
    return overload.ends_with(unnamed) ? overload.substr(0, overload.size() - unnamed.size()) : overload;
}

kernel find(std::string_view overload) {
    auto const found = known_kernels().find(overload);
    return found == known_kernels().end() ? nullptr : found->second;
}

/// The dtype of a ScalarType default, which is written as in C++.
dtype type_named(std::string_view name) {
    if (name == "long") return dtype::int64;
    if (name == "float") return dtype::float32;
    if (name == "double") return dtype::float64;
    if (name == "int") return dtype::int32;
    return dtype_from_name(name);
}

aten_argument default_of(aten::schema_argument const& formal, std::string_view overload) {
    aten_argument a;
    a.name = formal.name;
    if (!formal.has_default) {
        if (formal.type.optional) return a;
        throw error(std::string(overload) + ": argument '" + a.name + "' is missing");
    }
    aten::default_value const value = aten::parse_default(formal);
    switch (value.kind()) {
    case aten::default_kind::boolean: a.number = value.as_bool(); break;
    case aten::default_kind::integer:
        if (formal.type.base == aten::base_type::scalar_type && value.as_int() == 4) { // c10::ScalarType::Long
            a.is = kind::type;
            a.type = dtype::int64;
            return a;
        }
        a.number = value.as_int();
        break;
    case aten::default_kind::floating: a.number = value.as_double(); break;
    case aten::default_kind::complex: a.number = scalar::complex(value.real(), value.imaginary()); break;
    case aten::default_kind::string:
        a.is = kind::text;
        a.text = value.text().substr(1, value.text().size() - 2);
        return a;
    case aten::default_kind::int_list:
    case aten::default_kind::float_list:
    case aten::default_kind::bool_list:
        a.is = kind::numbers;
        for (std::size_t i = 0; i != value.size(); ++i)
            a.numbers.push_back(value.kind() == aten::default_kind::int_list     ? scalar(value.int_at(i))
                                : value.kind() == aten::default_kind::float_list ? scalar(value.double_at(i))
                                                                                 : scalar(value.bool_at(i)));
        return a;
    case aten::default_kind::identifier:
        a.is = formal.type.base == aten::base_type::scalar_type ? kind::type : kind::text;
        a.text = value.text();
        a.type = type_named(value.text());
        return a;
    default: return a; // None
    }
    a.is = kind::number;
    return a;
}

/// Binds arguments to the schema: returns all of them in its order.
std::vector<aten_argument> bind(std::string_view overload, std::string_view schema, std::vector<aten_argument> given) {
    std::vector<aten_argument> bound;
    aten::schema_argument formal;
    for (aten::argument_cursor each{schema}; each.next(formal);) {
        auto const found =
            std::find_if(given.begin(), given.end(), [&](aten_argument const& a) { return a.name == formal.name; });
        if (found == given.end()) {
            bound.push_back(default_of(formal, overload));
        } else {
            bound.push_back(std::move(*found));
            given.erase(found);
        }
        if (formal.type.list_size > 1 && bound.back().is == kind::number) { // 3 of an int[2] is [3, 3]
            bound.back().is = kind::numbers;
            bound.back().numbers.assign(static_cast<std::size_t>(formal.type.list_size), bound.back().number);
        }
    }
    if (!given.empty())
        throw error(std::string(overload) + ": the operator does not have an argument '" + given.front().name + "'");
    return bound;
}

/// The results of an in-place operator: the result in the dtype and shape of `self`.
aten_results written_to_self(aten_results from, std::vector<aten_argument> const& bound) {
    if (from.results.empty() || !from.results[0].is_tensor() || bound.empty() || bound[0].is != kind::tensor)
        return from;
    tensor const& self = bound[0].tensor;
    tensor const now = cast(from.results[0].one(), self.dtype());
    if (now.sizes() == self.sizes()) from.results[0] = contiguous(now);
    else from.results[0] = contiguous(now.expanded(self.sizes()));
    from.mutated.emplace_back(bound[0].name, from.results[0].one());
    return from;
}

} // namespace

bool has_aten_operator(std::string_view overload) {
    overload = plain(overload);
    if (find(overload) != nullptr) return true;
    std::string const functional = without_underscore(overload);
    return !functional.empty() && find(functional) != nullptr;
}

std::vector<std::string_view> aten_operators() {
    std::vector<std::string_view> out;
    for (auto const& [name, ignored] : known_kernels()) out.push_back(name);
    return out;
}

namespace {

/// The same view on the device, of the whole underlying memory, so that strided operators see the same strides.
tensor placed(tensor const& x, device where) {
    if (!x || x.where() == where || x.is_strings()) return x;
    tensor const whole = x.viewed({x.storage_count()}, {1}, -x.storage_offset());
    return to_device(whole, where).viewed(x.sizes(), x.strides(), x.storage_offset());
}

} // namespace

aten_results call_aten(std::string_view overload, std::vector<aten_argument> arguments, aten_options const& options) {
    overload = plain(overload);
    std::string_view const schema = aten::find_schema(overload);
    if (schema.empty()) throw error(std::string(overload) + ": ATen does not have this operator");
    kernel run = find(overload);
    bool const writes = run == nullptr;
    if (writes) run = find(without_underscore(overload));
    if (run == nullptr) throw error(std::string(overload) + ": the runtime does not have this operator");
    try {
        for (aten_argument& a : arguments) {
            a.tensor = placed(a.tensor, options.where);
            for (runtime::tensor& t : a.tensors) t = placed(t, options.where);
        }
    } catch (error const& e) {
        throw error(std::string(overload) + ": " + on_one_line(e.what()));
    }
    std::vector<aten_argument> const bound = bind(overload, schema, std::move(arguments));
    try {
        aten_kernels::require_operand_dtypes(writes ? without_underscore(overload) : overload, bound);
        aten_results out = std::move(run(aten_kernels::call(overload, bound, options)).all());
        return writes ? written_to_self(std::move(out), bound) : out;
    } catch (std::exception const& e) { // such as std::bad_alloc
        throw error(std::string(overload) + ": " + on_one_line(e.what()));
    }
}

} // namespace ATON_NAMESPACE::runtime

// SPDX-License-Identifier: MIT
// Finds the kernel of an overload, and binds arguments to its schema.
#include <aton/runtime/aten_operator.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <string>

#include <aton/aten/default_argument.hpp>
#include <aton/aten/scalar_type.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

#include "call.hpp"
#include "libraries.hpp"
#include "operand_dtypes.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The kernels of every family of operators.
std::vector<rows> families() {
    return {activation(),
            activation_backward(),
            adaptive_pooling(),
            affine_quantization(),
            attention(),
            bessel_functions(),
            binary_math(),
            bitwise(),
            bucketing(),
            class_loss(),
            comparison(),
            complex_tensors(),
            conversion(),
            convolution(),
            creation(),
            cumulative(),
            decomposed_quantization(),
            decompositions(),
            deformable_convolution(),
            detection(),
            diagonals(),
            distances(),
            elementwise_binary(),
            elementwise_unary(),
            embedding(),
            fake_quantization(),
            gradients(),
            histograms(),
            incomplete_gamma(),
            indexing(),
            joining(),
            library_quantization(),
            linear_algebra(),
            loss(),
            loss_backward(),
            loss_scaling(),
            masked_indexing(),
            matrix_product(),
            norm(),
            normalization(),
            normalization_backward(),
            orthogonal_polynomials(),
            padding(),
            padding_backward(),
            patches(),
            pixels(),
            pooling(),
            pooling_backward(),
            prims_creation(),
            prims_elementwise(),
            prims_reduction(),
            prims_shape(),
            random(),
            ranges(),
            recurrent(),
            reduction(),
            regions(),
            repeating(),
            resize(),
            resize_backward(),
            sampling(),
            scaled_product(),
            scatter(),
            segments(),
            selection(),
            short_time_transforms(),
            slicing(),
            softmax(),
            sorting(),
            special_functions(),
            spectra(),
            splitting(),
            statistics(),
            transforms(),
            unique(),
            view(),
            zeta_functions()};
}

} // namespace

} // namespace ATON_NAMESPACE::runtime::aten_kernels

namespace ATON_NAMESPACE::runtime {

namespace {

using aten_kernels::kernel;
using aten_kernels::row;
using kind = aten::argument_kind;

/// Kernels by qualified overload.
std::map<std::string, kernel, std::less<>> const& known_kernels() {
    static auto const known = [] {
        std::map<std::string, kernel, std::less<>> all;
        for (aten_kernels::rows const& family : aten_kernels::families())
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

aten_argument default_of(aten::schema_argument const& formal, std::string_view overload) {
    std::string const name(formal.name);
    if (!formal.has_default) {
        if (formal.type.optional) return aten_argument::none().named(name);
        throw error(std::string(overload) + ": argument '" + name + "' is missing");
    }
    auto a = aten::default_argument<aten_argument>(formal).named(name);
    if (formal.type.base != aten::base_type::scalar_type) return a;
    if (a.kind == kind::number)
        return aten_argument::of_type(aten::scalar_type(a.number.to<std::int64_t>())).named(name);
    if (a.kind == kind::tag) return aten_argument::of_type(aten::scalar_type(a.text)).named(name);
    return a;
}

/// Binds arguments to the schema: returns all of them in its order.
std::vector<aten_argument> bind(std::string_view overload, std::string_view schema, std::vector<aten_argument> given) {
    std::vector<aten_argument> bound;
    aten::schema_argument formal;
    for (aten::argument_cursor each{schema}; each.next(formal);) {
        auto const found =
            std::find_if(given.begin(), given.end(), [&](aten_argument const& a) { return a.name == formal.name; });
        bool const is_given = found != given.end() && found->kind != kind::missing;
        bound.push_back(is_given ? std::move(*found) : default_of(formal, overload));
        if (found != given.end()) given.erase(found);
        if (formal.type.list_size > 1 && bound.back().kind == kind::number) { // 3 of an int[2] is [3, 3]
            std::vector<scalar> all(static_cast<std::size_t>(formal.type.list_size), bound.back().number);
            bound.back() = aten_argument::of_numbers(std::move(all)).named(std::string(formal.name));
        }
    }
    if (!given.empty())
        throw error(std::string(overload) + ": the operator does not have an argument '" + given.front().name + "'");
    return bound;
}

/// The results of an in-place operator: the result in the dtype and shape of `self`.
aten_results written_to_self(aten_results from, std::vector<aten_argument> const& bound) {
    if (from.results.empty() || !from.results[0].is_tensor() || bound.empty() || bound[0].kind != kind::tensor)
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
    std::string_view schema = aten::find_schema(overload);
    if (schema.empty()) schema = aten_kernels::library_schema(overload);
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
        throw error(std::string(overload) + ": " + e.what());
    }
    std::vector<aten_argument> const bound = bind(overload, schema, std::move(arguments));
    try {
        aten_kernels::require_operand_dtypes(writes ? without_underscore(overload) : overload, bound);
        aten_results out = std::move(run(aten_kernels::call(overload, bound, options)).all());
        return writes ? written_to_self(std::move(out), bound) : out;
    } catch (std::exception const& e) { // such as std::bad_alloc
        throw error(std::string(overload) + ": " + e.what());
    }
}

} // namespace ATON_NAMESPACE::runtime

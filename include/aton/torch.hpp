// SPDX-License-Identifier: MIT
// Exports modules of PyTorch's C++ front end: runs them, records the operators that they call, and converts these. Link aton::torch.
// Public header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <torch/nn/module.h>

#include <aton/core/error.hpp>
#include <aton/exporter/exporter.hpp>

namespace ATON_NAMESPACE::torch {

/// How to record and to export; the members of the base are those of every export. `dims` makes dimensions of inputs dynamic; equal names
/// are equal sizes. `weights` cannot be weight_mode::reference, because there is no file to refer to, and `model` and `inputs` are not used.
struct export_options : aton::export_options {
    std::vector<std::string> input_names;  ///< by default "input", or "input_0", "input_1", ...
    std::vector<std::string> output_names; ///< by default "output", or "output_0", ...; the keys of a returned map
    /// The sizes at which to run the module, by the name of a dynamic dimension: at least 3, all different, and at least 2. By default the
    /// example's size and some that follow from it, up to 3 n + 6.
    std::map<std::string, std::vector<std::int64_t>> sizes;
    /// More example inputs, one list for each further run, instead of inputs that are made from the first ones by repeating and permuting
    /// their elements: for inputs that depend on each other, such as offsets. At least 2 lists if there are dynamic dimensions.
    std::vector<std::vector<at::Tensor>> examples;
    /// The module whose parameters and buffers a function uses, for their names in the file. Not needed for modules.
    ::torch::nn::Module const* module = nullptr;
};

namespace detail {

struct output {
    std::string name; ///< empty: numbered
    at::Tensor value;
};

using inputs = std::vector<at::Tensor>;
using outputs = std::vector<output>;

/// A module or function without its type.
struct callee {
    std::function<outputs(inputs&)> call;
    ::torch::nn::Module const* module = nullptr;
};

template <class T>
inline constexpr bool is_list = false;
template <class T, class A>
inline constexpr bool is_list<std::vector<T, A>> = true;
template <class T>
concept tuple_like = requires { std::tuple_size<T>::value; };
template <class T>
concept map_like = requires(T const& m) {
    m.begin()->first;
    m.begin()->second;
};
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// Appends the tensors of what `forward` returned.
template <class Returned>
void collect(Returned const& from, outputs& to, std::string const& name) {
    if constexpr (std::is_base_of_v<at::TensorBase, Returned>) to.push_back({name, from});
    else if constexpr (is_optional<Returned>) {
        if (from) collect(*from, to, name);
    } else if constexpr (is_list<Returned>) {
        for (auto const& each : from) collect(each, to, name);
    } else if constexpr (tuple_like<Returned>) {
        std::apply([&](auto const&... each) { (collect(each, to, name), ...); }, from);
    } else if constexpr (map_like<Returned>) {
        for (auto const& [key, each] : from) collect(each, to, std::string(key));
    } else {
        static_assert(sizeof(Returned) == 0,
                      "forward() returns neither tensors nor a tuple, list, optional or map of them: export a function "
                      "that calls it and "
                      "returns its tensors");
    }
}

/// The most tensors that a function may take.
inline constexpr std::size_t max_inputs = 12;

[[noreturn]] void fail_arity(std::size_t given);

/// Calls `f` with as many tensors as there are.
template <std::size_t N, class Function>
outputs call_with(Function const& f, inputs& x) {
    if (x.size() == N) {
        auto const call = [&]<std::size_t... I>(std::index_sequence<I...>) -> outputs {
            if constexpr (requires { f(x[I]...); }) {
                outputs out;
                collect(f(x[I]...), out, {});
                return out;
            } else {
                fail_arity(N);
            }
        };
        return call(std::make_index_sequence<N>());
    }
    if constexpr (N == max_inputs) fail_arity(x.size());
    else return call_with<N + 1>(f, x);
}

template <class T>
concept module_type = std::is_base_of_v<::torch::nn::Module, std::remove_cvref_t<T>>;
template <class T>
concept module_handle = requires(T& t) {
    { *t } -> module_type;
};

template <class Module>
callee callee_of_module(Module& module) {
    auto const forward = [&module](auto&... x) -> decltype(module.forward(x...)) { return module.forward(x...); };
    return {[forward](inputs& x) { return call_with<0>(forward, x); }, &module};
}

/// A module, a holder or shared_ptr of one, or a function.
template <class Function>
callee callee_of(Function& f) {
    if constexpr (module_type<Function>) return callee_of_module(f);
    else if constexpr (module_handle<Function>) return callee_of_module(*f);
    else if constexpr (requires(inputs& x) { f(x); }) {
        return {[&f](inputs& x) {
                    outputs out;
                    collect(f(x), out, {});
                    return out;
                },
                nullptr};
    } else {
        auto const call = [&f](auto&... x) -> decltype(f(x...)) { return f(x...); };
        return {[call](inputs& x) { return call_with<0>(call, x); }, nullptr};
    }
}

[[nodiscard]] program::program trace(callee const& f, inputs const& x, export_options const& options);
export_report export_module(callee const& f, inputs const& x, std::string const& to, export_options const& options);
void check(callee const& f, inputs const& x, std::string const& model);

} // namespace detail

/// The program that a module or function runs on these inputs; `export_module` converts it. `f` is a module, a holder or shared_ptr of one, or
/// a function of tensors (or of a std::vector of them). It must not have side effects beside writes to tensors: it is run several times,
/// without gradients, and the tensors that it wrote to get their old values back. Numbers that it reads from sizes become expressions of the
/// dynamic dimensions. Throws aton::error, one line, for what cannot be recorded: numbers that are read from tensors or whose relation to
/// the sizes is unknown, calls that differ between the runs, and exceptions of the module.
template <class Function>
[[nodiscard]] program::program trace(Function&& f, std::vector<at::Tensor> const& inputs,
                                     export_options const& options = {}) {
    return detail::trace(detail::callee_of(f), inputs, options);
}

/// Exports a module or function to an ONNX file, with its parameters and buffers under their names. It is recorded as by trace(), in its
/// current mode: call eval() first unless you want the dropout of training. Throws aton::error, one line, as trace() and export_file() do.
template <class Function>
export_report export_module(Function&& f, std::vector<at::Tensor> const& inputs, std::string const& to,
                            export_options const& options = {}) {
    return detail::export_module(detail::callee_of(f), inputs, to, options);
}

/// Runs a module or function and an ONNX file on the same inputs, the file on Aton's runtime, and throws aton::error, one line that names
/// the output, if dtypes, sizes or numbers differ by more than rounding. The module's tensors keep their values. Outputs of the file after
/// those of the module (changed buffers) are not compared.
template <class Function>
void check(Function&& f, std::vector<at::Tensor> const& inputs, std::string const& model) {
    detail::check(detail::callee_of(f), inputs, model);
}

} // namespace ATON_NAMESPACE::torch

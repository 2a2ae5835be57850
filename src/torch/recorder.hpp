// SPDX-License-Identifier: MIT
// Records the operators that a function calls as a program whose sizes are numbers: those of one run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <aton/program/program.hpp>
#include <aton/torch.hpp>

#include "memory.hpp"

namespace ATON_NAMESPACE::torch {

/// The parameters and buffers of a module, by their tensors.
struct named_weight {
    std::string name;
    program::input_kind kind = program::input_kind::parameter;
    at::Tensor tensor;
};
using weight_names = std::unordered_map<void const*, named_weight>;
[[nodiscard]] weight_names weights_of(::torch::nn::Module const* module);

/// Whether a module contains the attention of torch's C++ front end.
[[nodiscard]] bool has_attention(::torch::nn::Module const* module);

/// A message of torch or of another library as one line.
[[nodiscard]] std::string first_line(std::string_view text);

/// Copies of tensors, so that no two inputs are the same tensor, and none is a weight.
[[nodiscard]] detail::inputs copies(detail::inputs const& x);

/// Whether two tensors are the same view of the same memory.
[[nodiscard]] bool is_same_view(at::Tensor const& a, at::Tensor const& b);

/// What the memory of a tensor from empty() is filled with, to notice that it is filled by others.
inline constexpr unsigned char blank_byte = 0xa5;

/// Whether the results of an operator are not initialized.
[[nodiscard]] bool leaves_blank(std::string_view op);
void fill_blank(at::Tensor const& t);

/// One run.
struct recording {
    program::program listing;
    std::vector<at::Tensor> weights; ///< of listing.inputs; undefined for the inputs of the user
    std::vector<at::Tensor> outputs; ///< copies
};

/// Records what the current thread calls until it is destroyed. Calls that an operator makes itself are part of it.
class recorder {
public:
    /// `only_outputs`: what cannot be recorded is no error, since only the outputs of the run are wanted.
    recorder(weight_names const& weights, std::string const& file, bool has_attention, bool only_outputs = false);
    recorder(recorder const&) = delete;
    recorder& operator=(recorder const&) = delete;
    ~recorder();

    /// Runs `f`, and returns its program. Memory that it writes to gets its old values back. Throws aton::error.
    [[nodiscard]] recording run(detail::callee const& f, detail::inputs x, export_options const& options);

private:
    /// A tensor without values. Whoever made it may fill it without an operator, as at::tensor({1, 2}) does.
    struct blank {
        at::Tensor tensor;
        program::node made_by;
    };

    static std::unique_ptr<at::ObserverContext> on_start(at::RecordFunction const& f);
    static void on_end(at::RecordFunction const& f, at::ObserverContext* context);
    void start(c10::FunctionSchema const& schema, c10::ArrayRef<c10::IValue const> given);
    void end(std::vector<c10::IValue> const& stack);
    void write(c10::IValue const& given);
    [[nodiscard]] bool is_decided(c10::FunctionSchema const& schema, c10::ArrayRef<c10::IValue const> given) const;

    // arguments.cpp
    [[nodiscard]] program::argument argument_of(c10::IValue const& v, c10::TypePtr const& type);
    [[nodiscard]] program::argument list_of(c10::IValue const& v, c10::TypePtr const& element);

    // tensors.cpp
    [[nodiscard]] program::value_index value_of(at::Tensor const& t);
    [[nodiscard]] program::value_index unknown_value(at::Tensor const& t);
    [[nodiscard]] program::value_index add_value(at::Tensor const& t, std::string_view name);
    [[nodiscard]] program::value_index add_weight(named_weight const& w);
    [[nodiscard]] program::value_index settle(blank const& b);
    [[nodiscard]] program::result result_of(c10::IValue const& v, std::string_view name);
    [[nodiscard]] bool depends_on_inputs(c10::ArrayRef<c10::IValue const> given) const;
    void mark(c10::IValue const& v);
    [[nodiscard]] std::string unique_name(std::string_view wanted);

    void add_output(detail::output const& out, std::size_t index, std::size_t count, export_options const& options);
    void fail(std::string const& what);

    weight_names const& names_;
    bool has_attention_;
    bool only_outputs_;
    at::RecordFunctionGuard enabled_{true};
    recording out_;
    std::vector<at::Tensor> alive_; ///< every tensor that the run met, so that no other one gets its address
    saved_memory saved_;
    std::unordered_map<void const*, program::value_index> values_; ///< by tensor
    std::unordered_map<void const*, blank> blanks_;
    std::unordered_set<void const*> known_;     ///< storages of all values
    std::unordered_set<void const*> made_;      ///< those that operators made in this run
    std::unordered_set<void const*> of_inputs_; ///< those whose elements depend on inputs, are random, or were changed
    std::unordered_map<std::string, std::size_t> used_names_;
    std::optional<program::node> node_; ///< the call that is running
    std::size_t returns_ = 0;           ///< how many results it has
    bool is_of_inputs_ = false;         ///< whether it reads what depends on inputs
    int depth_ = 0;
    std::string problem_; ///< the first refusal; thrown when the function has returned
    at::CallbackHandle handle_ = 0;
};

} // namespace ATON_NAMESPACE::torch

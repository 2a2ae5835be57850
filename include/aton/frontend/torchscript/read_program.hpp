// SPDX-License-Identifier: MIT
// Reads TorchScript archives (torch.jit.save) as programs: interprets the method `forward` for inputs of given types.
// Public header.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/shape.hpp>
#include <aton/core/tensor.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::torchscript {

/// The type of an input, which archives do not record: `x:float32[batch,3,224,224]`; or the value that an argument has in every call.
struct input_type {
    std::string name; ///< an argument of `forward`; "x.0" and "x.key" are elements of a list, tuple or dict
    dtype type = dtype::undefined;
    std::vector<dim> sizes; ///< numbers, or symbols for dynamic dimensions
    /// Instead of a type: a number, string, bool, None or list as Python writes it, "16000". A string needs no quotes.
    std::optional<std::string> constant = {};
};

/// What is known about a result of a node.
struct inferred_type {
    dtype type = dtype::undefined; ///< undefined: unknown
    bool has_rank = false;
    std::vector<std::optional<program::extent>> sizes; ///< extents of the given program; nullopt: unknown
    std::shared_ptr<tensor const> elements = {};       ///< if they are known and asked for
};

/// The types of a result: one, or those of a list of tensors.
struct inferred_result {
    std::vector<inferred_type> types;
    bool is_list = false;
};

/// The elements of small tensors that depend on constants alone. Null: those of a weight of the program.
using known_elements = std::unordered_map<program::value_index, std::shared_ptr<tensor const>>;

/// The result types of `n`, whose arguments are values of `p`. Throws aton::error if the operator cannot be converted, and so has none.
/// `elements` are those of all its tensors, from which those of its results follow; null: some are not known.
using infer_types = std::function<std::vector<inferred_result>(program::program const& p, program::node const& n,
                                                               known_elements const* elements)>;

/// The schemas of the overloads of an operator that torch does not declare, "mylib::scale"; empty if there is none.
using custom_schemas = std::function<std::vector<std::string_view>(std::string_view op)>;

/// What to read, and the knowledge about operators that the reader itself does not have.
struct read_options {
    std::vector<input_type> inputs;
    infer_types infer;
    custom_schemas schemas_of;
};

/// Whether a file is a TorchScript archive. Throws aton::error if it cannot be read.
[[nodiscard]] bool is_archive(std::string const& path);

/// The program that `forward` runs on inputs of these types: methods are inlined, and numbers, lists and conditions that do not depend on
/// data are evaluated. Sizes of dynamic dimensions stay symbolic. Throws aton::error, one line with the file and the line of the code: for
/// archives that are damaged, for inputs that are missing or unknown, and for code that is not supported.
[[nodiscard]] program::program read_program(std::string const& path, read_options const& options);

} // namespace ATON_NAMESPACE::torchscript

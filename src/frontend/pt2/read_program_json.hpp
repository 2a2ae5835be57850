// SPDX-License-Identifier: MIT
// The JSON document of a program, ExportedProgram in torch/_export/serde/schema.py, without the archive around it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/frontend/pt2/archive.hpp>
#include <aton/program/program.hpp>

#include "json_reader.hpp"

namespace ATON_NAMESPACE::pt2 {

/// Finds a weight or constant by its name in the module; throws where there is none.
using tensor_lookup = std::function<stored_tensor(tensor_role, std::string_view)>;

/// `document_name` is what messages start with.
[[nodiscard]] program::program read_program_json(std::string_view json, std::string document_name,
                                                 tensor_lookup const& tensor);

/// GraphSignature: fills inputs and outputs of a program whose main graph has been read.
void read_signature(json_value const& signature, program::program& out, tensor_lookup const& tensor);

/// The keys under which a nest of dicts, tuples and dataclasses returns its leaves ("mx.0"), in their order, as its treespec says
/// (torch/utils/_pytree.py); empty where all are indices. `module`: GraphModule, for the names of named tuples' fields.
/// No keys at all for a treespec that is not understood.
[[nodiscard]] std::vector<std::string> read_output_keys(std::string_view treespec, json_value const& module);

/// The way to each leaf of a nest of arguments: keys, numbers and names of members, in the order of the leaves. Nothing for a treespec
/// that is not understood.
[[nodiscard]] std::vector<std::vector<std::string>> read_leaf_paths(std::string_view treespec,
                                                                    json_value const& module);

/// guards_code of an ExportedProgram whose inputs have been read. What is not understood is kept as text.
void read_guards(json_value const& root, json_value const& module, program::program& out);

} // namespace ATON_NAMESPACE::pt2

// SPDX-License-Identifier: MIT
// The JSON document of a program, ExportedProgram in torch/_export/serde/schema.py, without the archive around it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <aton/frontend/pt2/archive.hpp>
#include <aton/program/program.hpp>

#include "json_reader.hpp"
#include "subclasses.hpp"

namespace ATON_NAMESPACE::pt2 {

/// Finds a weight or constant by its name in the module; throws if it does not exist.
using tensor_lookup = std::function<stored_tensor(tensor_role, std::string_view)>;

/// Finds a weight that is a tensor of a class of Python; null for all others.
using subclass_lookup = std::function<std::shared_ptr<tensor_subclass const>(tensor_role, std::string_view)>;

/// Messages start with `document_name`.
[[nodiscard]] program::program read_program_json(std::string_view json, std::string document_name,
                                                 tensor_lookup const& tensor, subclass_lookup const& subclass = {});

/// GraphSignature: fills inputs and outputs of a program whose main graph has been read. Returns the inputs that are tensors of a class, which
/// have no numbers yet.
[[nodiscard]] std::vector<held_subclass> read_signature(json_value const& signature, program::program& out,
                                                        tensor_lookup const& tensor, subclass_lookup const& subclass);

/// The key of each leaf of a model's outputs ("mx.0"), nested in dicts, tuples and dataclasses, in the order of the leaves. Parsed
/// from the treespec (torch/utils/_pytree.py). A key is empty if its path has only indices. `module`: GraphModule, for the field
/// names of named tuples. Returns nothing if the treespec cannot be parsed.
[[nodiscard]] std::vector<std::string> read_output_keys(std::string_view treespec, json_value const& module);

/// The path to each leaf of nested arguments: keys, indices and member names, in the order of the leaves. Returns nothing if the
/// treespec cannot be parsed.
[[nodiscard]] std::vector<std::vector<std::string>> read_leaf_paths(std::string_view treespec,
                                                                    json_value const& module);

/// Reads guards_code of an ExportedProgram whose inputs have been read. Guards that cannot be parsed are kept as strings.
void read_guards(json_value const& root, json_value const& module, program::program& out);

} // namespace ATON_NAMESPACE::pt2

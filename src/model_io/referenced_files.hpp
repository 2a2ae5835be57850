// SPDX-License-Identifier: MIT
// The files with weights to which a model refers: where they are, seen from the model, and which weights can stay there.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/model_io/weights.hpp>

#include "system/files.hpp"

namespace ATON_NAMESPACE::detail {

using system::file_identity;

[[nodiscard]] std::optional<file_identity> identity_of(std::string const& path);

/// Identities of open files, queried once.
class open_files {
public:
    [[nodiscard]] std::optional<file_identity> const& identity(int file);
    /// Throws aton::error if a weight of the graph is in the file at this path.
    void require_other(graph_data const& graph, std::string const& path);

private:
    std::map<int, std::optional<file_identity>> known_;
};

/// Throws aton::error for a name that ONNX's checker would treat as a path out of the folder.
void require_plain_name(std::string const& path);

class referenced_files {
public:
    /// Throws aton::error if a model at `path` cannot refer to one of the sources: they must be in its folder, or in folders in there, and
    /// neither be nor have links.
    referenced_files(std::string const& path, weight_options const& options, open_files& files);

    /// Whether the bytes of a weight are long enough to stay in their file.
    [[nodiscard]] static bool is_worth_it(stored_tensor const& t);
    /// Why the bytes of a weight cannot be used where they are; empty if they can, perhaps in another order.
    [[nodiscard]] std::string why_not(stored_tensor const& t) const;
    /// The file with a weight that can stay there, relative to the model.
    [[nodiscard]] std::string_view location(stored_tensor const& t) const;

private:
    void add(std::string const& path, std::string const& source);
    [[nodiscard]] std::string const* known(stored_tensor const& t) const;

    open_files& files_;
    std::deque<std::string> names_;
    std::map<file_identity, std::string const*> locations_;
};

} // namespace ATON_NAMESPACE::detail

// SPDX-License-Identifier: MIT
// Which tensors of a file a weight of a program consists of: names with other prefixes, weights that a file has in pieces, tied weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <aton/frontend/weights/bind_weights.hpp>

namespace ATON_NAMESPACE::weights {

/// Throws aton::error for a rule that is not of this form.
void require_valid(name_rule const& rule);

/// The names of a file. Names are views, which must outlive the object.
class weight_names {
public:
    /// `wanted`: the names of the program; `given`: those of the file, sorted. Finds the prefix that most names need to have removed or
    /// added: whether a model was exported with or without the module around it.
    weight_names(std::vector<std::string_view> const& wanted, std::vector<std::string_view> given,
                 std::vector<name_rule> rules);

    /// The tensors of the file that a weight consists of, in this order; none if the file does not have all of them.
    [[nodiscard]] std::vector<std::string> find(std::string_view wanted) const;
    /// The name that the file would have to have.
    [[nodiscard]] std::string expected(std::string_view wanted) const;
    /// The tensors to which models tie a weight of this name: candidates, without a look at their sizes.
    [[nodiscard]] std::vector<std::string> ties(std::string_view wanted) const;

private:
    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] std::string mapped(std::string_view wanted) const;
    [[nodiscard]] std::vector<std::string> pieces(std::string_view list) const;

    std::vector<std::string_view> given_;
    std::vector<name_rule> rules_;
    std::string removed_; ///< prefix of the program's names
    std::string added_;   ///< prefix of the file's names
};

} // namespace ATON_NAMESPACE::weights

// SPDX-License-Identifier: MIT
// Branches and bodies that change attributes of objects from outside: `if ready: self.state = h`. What the attribute holds after it is chosen as
// the value of a variable is.
#include "frontend/files/text.hpp"
#include "interpreter.hpp"

namespace ATON_NAMESPACE::torchscript {

using files::in_quotes;

/// Gives the attributes that one of two branches has changed the value that the condition chooses.
void interpreter::merge_attributes(part const& first, part const& second, merged_outputs& to) {
    outside_attributes all = first.attributes;
    all.insert(second.attributes.begin(), second.attributes.end());
    for (auto const& [key, each] : all) {
        auto const after = [&](part const& branch) -> value const& {
            auto const found = branch.attributes.find(key);
            return found == branch.attributes.end() ? each.object->attributes[key.second] : found->second.held;
        };
        value const merged = merge(after(first), after(second), to, 0);
        if (merged.is() == kind::nothing)
            at_.fail(
                "the attribute " + in_quotes(text_of(attribute_name(each.object->path, key.second))) +
                " is changed in a branch that depends on data: it must hold a number, a tensor of the same dtype and "
                "rank, or a list of them after both branches");
        attributes_.set(*each.object, key.second, merged);
    }
}

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
#include "outside_writes.hpp"

#include <iterator>
#include <utility>

#include "regions.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

/// Lets a variable have another tensor, also in lists and tuples.
void replace_tensor(value& v, program::value_index before, program::value_index now, int depth = 0) {
    if (v.is() == kind::tensor && v.computed() == before) v = value::of(kind::tensor, now);
    bool const has_items =
        v.is() == kind::list || v.is() == kind::tuple || v.is() == kind::optional || v.is() == kind::either;
    if (!has_items || depth > 20) return;
    for (value& each : v.list()->items) replace_tensor(each, before, now, depth + 1);
}

} // namespace

program::value_index outside_writes::clone_in(part& of, program::value_index tensor,
                                              std::vector<program::argument>& outputs) {
    std::vector<program::node> nodes = std::exchange(build_.nodes(), {});
    value const made = caller_.call_operator("aten::clone", {{value::of(kind::tensor, tensor)}, {}});
    std::swap(build_.nodes(), nodes);
    program::value_index const copy = made.computed();
    replace_values(of.nodes, {{tensor, copy}});
    replace_values(outputs, {{tensor, copy}});
    of.nodes.insert(of.nodes.begin(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
    return copy;
}

void outside_writes::write_back(program::value_index tensor, program::value_index now) {
    for (auto& [name, v] : at_.current()->variables) replace_tensor(v, now, tensor);
    attributes_.for_each_assigned([&](value& v) { replace_tensor(v, now, tensor); });
    (void)caller_.call_operator("aten::copy_", {{value::of(kind::tensor, tensor), value::of(kind::tensor, now)}, {}});
}

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
// Branches and bodies that write to a tensor from outside: `if ready: y.add_(1)`, `out[i] = x` in a loop. The part gets a copy of the
// tensor, returns it, and the code around writes it back.
#include <algorithm>
#include <set>
#include <utility>

#include "interpreter.hpp"
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

/// Starts a part with a copy of a tensor, and lets its nodes and outputs use the copy.
program::value_index interpreter::clone_in(part& of, program::value_index tensor,
                                           std::vector<program::argument>& outputs) {
    std::vector<program::node> nodes = std::exchange(build_.nodes(), {});
    value const made = call_operator("aten::clone", {{value::of(kind::tensor, tensor)}, {}});
    std::swap(build_.nodes(), nodes);
    program::value_index const copy = made.computed();
    replace_values(of.nodes, {{tensor, copy}});
    replace_values(outputs, {{tensor, copy}});
    of.nodes.insert(of.nodes.begin(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
    return copy;
}

/// Writes what a part has made of a tensor to the tensor, which variables have instead of the result from now on.
void interpreter::write_back(program::value_index tensor, program::value_index now) {
    for (auto& [name, v] : at_.current()->variables) replace_tensor(v, now, tensor);
    attributes_.for_each_assigned([&](value& v) { replace_tensor(v, now, tensor); });
    (void)call_operator("aten::copy_", {{value::of(kind::tensor, tensor), value::of(kind::tensor, now)}, {}});
}

/// Makes the tensors that the body of a loop writes to part of its state, which the tests and bodies of all iterations share.
std::vector<interpreter::outside_write> interpreter::carry_writes(part& test, part& body, loop_state& state) {
    std::vector<program::value_index> const written = aliases_.written_outside(body.nodes, body.written);
    std::vector<program::value_index> used = state.start;
    collect_free(test.nodes, state.tested, used);
    collect_free(body.nodes, state.outputs, used);
    collect_free(body.nodes, state.collected, used);
    std::vector<outside_write> out;
    auto const position = [&](program::value_index v) {
        return static_cast<std::size_t>(std::find(state.in_body.begin(), state.in_body.end(), v) -
                                        state.in_body.begin());
    };
    std::vector<program::value_index> outside; // what the writes change in the first iteration
    for (program::value_index const v : written) {
        std::size_t const i = position(v);
        outside.push_back(i == state.in_body.size() ? v : state.start[i]);
        // A variable that is another tensor after the iteration: only the first iteration writes to the one from outside.
        if (i != state.in_body.size() && aliases_.same_tensor(state.outputs[i].tensor) != v) return out;
    }
    if (!aliases_.are_apart(outside, used) || !aliases_.written_outside(test.nodes, test.written).empty())
        return out; // refused later, with the line of the write
    for (std::size_t k = 0; k != written.size(); ++k) {
        program::value_index const v = written[k];
        std::size_t const i = position(v);
        program::value_index inside = v;
        if (i == state.in_body.size()) {
            inside = build_.copy_value(v);
            state.start.push_back(v);
            state.in_body.push_back(inside);
            state.in_test.push_back(build_.copy_value(v));
            state.outputs.push_back(program::argument::of_tensor(v));
            for (auto* const each : {&state.outputs, &state.collected}) replace_values(*each, {{v, inside}});
            replace_values(body.nodes, {{v, inside}});
            replace_values(test.nodes, {{v, state.in_test.back()}});
            replace_values(state.tested, {{v, state.in_test.back()}});
        }
        replace_values(state.collected, {{inside, clone_in(body, inside, state.outputs)}});
        out.push_back({outside[k], i});
    }
    return out;
}

/// Lets both branches return the tensors that one of them writes to.
std::vector<interpreter::outside_write> interpreter::merge_writes(part& first, part& second, merged_outputs& to) {
    std::vector<program::value_index> const by_first = aliases_.written_outside(first.nodes, first.written);
    std::vector<program::value_index> const by_second = aliases_.written_outside(second.nodes, second.written);
    std::vector<program::value_index> written = by_first;
    for (program::value_index const v : by_second)
        if (std::find(written.begin(), written.end(), v) == written.end()) written.push_back(v);
    std::vector<program::value_index> used;
    collect_free(first.nodes, to.first, used);
    collect_free(second.nodes, to.second, used);
    std::vector<outside_write> out;
    if (!aliases_.are_apart(written, used)) return out; // refused later, with the line of the write
    for (program::value_index const v : written) {
        auto const in =
            [&](part& branch, std::vector<program::value_index> const& own, std::vector<program::argument>& outputs) {
                bool const writes = std::find(own.begin(), own.end(), v) != own.end();
                outputs.push_back(program::argument::of_tensor(writes ? clone_in(branch, v, outputs) : v));
            };
        in(first, by_first, to.first);
        in(second, by_second, to.second);
        out.push_back({v, to.results.size()});
        to.results.push_back(build_.add_tensor("cond", types_.type_of(v)));
    }
    return out;
}

} // namespace ATON_NAMESPACE::torchscript

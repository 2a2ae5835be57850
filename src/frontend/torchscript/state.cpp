// SPDX-License-Identifier: MIT
// Attributes of the module that forward assigns: buffers, which become outputs, and others, which must not matter.
#include <algorithm>

#include <aton/program/program.hpp>

#include "frontend/files/text.hpp"
#include "interpreter.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

/// Whether two values are the same object, or lists of the same objects.
bool is_same_state(value const& a, value const& b, int depth = 0) {
    if (a.is() != b.is() || depth > 20) return false;
    if (a.is() == kind::list || a.is() == kind::tuple)
        return a.list() == b.list() ||
               std::equal(a.list()->items.begin(),
                          a.list()->items.end(),
                          b.list()->items.begin(),
                          b.list()->items.end(),
                          [&](value const& x, value const& y) { return is_same_state(x, y, depth + 1); });
    if (a.is() == kind::dict || a.is() == kind::object || a.is() == kind::symbol) return false;
    return a.is_same(b);
}

bool is_plain(value const& v) {
    return v.is() == kind::none || v.is_number() || v.is() == kind::text || v.is() == kind::device;
}

} // namespace

void interpreter::assign_attribute(expr const& target, value const& v) {
    std::uint32_t const line = line_;
    std::uint32_t const offset = offset_;
    value const owner = evaluate(target.items[0]);
    line_ = line; // that of the new value
    offset_ = offset;
    if (owner.is() != kind::object) fail("assigns an attribute of " + std::string(describe(owner)));
    expect_inside(owner.object()->serial);
    value& old = owner.object()->attributes[target.text];
    if (owner.object()->is_loaded) {
        bool const was_weight = old.is() == kind::weight;
        bool const is_known_state = std::any_of(assigned_.begin(), assigned_.end(), [&](auto const& each) {
            return each.second.first == owner.object() && each.second.second == target.text;
        });
        if (!was_weight && !is_known_state && !is_same_state(old, v)) {
            std::string const refusal =
                "assigns the attribute " + in_quotes(target.text) +
                " of the module, which would keep its value until the next call; only buffers can";
            if (!is_plain(v) || !is_plain(old)) fail(refusal);
            if (changed_.empty()) change_refusal_ = where() + ": " + refusal;
            changed_[{owner.object()->path, target.text}] = v;
        }
        if (was_weight) assigned_.emplace(old.weight(), std::pair{owner.object(), target.text});
    }
    old = v;
}

/// Gives attributes the values that another call of forward left.
void interpreter::set_initial() {
    if (initial_ == nullptr) return;
    for (instance& object : heap_.instances) {
        if (!object.is_loaded || object.type == nullptr) continue;
        for (auto& [name, held] : object.attributes)
            if (auto const found = initial_->find({object.path, name}); found != initial_->end()) held = found->second;
    }
}

/// An attribute that is a number or a string may change, such as a flag that a warning was given, if all later calls compute the same.
program::program interpreter::run() {
    program::program out = run_once();
    if (changed_.empty()) return out;
    interpreter next(code_, options_);
    next.initial_ = &changed_;
    program::program const again = next.run_once();
    bool const is_stable = std::all_of(next.changed_.begin(), next.changed_.end(), [&](auto const& each) {
        auto const found = changed_.find(each.first);
        return found != changed_.end() && is_same_state(found->second, each.second);
    });
    if (!is_stable || program::to_string(out) != program::to_string(again))
        files::fail(code_.path() + ": " + change_refusal_.substr(0, change_refusal_.find(": ")),
                    change_refusal_.substr(change_refusal_.find(": ") + 2));
    return out;
}

/// New values of buffers that were assigned: `self.count = torch.add(self.count, 1)`.
void interpreter::add_state() {
    for (auto const& [index, place] : assigned_) {
        value const& now = place.first->attributes[place.second];
        if (now.is() == kind::weight && now.weight() == index) continue;
        if (!now.acts_as_tensor())
            fail("assigns " + std::string(describe(now)) + " to the buffer " + in_quotes(place.second));
        program::value_index const old = use_weight(index);
        program::argument a = program::argument::of_tensor(tensor_of(now));
        inferred_type const before = type_of(old);
        if (type_of(a.tensor).sizes != before.sizes)
            fail("assigns a tensor of other sizes to the buffer " + in_quotes(place.second));
        out_.main.outputs.push_back(std::move(a));
        bool const is_parameter = heap_.weights[index].role == program::input_kind::parameter;
        out_.outputs.push_back(
            {is_parameter ? program::output_kind::parameter_mutation : program::output_kind::buffer_mutation,
             heap_.weights[index].name});
    }
}

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
#include "subclasses.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "frontend/files/text.hpp"
#include "opaque_subclasses.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

using program::value_index;

constexpr std::string_view access = "export::access_subclass_inner_tensor";

class expander {
public:
    expander(program::program& p, std::vector<held_subclass> const& held, std::string const& where)
        : program_(p),
          held_(held),
          where_(where),
          inner_(held.size()) {
        for (std::size_t i = 0; i != held.size(); ++i) places_[p.inputs[held[i].input].value] = {i, {}};
    }

    void run() {
        std::vector<program::node> nodes;
        nodes.reserve(program_.main.nodes.size());
        for (program::node& each : program_.main.nodes) {
            for (program::argument& a : each.arguments) program::for_each_value(a, [&](auto& v) { v = current(v); });
            if (each.op == access) {
                open(each);
                continue;
            }
            for (std::size_t i = 0; i != each.arguments.size(); ++i)
                program::for_each_value(each.arguments[i], [&](auto& v) { v = whole(v, each, nodes); });
            nodes.push_back(std::move(each));
        }
        program::node none;
        for (program::argument& a : program_.main.outputs)
            program::for_each_value(a, [&](auto& v) { v = whole(current(v), none, nodes); });
        program_.main.nodes = std::move(nodes);
        replace_inputs();
    }

private:
    /// A tensor of a class, or an object in one.
    struct place {
        std::size_t held = 0;
        std::string path; ///< empty: the weight itself
    };

    [[nodiscard]] value_index current(value_index v) const {
        auto const found = instead_.find(v);
        return found == instead_.end() ? v : found->second;
    }

    [[nodiscard]] std::string name_of(std::size_t held, std::string_view path) const {
        std::string out = program_.inputs[held_[held].input].target;
        return path.empty() ? out : out.append(".").append(path);
    }

    [[noreturn]] void fail(std::size_t held, std::string const& what) const {
        files::fail(where_,
                    "weight " + files::in_quotes(name_of(held, {})) + " is a tensor of class " +
                        files::in_quotes(held_[held].tensor->type()) + what);
    }

    /// An access of an attribute.
    void open(program::node const& n) {
        bool const is_call = n.arguments.size() == 2 && n.arguments[0].kind == program::argument_kind::tensor &&
                             n.arguments[1].kind == program::argument_kind::text && n.results.size() == 1 &&
                             n.results[0].values.size() == 1;
        auto const found = is_call ? places_.find(n.arguments[0].tensor) : places_.end();
        if (found == places_.end())
            files::fail(where_, "node " + files::in_quotes(n.name) + " takes an attribute of a plain tensor");
        place const from = found->second;
        value_index const result = n.results[0].values[0];
        std::string path = from.path.empty() ? n.arguments[1].text : from.path + '.' + n.arguments[1].text;
        subclass_attribute attribute = held_[from.held].tensor->find(path);
        if (attribute.is == subclass_attribute::kind::object) {
            places_[result] = {from.held, std::move(path)};
            return;
        }
        if (attribute.is != subclass_attribute::kind::tensor)
            fail(from.held, " without a tensor " + files::in_quotes(path));
        instead_[result] = add_tensor(from.held, path, std::move(attribute.tensor), result);
    }

    /// The value of an inner tensor: `wanted`, or that of an earlier access of it.
    value_index add_tensor(std::size_t held, std::string const& path, stored_tensor data, value_index wanted) {
        for (program::input const& each : inner_[held])
            if (each.target == name_of(held, path)) return each.value;
        program::value const& known = program_.values[wanted];
        bool is_same = !known.has_type || (known.type == data.type && known.sizes.size() == data.sizes.size());
        for (std::size_t i = 0; is_same && known.has_type && i != data.sizes.size(); ++i)
            is_same = known.sizes[i] == program::extent{data.sizes[i]};
        if (!is_same)
            fail(held,
                 ", whose " + files::in_quotes(path) + " is " + files::type_text(data.type, data.sizes) +
                     ", but the graph has another type");
        program::input made = program_.inputs[held_[held].input];
        made.value = wanted;
        made.target = name_of(held, path);
        made.data = std::move(data);
        inner_[held].push_back(std::move(made));
        return wanted;
    }

    /// A plain tensor in place of one that is used as a whole.
    value_index whole(value_index v, program::node& user, std::vector<program::node>& nodes) {
        auto const found = places_.find(v);
        if (found == places_.end()) return v;
        std::size_t const held = found->second.held;
        if (!found->second.path.empty())
            fail(held, ", whose " + files::in_quotes(found->second.path) + " is used as a whole");
        auto const add = [&](std::string_view path, stored_tensor data) {
            value_index const made = static_cast<value_index>(program_.values.size());
            program::value& value = program_.values.emplace_back();
            value.name = program_.values[v].name + "_" + std::string(path);
            return add_tensor(held, std::string(path), std::move(data), made);
        };
        std::string reason;
        opaque_weight from{program_, nodes, *held_[held].tensor, v, user, add};
        std::optional<value_index> const made = dequantize_opaque(from, reason);
        if (!made) fail(held, reason);
        return *made;
    }

    void replace_inputs() {
        std::vector<program::input> inputs;
        std::vector<value_index> values;
        std::size_t next = 0;
        auto const keep = [&](program::input&& each) {
            values.push_back(each.value);
            inputs.push_back(std::move(each));
        };
        for (std::size_t i = 0; i != program_.inputs.size(); ++i) {
            if (next == held_.size() || held_[next].input != i) {
                keep(std::move(program_.inputs[i]));
                continue;
            }
            for (program::input& each : inner_[next]) keep(std::move(each));
            ++next;
        }
        program_.inputs = std::move(inputs);
        program_.main.inputs = std::move(values);
    }

    program::program& program_;
    std::vector<held_subclass> const& held_;
    std::string const& where_;
    std::vector<std::vector<program::input>> inner_; ///< of each held one
    std::map<value_index, place> places_;
    std::map<value_index, value_index> instead_;
};

} // namespace

void expand_subclasses(program::program& p, std::vector<held_subclass> const& held, std::string const& where) {
    if (!held.empty()) expander(p, held, where).run();
}

} // namespace ATON_NAMESPACE::pt2

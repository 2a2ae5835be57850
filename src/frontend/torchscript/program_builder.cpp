// SPDX-License-Identifier: MIT
#include "program_builder.hpp"

#include <limits>
#include <utility>

#include "regions.hpp"

namespace ATON_NAMESPACE::torchscript {

using ek = program::expression_kind;

program::value_index program_builder::add_value(std::string_view name, program::value_kind k) {
    auto const index = static_cast<program::value_index>(out_.values.size());
    program::value& made = out_.values.emplace_back();
    made.name = unique_name(name);
    made.kind = k;
    return index;
}

program::value_index program_builder::add_tensor(std::string_view name, inferred_type const& type) {
    program::value_index const index = add_value(name, program::value_kind::tensor);
    std::vector<program::extent> all;
    for (auto const& each : type.sizes) all.push_back(each ? *each : fresh_extent());
    program::value& made = out_.values[index];
    made.has_type = true;
    made.type = type.type;
    made.sizes = std::move(all);
    return index;
}

std::string program_builder::unique_name(std::string_view wanted) {
    std::string name(wanted);
    while (name.size() > 1 && name.back() == '_') name.pop_back();
    for (;;) {
        std::size_t const number = names_[name]++;
        if (number == 0) return name;
        std::string next = name + '_' + std::to_string(number);
        if (names_.try_emplace(next, 1).second) return next;
    }
}

std::uint32_t program_builder::origin_here() {
    program::origin made;
    if (at_.current() != nullptr) {
        made.module = at_.current()->module;
        made.module_type = at_.current()->module_type;
    }
    made.source = at_.where();
    auto const [known, is_new] =
        origins_.try_emplace(made.module + '\n' + made.source, static_cast<std::uint32_t>(out_.origins.size()));
    if (is_new) out_.origins.push_back(std::move(made));
    return known->second;
}

program::value_index program_builder::copy_value(program::value_index v) {
    program::value copy = out_.values[v];
    copy.name = unique_name(copy.name);
    out_.values.push_back(std::move(copy));
    return static_cast<program::value_index>(out_.values.size() - 1);
}

program::argument program_builder::make_graph(std::string const& name, std::vector<program::value_index> inputs,
                                              std::vector<program::value_index> const& captured,
                                              std::vector<program::node> nodes,
                                              std::vector<program::argument> outputs) {
    replacements copies;
    for (program::value_index const v : captured) {
        copies[v] = copy_value(v);
        inputs.push_back(copies[v]);
    }
    replace_values(nodes, copies);
    replace_values(outputs, copies);
    auto const index = static_cast<std::int64_t>(out_.subgraphs.size());
    out_.subgraphs.push_back({std::move(inputs), std::move(nodes), std::move(outputs)});
    return program::argument::of_graph(index, name + '_' + std::to_string(index));
}

bounds program_builder::bounds_of_difference(program::extent const& a, program::extent const& b) const {
    program::expression const difference = make_expression(
        ek::add, {expression_of(a), make_expression(ek::mul, {integer_expression(-1), expression_of(b)})});
    return bounds_of(program::substitute(difference, {}), out_.ranges);
}

program::expression program_builder::expression_of(program::extent const& e) const {
    return e.is_number() ? integer_expression(e.number) : out_.expressions[e.expression];
}

program::extent program_builder::extent_of(program::expression e) {
    program::expression plain = program::substitute(e, {});
    if (plain.kind == ek::integer) return {plain.number, program::extent::none};
    std::string text = program::to_string(plain);
    if (text.size() > 2000) at_.fail("a size is too complicated: an expression of more than 2000 characters");
    auto const [known, is_new] =
        expressions_.try_emplace(std::move(text), static_cast<std::uint32_t>(out_.expressions.size()));
    if (is_new) out_.expressions.push_back(std::move(plain));
    return {0, known->second};
}

program::extent program_builder::extent_of(value const& v) {
    if (v.is() == kind::integer || v.is() == kind::boolean)
        return {v.number()->to<std::int64_t>(), program::extent::none};
    if (v.is() != kind::symbol) at_.fail("uses " + std::string(describe(v)) + " as a size");
    std::optional<program::extent>& known = out_.values[v.computed()].symbolic;
    if (!known) known = fresh_extent();
    return *known;
}

program::extent program_builder::fresh_extent() {
    program::expression e;
    e.kind = ek::symbol;
    do {
        e.symbol = "u" + std::to_string(next_symbol_++);
    } while (out_.ranges.contains(e.symbol)); // the user may have named a dimension so
    out_.ranges[e.symbol] = {0, std::numeric_limits<std::int64_t>::max()};
    return extent_of(std::move(e));
}

void program_builder::add_node(program::node n, program::value_index result) {
    n.name = out_.values[result].name;
    n.results.push_back({{result}, false});
    out_.main.nodes.push_back(std::move(n));
}

void program_builder::add_input(program::input in) {
    out_.main.inputs.push_back(in.value);
    out_.inputs.push_back(std::move(in));
}

void program_builder::add_output(program::argument a, program::output about) {
    out_.main.outputs.push_back(std::move(a));
    out_.outputs.push_back(std::move(about));
}

void program_builder::drop(std::string what) { out_.dropped.push_back({std::move(what), at_.where(), true}); }

program::extent program_builder::named_extent(std::string const& name) {
    program::expression e;
    e.kind = ek::symbol;
    e.symbol = name;
    out_.ranges.try_emplace(name, program::symbol_range{1, std::numeric_limits<std::int64_t>::max()});
    return extent_of(std::move(e));
}

} // namespace ATON_NAMESPACE::torchscript

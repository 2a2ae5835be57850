// SPDX-License-Identifier: MIT
#include "graph_reader.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <aton/core/cancellation.hpp>
#include <aton/core/nearest.hpp>
#include <aton/frontend/pt2/archive.hpp>

#include "frontend/files/text.hpp"
#include "renamed_arguments.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

using program::value_kind;

/// The entries of a table by name; a missing table has none.
std::unordered_map<std::string_view, json_value> index_table(std::optional<json_value> const& table) {
    std::unordered_map<std::string_view, json_value> out;
    if (!table) return out;
    out.reserve(table->size());
    table->for_each_member([&](json_value const& entry) {
        if (!out.emplace(entry.key(), entry).second) entry.fail("duplicate name in this table");
    });
    return out;
}

} // namespace

dtype read_scalar_type(json_value const& code) {
    std::int64_t const number = code.integer();
    dtype const found = dtype_of_scalar_type(number);
    if (found == dtype::undefined)
        code.fail("unknown ScalarType " + std::to_string(number) +
                  "; the file is damaged, or newer than this version of Aton");
    return found;
}

std::string_view read_layout(json_value const& code) {
    constexpr std::array<std::string_view, 8> names{
        "", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "strided"};
    std::int64_t const number = code.integer();
    if (number < 1 || number >= static_cast<std::int64_t>(names.size()))
        code.fail("unknown Layout " + std::to_string(number) +
                  "; the file is damaged, or newer than this version of Aton");
    return names[static_cast<std::size_t>(number)];
}

program::graph graph_reader::read_graph(json_value const& graph, int depth) {
    if (depth > max_graph_depth)
        graph.fail("graphs are nested more than " + std::to_string(max_graph_depth) + " levels deep");
    // The values of the scope point to their tables: these live as long as it does.
    std::optional<json_value> const tensors = graph.member("tensor_values");
    std::optional<json_value> const sym_ints = graph.optional_member("sym_int_values");
    std::optional<json_value> const sym_floats = graph.optional_member("sym_float_values");
    std::optional<json_value> const sym_bools = graph.optional_member("sym_bool_values");
    graph_scope scope{{}, index_table(tensors), index_table(sym_ints), index_table(sym_floats), index_table(sym_bools)};
    scope.values.reserve(scope.tensors.size() + scope.sym_ints.size());
    out_.values.reserve(out_.values.size() + scope.tensors.size() + scope.sym_ints.size());

    program::graph out;
    json_value const inputs = graph.member("inputs");
    out.inputs.reserve(inputs.size());
    inputs.for_each(
        [&](json_value const& each, std::size_t) { out.inputs.push_back(define_graph_input(each, scope)); });

    json_value const nodes = graph.member("nodes");
    out.nodes.reserve(nodes.size());
    std::string_view const outer = place_.node;
    nodes.for_each([&](json_value const& each, std::size_t index) {
        stop_if_cancelled();
        out.nodes.push_back(read_node(each, index, scope, depth));
        place_.node = outer;
    });

    json_value const outputs = graph.member("outputs");
    out.outputs.reserve(outputs.size());
    outputs.for_each(
        [&](json_value const& each, std::size_t) { out.outputs.push_back(read_argument(each, scope, depth)); });
    return out;
}

program::value_index graph_reader::define(json_value const& name, value_kind kind, graph_scope& scope) {
    std::string_view const text = name.name();
    auto const index = static_cast<program::value_index>(out_.values.size());
    if (!scope.values.emplace(text, index).second) name.fail("a second value named " + files::in_quotes(text));
    program::value& made = out_.values.emplace_back();
    made.name = text;
    made.kind = kind;
    auto const find_entry = [&](auto const& table) {
        auto const found = table.find(text);
        made.has_type = found != table.end();
        return made.has_type ? &found->second : nullptr;
    };
    switch (kind) {
    case value_kind::tensor:
        if (json_value const* const meta = find_entry(scope.tensors)) describe_tensor(*meta, made);
        break;
    case value_kind::sym_int:
        if (json_value const* const size = find_entry(scope.sym_ints)) made.symbolic = expressions_.extent(*size);
        break;
    case value_kind::sym_float: find_entry(scope.sym_floats); break;
    case value_kind::sym_bool: find_entry(scope.sym_bools); break;
    case value_kind::custom_object:
    case value_kind::token: break;
    }
    return index;
}

void graph_reader::describe_tensor(json_value const& meta, program::value& out) {
    json_value const type = meta.member("dtype");
    json_value const sizes = meta.member("sizes");
    json_value const strides = meta.member("strides");
    out.type = read_scalar_type(type);
    out.sizes = read_extents(sizes);
    out.strides = read_extents(strides);
    if (auto const offset = meta.optional_member("storage_offset")) out.storage_offset = expressions_.extent(*offset);
    if (auto const layout = meta.optional_member("layout")) out.strided = read_layout(*layout) == "strided";
    if (out.strided && out.strides.size() != out.sizes.size())
        meta.fail(std::to_string(out.sizes.size()) + " sizes, but " + std::to_string(out.strides.size()) + " strides");
}

std::vector<program::extent> graph_reader::read_extents(json_value const& list) {
    std::vector<program::extent> out;
    out.reserve(list.size());
    list.for_each([&](json_value const& each, std::size_t) {
        program::extent const read = expressions_.extent(each);
        if (read.is_number() && read.number < 0)
            each.fail("negative size " + std::to_string(read.number) + "; the file is damaged");
        out.push_back(read);
    });
    return out;
}

program::value_index graph_reader::define_graph_input(json_value const& argument, graph_scope& scope) {
    json_value const held = argument.only_member();
    std::string_view const tag = held.key();
    auto const defined_by = [&](std::string_view key, value_kind kind) {
        json_value const name = held.member(key);
        return define(name, kind, scope);
    };
    if (tag == "as_tensor") return defined_by("name", value_kind::tensor);
    if (tag == "as_custom_obj") return defined_by("name", value_kind::custom_object);
    for (auto const& [symbolic, kind] : {std::pair{"as_sym_int", value_kind::sym_int},
                                         std::pair{"as_sym_float", value_kind::sym_float},
                                         std::pair{"as_sym_bool", value_kind::sym_bool}}) {
        if (tag != symbolic) continue;
        return held.optional_member("as_name") ? defined_by("as_name", kind) : program::no_value;
    }
    for (std::string_view const baked : {"as_none", "as_int", "as_float", "as_string", "as_bool"})
        if (tag == baked) return program::no_value;
    argument.fail("an input cannot be " + files::in_quotes(tag));
}

program::result graph_reader::define_result(json_value const& argument, graph_scope& scope) {
    json_value const held = argument.only_member();
    std::string_view const tag = held.key();
    program::result out;
    if (tag == "as_none") return out;
    if (tag == "as_tensors") {
        out.is_list = true;
        out.values.reserve(held.size());
        held.for_each([&](json_value const& each, std::size_t) {
            json_value const name = each.member("name");
            out.values.push_back(define(name, value_kind::tensor, scope));
        });
        return out;
    }
    if (tag == "as_optional_tensor") {
        json_value const either = held.only_member();
        if (either.key() == "as_none") return out;
        if (either.key() != "as_tensor")
            held.fail("expected as_tensor or as_none, found " + files::in_quotes(either.key()));
        json_value const name = either.member("name");
        out.values.push_back(define(name, value_kind::tensor, scope));
        return out;
    }
    bool const has_value = tag == "as_tensor" || tag == "as_custom_obj" || tag == "as_sym_int" ||
                           tag == "as_sym_float" || tag == "as_sym_bool";
    if (!has_value) argument.fail("a result cannot be " + files::in_quotes(tag));
    out.values.push_back(define_graph_input(argument, scope));
    if (out.values[0] == program::no_value) held.fail("a result has no name");
    return out;
}

program::node graph_reader::read_node(json_value const& node, std::size_t index, graph_scope& scope, int depth) {
    program::node out;
    json_value const target = node.member("target");
    json_value const inputs = node.member("inputs");
    json_value const outputs = node.member("outputs");
    // The name of the node in messages.
    place_.node = target.name();
    if (auto const name = node.optional_member("name")) {
        place_.node = name->name();
        out.name = place_.node;
    }
    operator_info const& named = operators_.find(target.name());
    bool const has_token = named.op == "higher_order::with_effects";
    operator_info const& info = has_token ? operators_.find(ordered_operator(inputs)) : named;
    out.kind = info.kind;
    out.op = info.op;
    out.schema = info.schema;
    out.origin = read_origin(node);
    bind_arguments(inputs, has_token ? 2 : 0, info, out, scope, depth);
    out.results.reserve(outputs.size());
    outputs.for_each([&](json_value const& each, std::size_t) { out.results.push_back(define_result(each, scope)); });
    if (has_token) drop_token(outputs, info, out);
    check_results(outputs, info, out);
    if (!out.name.empty()) return out;
    // torch 2.10 and older: a node is named after its first result.
    bool const has_result = !out.results.empty() && !out.results[0].values.empty();
    out.name = has_result ? out_.values[out.results[0].values[0]].name : "node_" + std::to_string(index);
    return out;
}

/// The operator of with_effects(token, operator, ...). The order of the nodes is that of the tokens, so that none are kept.
std::string_view graph_reader::ordered_operator(json_value const& inputs) {
    std::string_view found;
    inputs.for_each([&](json_value const& each, std::size_t position) {
        if (position != 1) return;
        json_value const argument = each.member("arg");
        json_value const held = argument.only_member();
        if (held.key() == "as_operator") found = held.name();
    });
    if (found.empty()) inputs.fail("with_effects requires a token and an operator");
    return found;
}

/// Leaves the results of the operator, which follow the next token. That an operator has no result is recorded as None.
void graph_reader::drop_token(json_value const& outputs, operator_info const& info, program::node& out) {
    if (out.results.empty()) outputs.fail("with_effects requires a token as its first result");
    out.results.erase(out.results.begin());
    bool const is_none = out.results.size() == 1 && out.results[0].values.empty() && !out.results[0].is_list;
    if (is_none && info.returns.empty()) out.results.clear();
}

std::uint32_t graph_reader::read_origin(json_value const& node) {
    std::optional<json_value> const metadata = node.optional_member("metadata");
    if (!metadata) return 0;
    std::string_view modules;
    std::string_view trace;
    metadata->for_each_member([&](json_value const& each) {
        if (each.key() == "nn_module_stack" && each.is_text()) modules = each.text();
        if (each.key() == "stack_trace" && each.is_text()) trace = each.text();
    });
    return origins_.find(modules, trace);
}

/// The index of an argument in the schema, and its name; npos without a schema.
std::size_t graph_reader::bind_name(json_value const& input, std::size_t position, operator_info const& info,
                                    std::string& name) const {
    json_value const given = input.member("name");
    name = given.text();
    if (info.any_arguments) return std::string_view::npos;
    auto const& known = info.arguments;
    if (name.empty()) {
        if (position >= known.size() || known[position].keyword_only)
            given.fail("too many positional arguments of " + info.op);
        name = known[position].name;
        return position;
    }
    if (position < known.size() && known[position].name == name) return position;
    auto const place_of = [&](std::string_view wanted) {
        auto const found =
            std::find_if(known.begin(), known.end(), [&](auto const& each) { return each.name == wanted; });
        return found == known.end() ? std::string_view::npos : static_cast<std::size_t>(found - known.begin());
    };
    if (std::size_t const place = place_of(name); place != std::string_view::npos) return place;
    if (std::size_t const place = place_of(name_here(info.op, name)); place != std::string_view::npos) {
        name = known[place].name;
        return place;
    }
    nearest most_like(name);
    for (aten::schema_argument const& each : known) most_like.offer(each.name);
    std::string what = info.op + " has no argument " + files::in_quotes(name);
    if (!most_like.found().empty()) what.append("; the nearest is '").append(most_like.found()).append("'");
    given.fail(what);
}

void graph_reader::bind_arguments(json_value const& inputs, std::size_t skipped, operator_info const& info,
                                  program::node& out, graph_scope& scope, int depth) {
    std::vector<bool> is_given(info.arguments.size());
    out.arguments.reserve(inputs.size());
    inputs.for_each([&](json_value const& each, std::size_t position) {
        if (position < skipped) return;
        std::string name;
        std::size_t const place = bind_name(each, position - skipped, info, name);
        if (place != std::string_view::npos) {
            if (is_given[place]) each.fail("duplicate argument " + files::in_quotes(name) + " of " + info.op);
            is_given[place] = true;
        }
        json_value const argument = each.member("arg");
        out.arguments.push_back(read_argument(argument, scope, depth, info.kind == program::node_kind::higher_order)
                                    .named(std::move(name)));
    });
    if (info.any_arguments) return;
    for (std::size_t i = 0; i != is_given.size(); ++i)
        if (!is_given[i] && !info.arguments[i].has_default)
            inputs.fail(info.op + " requires the argument " + files::in_quotes(info.arguments[i].name));
}

void graph_reader::check_results(json_value const& outputs, operator_info const& info,
                                 program::node const& node) const {
    if (info.schema.empty() || info.any_returns) return;
    if (node.results.size() != info.returns.size())
        outputs.fail(info.op + " has " + std::to_string(info.returns.size()) + " results, but the node has " +
                     std::to_string(node.results.size()));
    for (std::size_t i = 0; i != node.results.size(); ++i) {
        bool const none = node.results[i].values.empty() && !node.results[i].is_list;
        if (!none && node.results[i].is_list != info.returns[i].type.list)
            outputs.fail("result " + std::to_string(i) + " of " + info.op + " is " +
                         (node.results[i].is_list ? "a list, but the schema declares a single value"
                                                  : "a single value, but the schema declares a list"));
    }
}

} // namespace ATON_NAMESPACE::pt2

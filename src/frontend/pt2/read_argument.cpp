// SPDX-License-Identifier: MIT
// Reads the Argument union of torch/_export/serde/schema.py, all of its tags.
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "graph_reader.hpp"
#include "text.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

using program::argument_kind;
using program::value_kind;

std::string_view describe(value_kind kind) {
    switch (kind) {
    case value_kind::tensor: return "a tensor";
    case value_kind::sym_int: return "a SymInt";
    case value_kind::sym_float: return "a SymFloat";
    case value_kind::sym_bool: return "a SymBool";
    case value_kind::custom_object: return "an object";
    case value_kind::token: return "a token";
    }
    return "something else";
}

/// "channels_last", as in torch's schemas.
std::string_view read_memory_format(json_value const& code) {
    constexpr std::array<std::string_view, 5> names{
        "", "contiguous_format", "channels_last", "channels_last_3d", "preserve_format"};
    std::int64_t const number = code.integer();
    if (number < 1 || number >= static_cast<std::int64_t>(names.size()))
        code.fail("unknown MemoryFormat " + std::to_string(number) +
                  "; the file is damaged, or newer than this version of Aton");
    return names[static_cast<std::size_t>(number)];
}

/// "cuda:0".
std::string read_device(json_value const& device) {
    json_value const type = device.member("type");
    std::string out(type.name());
    auto const index = device.optional_member("index");
    if (!index) return out;
    if (index->integer() < 0)
        index->fail("negative index " + std::to_string(index->integer()) + "; the file is damaged");
    return out.append(":").append(std::to_string(index->integer()));
}

/// Arguments that ATen operators do not take, and their names in messages.
struct other_row {
    std::string_view tag;
    std::string_view text;
};
constexpr other_row others[] = {
    {"as_nested_tensors", "lists of tensors"},
    {"as_int_lists", "lists of integers"},
    {"as_float_lists", "lists of numbers"},
    {"as_string_to_argument", "a dict of arguments"},
};

} // namespace

void graph_reader::read_argument(json_value const& argument, program::argument& out, graph_scope& scope, int depth) {
    json_value const held = argument.only_member();
    std::string_view const tag = held.key();
    if (tag == "as_tensor") {
        out.kind = argument_kind::value;
        out.values.push_back(find_tensor(held, scope));
    } else if (tag == "as_tensors") {
        out.kind = argument_kind::values;
        out.values.reserve(held.size());
        held.for_each([&](json_value const& each, std::size_t) { out.values.push_back(find_tensor(each, scope)); });
    } else if (tag == "as_optional_tensors") {
        out.kind = argument_kind::values;
        out.values.reserve(held.size());
        held.for_each(
            [&](json_value const& each, std::size_t) { out.values.push_back(find_optional_tensor(each, scope)); });
    } else if (tag == "as_optional_tensor") {
        program::value_index const found = find_optional_tensor(held, scope);
        if (found == program::no_value) return;
        out.kind = argument_kind::value;
        out.values.push_back(found);
    } else if (tag == "as_graph") {
        read_subgraph(held, out, depth);
    } else if (tag == "as_custom_obj") {
        json_value const name = held.member("name");
        auto const found = scope.values.find(name.name());
        if (found != scope.values.end() && out_.values[found->second].kind == value_kind::custom_object) {
            out.kind = argument_kind::value;
            out.values.push_back(found->second);
        } else {
            json_value const type = held.member("class_fqn");
            out.kind = argument_kind::other;
            out.text = "an object of " + std::string(type.name());
        }
    } else if (!read_plain_argument(held, out) && !read_symbolic_argument(held, out, scope) &&
               !read_other_argument(held, out)) {
        argument.fail("unknown kind of argument " + in_quotes(tag) +
                      "; the file is damaged, or newer than this version of Aton");
    }
}

/// Numbers, strings and enumerations. False for other tags.
bool graph_reader::read_plain_argument(json_value const& held, program::argument& out) const {
    std::string_view const tag = held.key();
    auto const each = [&](auto& list, auto read) {
        list.reserve(held.size());
        held.for_each([&](json_value const& item, std::size_t) { list.push_back(read(item)); });
    };
    if (tag == "as_int") {
        out.kind = argument_kind::integer;
        out.integer = held.integer();
    } else if (tag == "as_ints") {
        out.kind = argument_kind::integers;
        each(out.integers, [](json_value const& item) { return item.integer(); });
    } else if (tag == "as_none") {
        // torch 2.4 and 2.5 wrote an empty list.
        if (!held.is_array() && !held.boolean()) held.fail("expected true");
    } else if (tag == "as_bool") {
        out.kind = argument_kind::boolean;
        out.integer = held.boolean() ? 1 : 0;
    } else if (tag == "as_float") {
        out.kind = argument_kind::real;
        out.real = held.real();
    } else if (tag == "as_floats") {
        out.kind = argument_kind::reals;
        each(out.reals, [](json_value const& item) { return item.real(); });
    } else if (tag == "as_bools") {
        out.kind = argument_kind::booleans;
        each(out.integers, [](json_value const& item) { return item.boolean() ? std::int64_t{1} : std::int64_t{0}; });
    } else if (tag == "as_scalar_type") {
        out.kind = argument_kind::type;
        out.type = read_scalar_type(held);
        if (out.type == dtype::undefined) out.text = "complex32";
    } else if (tag == "as_memory_format") {
        out.kind = argument_kind::memory_format;
        out.text = read_memory_format(held);
    } else if (tag == "as_layout") {
        out.kind = argument_kind::layout;
        out.text = read_layout(held);
    } else if (tag == "as_device") {
        out.kind = argument_kind::device;
        out.text = read_device(held);
    } else if (tag == "as_string") {
        out.kind = argument_kind::text;
        out.text = held.text();
    } else if (tag == "as_strings") {
        out.kind = argument_kind::texts;
        each(out.texts, [](json_value const& item) { return std::string(item.text()); });
    } else if (tag == "as_complex") {
        json_value const real = held.member("real");
        json_value const imaginary = held.member("imag");
        out.kind = argument_kind::complex;
        out.reals = {real.real(), imaginary.real()};
    } else {
        return false;
    }
    return true;
}

/// A number that a node may compute, or a list of them. False for other tags.
bool graph_reader::read_symbolic_argument(json_value const& held, program::argument& out,
                                          graph_scope const& scope) const {
    struct row {
        std::string_view one;
        std::string_view many;
        std::string_view number; ///< the tag of a constant
        value_kind kind;
        argument_kind single;
        argument_kind list;
    };
    constexpr row rows[] = {
        {"as_sym_int", "as_sym_ints", "as_int", value_kind::sym_int, argument_kind::integer, argument_kind::integers},
        {"as_sym_bool",
         "as_sym_bools",
         "as_bool",
         value_kind::sym_bool,
         argument_kind::boolean,
         argument_kind::booleans},
        {"as_sym_float", "as_sym_floats", "as_float", value_kind::sym_float, argument_kind::real, argument_kind::reals},
    };
    std::string_view const tag = held.key();
    row const* found = nullptr;
    for (row const& each : rows)
        if (tag == each.one || tag == each.many) found = &each;
    if (found == nullptr) return false;

    // The value, or no_value and the number.
    auto const read_one = [&](json_value const& item, std::int64_t& integer, double& real) {
        json_value const either = item.only_member();
        if (either.key() == "as_name") return find_value(either, found->kind, scope);
        if (either.key() != found->number)
            item.fail("expected as_name or " + std::string(found->number) + ", found " + in_quotes(either.key()));
        if (found->kind == value_kind::sym_int) integer = either.integer();
        else if (found->kind == value_kind::sym_bool) integer = either.boolean() ? 1 : 0;
        else real = either.real();
        return program::no_value;
    };

    if (tag == found->one) {
        program::value_index const value = read_one(held, out.integer, out.real);
        out.kind = value == program::no_value ? found->single : argument_kind::value;
        if (value != program::no_value) out.values.push_back(value);
        return true;
    }
    out.kind = found->list;
    bool any_computed = false;
    out.values.reserve(held.size());
    held.for_each([&](json_value const& item, std::size_t) {
        std::int64_t integer = 0;
        double real = 0;
        out.values.push_back(read_one(item, integer, real));
        any_computed = any_computed || out.values.back() != program::no_value;
        if (found->list == argument_kind::reals) out.reals.push_back(real);
        else out.integers.push_back(integer);
    });
    if (!any_computed) out.values.clear();
    return true;
}

bool graph_reader::read_other_argument(json_value const& held, program::argument& out) {
    if (held.key() == "as_operator") {
        out.kind = argument_kind::op;
        out.text = operators_.find(held.name()).op;
        return true;
    }
    for (other_row const& row : others) {
        if (held.key() != row.tag) continue;
        if (!held.is_array() && !held.is_object()) held.fail("expected " + std::string(row.text));
        out.kind = argument_kind::other;
        out.text = row.text;
        return true;
    }
    return false;
}

void graph_reader::read_subgraph(json_value const& held, program::argument& out, int depth) {
    json_value const name = held.member("name");
    json_value const inner = held.member("graph");
    out.kind = argument_kind::graph;
    out.text = name.name();
    program::graph made = read_graph(inner, depth + 1);
    // After the graphs nested in it.
    out.integer = static_cast<std::int64_t>(out_.subgraphs.size());
    out_.subgraphs.push_back(std::move(made));
}

program::value_index graph_reader::find_value(json_value const& name, value_kind kind, graph_scope const& scope) const {
    std::string_view const text = name.text();
    auto const found = scope.values.find(text);
    if (found == scope.values.end())
        name.fail("value " + in_quotes(text) + " is not defined before this use; the file is damaged");
    value_kind const known = out_.values[found->second].kind;
    if (known != kind)
        name.fail(in_quotes(text) + " is " + std::string(describe(known)) + ", expected " +
                  std::string(describe(kind)));
    return found->second;
}

program::value_index graph_reader::find_tensor(json_value const& tensor, graph_scope const& scope) const {
    json_value const name = tensor.member("name");
    return find_value(name, value_kind::tensor, scope);
}

program::value_index graph_reader::find_optional_tensor(json_value const& either, graph_scope const& scope) const {
    json_value const held = either.only_member();
    if (held.key() == "as_none") return program::no_value;
    if (held.key() == "as_tensor") return find_tensor(held, scope);
    either.fail("expected as_tensor or as_none, found " + in_quotes(held.key()));
}

} // namespace ATON_NAMESPACE::pt2

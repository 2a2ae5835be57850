// SPDX-License-Identifier: MIT
// Reads the Argument union of torch/_export/serde/schema.py, all of its tags.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/files/text.hpp"
#include "graph_reader.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

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
    {"as_string_to_argument", "a dict of arguments"},
};

/// Lists of integers, or of floating-point numbers.
program::argument read_lists(json_value const& held, bool integers) {
    std::vector<std::vector<program::number>> all;
    all.reserve(held.size());
    held.for_each([&](json_value const& list, std::size_t) {
        std::vector<program::number>& to = all.emplace_back();
        to.reserve(list.size());
        list.for_each([&](json_value const& item, std::size_t) {
            if (integers) to.emplace_back(item.integer());
            else to.emplace_back(item.real());
        });
    });
    return program::argument::of_number_lists(all);
}

} // namespace

program::argument graph_reader::read_argument(json_value const& argument, graph_scope& scope, int depth,
                                              bool is_operand) {
    using made = program::argument;
    json_value const held = argument.only_member();
    std::string_view const tag = held.key();
    if (tag == "as_tensor") return made::of_tensor(find_tensor(held, scope));
    if (tag == "as_optional_tensor") return made::of_tensor(find_optional_tensor(held, scope));
    if (tag == "as_tensors" || tag == "as_optional_tensors") {
        std::vector<program::value_ref> all;
        all.reserve(held.size());
        held.for_each([&](json_value const& each, std::size_t) {
            all.emplace_back(tag != "as_tensors" ? find_optional_tensor(each, scope)
                             : is_operand        ? find_operand(each, scope)
                                                 : find_tensor(each, scope));
        });
        return made::of_tensors(std::move(all));
    }
    if (tag == "as_graph") return read_subgraph(held, depth);
    if (tag == "as_custom_obj") {
        json_value const name = held.member("name");
        auto const found = scope.values.find(name.name());
        if (found != scope.values.end() && out_.values[found->second].kind == value_kind::custom_object)
            return made::of_tensor(found->second);
        json_value const type = held.member("class_fqn");
        return made::of_other("an object of " + std::string(type.name()));
    }
    if (auto out = read_plain_argument(held)) return *out;
    if (auto out = read_symbolic_argument(held, scope)) return *out;
    if (auto out = read_other_argument(held)) return *out;
    argument.fail("unknown kind of argument " + files::in_quotes(tag) +
                  "; the file is damaged, or newer than this version of Aton");
}

/// Numbers, strings and enumerations; nothing for other tags.
std::optional<program::argument> graph_reader::read_plain_argument(json_value const& held) const {
    using made = program::argument;
    std::string_view const tag = held.key();
    auto const numbers = [&](auto read) {
        std::vector<program::number> all;
        all.reserve(held.size());
        held.for_each([&](json_value const& item, std::size_t) { all.emplace_back(read(item)); });
        return made::of_numbers(std::move(all));
    };
    if (tag == "as_int") return made::of_number(held.integer());
    if (tag == "as_ints") return numbers([](json_value const& item) { return item.integer(); });
    if (tag == "as_none") {
        // torch 2.4 and 2.5 wrote an empty list.
        if (!held.is_array() && !held.boolean()) held.fail("expected true");
        return made::none();
    }
    if (tag == "as_bool") return made::of_number(held.boolean());
    if (tag == "as_float") return made::of_number(held.real());
    if (tag == "as_floats") return numbers([](json_value const& item) { return item.real(); });
    if (tag == "as_bools") return numbers([](json_value const& item) { return item.boolean(); });
    if (tag == "as_scalar_type") return made::of_type(read_scalar_type(held));
    if (tag == "as_memory_format") return made::of_tag(std::string(read_memory_format(held)));
    if (tag == "as_layout") return made::of_tag(std::string(read_layout(held)));
    if (tag == "as_device") return made::of_tag(read_device(held));
    if (tag == "as_string") return made::of_text(std::string(held.text()));
    if (tag == "as_strings") {
        std::vector<std::string> all;
        held.for_each([&](json_value const& item, std::size_t) { all.emplace_back(item.text()); });
        return made::of_texts(std::move(all));
    }
    if (tag == "as_int_lists" || tag == "as_float_lists") return read_lists(held, tag == "as_int_lists");
    if (tag == "as_complex") {
        json_value const real = held.member("real");
        json_value const imaginary = held.member("imag");
        return made::of_number(scalar::complex(real.real(), imaginary.real()));
    }
    return {};
}

/// A number that a node may compute, or a list of them; nothing for other tags.
std::optional<program::argument> graph_reader::read_symbolic_argument(json_value const& held,
                                                                      graph_scope const& scope) const {
    struct row {
        std::string_view one;
        std::string_view many;
        std::string_view number; ///< the tag of a constant
        value_kind kind;
    };
    constexpr row rows[] = {
        {"as_sym_int", "as_sym_ints", "as_int", value_kind::sym_int},
        {"as_sym_bool", "as_sym_bools", "as_bool", value_kind::sym_bool},
        {"as_sym_float", "as_sym_floats", "as_float", value_kind::sym_float},
    };
    std::string_view const tag = held.key();
    row const* found = nullptr;
    for (row const& each : rows)
        if (tag == each.one || tag == each.many) found = &each;
    if (found == nullptr) return {};

    auto const read_one = [&](json_value const& item) -> program::number {
        json_value const either = item.only_member();
        if (either.key() == "as_name") return program::number::of_value(find_value(either, found->kind, scope));
        if (either.key() != found->number)
            item.fail("expected as_name or " + std::string(found->number) + ", found " +
                      files::in_quotes(either.key()));
        if (found->kind == value_kind::sym_int) return either.integer();
        if (found->kind == value_kind::sym_bool) return either.boolean();
        return either.real();
    };
    if (tag == found->one) return program::argument::of_number(read_one(held));
    std::vector<program::number> all;
    all.reserve(held.size());
    held.for_each([&](json_value const& item, std::size_t) { all.push_back(read_one(item)); });
    return program::argument::of_numbers(std::move(all));
}

std::optional<program::argument> graph_reader::read_other_argument(json_value const& held) {
    if (held.key() == "as_operator") return program::argument::of_op(std::string(operators_.find(held.name()).op));
    for (other_row const& row : others) {
        if (held.key() != row.tag) continue;
        if (!held.is_array() && !held.is_object()) held.fail("expected " + std::string(row.text));
        return program::argument::of_other(std::string(row.text));
    }
    return {};
}

program::argument graph_reader::read_subgraph(json_value const& held, int depth) {
    json_value const name = held.member("name");
    json_value const inner = held.member("graph");
    program::graph made = read_graph(inner, depth + 1);
    // After the graphs nested in it.
    auto const index = static_cast<std::int64_t>(out_.subgraphs.size());
    out_.subgraphs.push_back(std::move(made));
    return program::argument::of_graph(index, std::string(name.name()));
}

program::value_index graph_reader::find_value(json_value const& name, value_kind kind, graph_scope const& scope) const {
    std::string_view const text = name.text();
    auto const found = scope.values.find(text);
    if (found == scope.values.end())
        name.fail("value " + files::in_quotes(text) + " is not defined before this use; the file is damaged");
    value_kind const known = out_.values[found->second].kind;
    if (known != kind)
        name.fail(files::in_quotes(text) + " is " + std::string(describe(known)) + ", expected " +
                  std::string(describe(kind)));
    return found->second;
}

program::value_index graph_reader::find_tensor(json_value const& tensor, graph_scope const& scope) const {
    json_value const name = tensor.member("name");
    return find_value(name, value_kind::tensor, scope);
}

/// Among the operands of a higher-order operator, torch writes numbers like tensors.
program::value_index graph_reader::find_operand(json_value const& operand, graph_scope const& scope) const {
    json_value const name = operand.member("name");
    auto const found = scope.values.find(name.text());
    value_kind const kind = found == scope.values.end() ? value_kind::tensor : out_.values[found->second].kind;
    bool const is_number = kind == value_kind::sym_int || kind == value_kind::sym_float || kind == value_kind::sym_bool;
    return find_value(name, is_number ? kind : value_kind::tensor, scope);
}

program::value_index graph_reader::find_optional_tensor(json_value const& either, graph_scope const& scope) const {
    json_value const held = either.only_member();
    if (held.key() == "as_none") return program::no_value;
    if (held.key() == "as_tensor") return find_tensor(held, scope);
    either.fail("expected as_tensor or as_none, found " + files::in_quotes(held.key()));
}

} // namespace ATON_NAMESPACE::pt2

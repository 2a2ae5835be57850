// SPDX-License-Identifier: MIT
#include "inferred_schema.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aton::tool {

namespace {

using program::argument_kind;

/// What is known of an argument or a result: the type without the question mark; empty if it was only None.
struct seen_type {
    std::string name;
    std::string type;
    bool optional = false;
    bool written = false;
};

struct seen_operator {
    std::vector<seen_type> arguments;
    std::vector<seen_type> results;
    std::vector<std::string> places;
    std::vector<std::string> notes;
    bool some_missing = false; ///< calls have different arguments
    std::size_t calls = 0;
    bool is_functionalized = false; ///< called by auto_functionalized
};

std::string type_of(scalar const& n) {
    return n.is_bool() ? "bool" : n.is_complex() ? "complex" : n.is_integral() ? "int" : "float";
}

std::string type_of(program::program const& p, program::number const& n) {
    if (!n.is_computed()) return type_of(n.constant);
    switch (p.values[n.computed].kind) {
    case program::value_kind::sym_float: return "float";
    case program::value_kind::sym_bool: return "bool";
    case program::value_kind::tensor: return "Scalar";
    default: return "SymInt";
    }
}

/// The narrowest type that has both.
std::string joined(std::string const& a, std::string const& b) {
    if (a == b || b.empty()) return a;
    if (a.empty()) return b;
    bool const lists = a.ends_with("[]") && b.ends_with("[]");
    auto const element = [&](std::string const& t) { return lists ? t.substr(0, t.size() - 2) : t; };
    std::string const x = element(a);
    std::string const y = element(b);
    auto const either = [&](std::string_view wide, std::string_view narrow) {
        return (x == wide && y == narrow) || (x == narrow && y == wide);
    };
    std::string const tail = lists ? "[]" : "";
    if (either("SymInt", "int")) return "SymInt" + tail;
    if (either("float", "int") || either("float", "SymInt")) return "float" + tail;
    if (either("Tensor?", "Tensor")) return "Tensor?" + tail;
    constexpr std::string_view numbers[] = {"bool", "int", "SymInt", "float", "complex", "Scalar"};
    auto const is_number = [&](std::string const& t) {
        return std::find(std::begin(numbers), std::end(numbers), t) != std::end(numbers);
    };
    if (is_number(x) && is_number(y)) return "Scalar" + tail;
    return a;
}

std::string tag_type(std::string_view text) {
    if (text == "strided" || text.starts_with("sparse") || text == "jagged" || text == "_mkldnn") return "Layout";
    return text.ends_with("_format") || text.starts_with("channels_last") ? "MemoryFormat" : "Device";
}

std::string type_of(program::program const& p, program::argument const& a) {
    switch (a.kind) {
    case argument_kind::tensor:
        return p.values[a.tensor].kind == program::value_kind::custom_object ? "__torch__.object" : "Tensor";
    case argument_kind::tensors: {
        bool const absent = std::any_of(a.tensors.begin(), a.tensors.end(), [](auto const& v) { return !v; });
        return absent ? "Tensor?[]" : "Tensor[]";
    }
    case argument_kind::number: return type_of(p, a.number);
    case argument_kind::numbers: {
        std::string element;
        for (program::number const& n : a.numbers) element = joined(element, type_of(p, n));
        return (element.empty() ? "int" : element) + "[]";
    }
    case argument_kind::number_lists: {
        std::string element;
        for (program::number const& n : a.numbers) element = joined(element, type_of(p, n));
        return (element == "float" ? "float" : "int") + std::string("[][]");
    }
    case argument_kind::text: return "str";
    case argument_kind::texts: return "str[]";
    case argument_kind::type: return "ScalarType";
    case argument_kind::tag: return tag_type(a.text);
    case argument_kind::none: return {};
    default: return "Any";
    }
}

seen_type& argument_named(seen_operator& op, std::string const& name) {
    for (seen_type& each : op.arguments)
        if (each.name == name) return each;
    if (op.calls != 0) op.some_missing = true;
    return op.arguments.emplace_back(seen_type{name, {}, false, false});
}

void see(seen_type& known, std::string const& type) {
    if (type.empty()) known.optional = true;
    known.type = joined(known.type, type);
}

/// "x" of "_x_base_index"; empty for other names.
std::string written_name(std::string_view name) {
    constexpr std::string_view tail = "_base_index";
    if (!name.starts_with('_') || !name.ends_with(tail)) return {};
    return std::string(name.substr(1, name.size() - 1 - tail.size()));
}

bool has_argument(program::node const& n, std::string const& name) {
    return std::any_of(n.arguments.begin(), n.arguments.end(), [&](auto const& a) { return a.name == name; });
}

/// Arguments of a call of auto_functionalized, those that describe views of written tensors included. Returns the number of tensors that it
/// returns after the results of the operator.
std::size_t see_functionalized(program::program const& p, program::node const& n, seen_operator& op) {
    std::size_t bases = 0;
    std::vector<std::string> written; // with the elements of lists, "xs_0"
    for (program::argument const& a : n.arguments) {
        if (a.name == "_all_bases") bases = program::tensors_of(a).size();
        if (std::string name = written_name(a.name); !name.empty()) written.push_back(std::move(name));
    }
    auto const is_of_list = [&](std::string const& name) {
        std::size_t const at = name.rfind('_');
        return at != std::string::npos && has_argument(n, '_' + name.substr(0, at) + "_length");
    };
    for (program::argument const& a : n.arguments) {
        bool const is_none = a.kind == argument_kind::none;
        if (std::string const name = written_name(a.name); !name.empty()) {
            if (is_of_list(name)) continue;
            seen_type& known = argument_named(op, name);
            known.written = true;
            see(known, is_none ? std::string() : "Tensor");
        } else if (a.name.starts_with('_') && a.name.ends_with("_length") && bases != 0) {
            seen_type& known = argument_named(op, a.name.substr(1, a.name.size() - 8));
            known.written = true;
            see(known, is_none ? std::string() : "Tensor[]");
        } else if (a.kind != argument_kind::op && a.name != "_all_bases" && !(bases != 0 && a.name.starts_with('_'))) {
            see(argument_named(op, a.name), type_of(p, a));
        }
    }
    if (bases == 0)
        op.notes.emplace_back("The program does not say which arguments it writes to: write Tensor! for these.");
    else op.notes.emplace_back("The program does not say where in the order the written arguments are.");
    return bases;
}

void count_call(seen_operator& op, std::string const& place) {
    if (!place.empty() && std::find(op.places.begin(), op.places.end(), place) == op.places.end())
        op.places.push_back(place);
    ++op.calls;
}

void see_call(program::program const& p, program::node const& n, seen_operator& op) {
    std::size_t after = 0;
    std::size_t const known = op.arguments.size();
    if (n.kind == program::node_kind::higher_order) {
        after = see_functionalized(p, n, op);
        op.is_functionalized = true;
    } else {
        for (std::size_t i = 0; i != n.arguments.size(); ++i) {
            program::argument const& a = n.arguments[i];
            see(argument_named(op, a.name.empty() ? '_' + std::to_string(i) : a.name), type_of(p, a));
        }
    }
    if (op.calls != 0 && n.arguments.size() < known) op.some_missing = true;
    std::size_t const results = n.results.size() - std::min(after, n.results.size());
    for (std::size_t i = 0; i != results; ++i) {
        program::result const& r = n.results[i];
        if (i == op.results.size()) op.results.emplace_back();
        bool const none = !r.is_list && (r.values.empty() || r.values.front() == program::no_value);
        std::string type = none ? "" : "Tensor";
        if (r.is_list) type = "Tensor[]";
        else if (!none && p.values[r.values.front()].kind == program::value_kind::sym_int) type = "SymInt";
        else if (!none && p.values[r.values.front()].kind == program::value_kind::sym_float) type = "float";
        else if (!none && p.values[r.values.front()].kind == program::value_kind::sym_bool) type = "bool";
        see(op.results[i], type);
    }
    count_call(op, p.origins[n.origin].source);
}

std::string spelled(seen_type const& t) {
    std::string type = t.type.empty() ? "Tensor" : t.type;
    if (t.written) type.insert(type.find_first_of("[") == std::string::npos ? type.size() : type.find('['), "!");
    return type + (t.optional ? "?" : "");
}

stub stub_of(std::string const& overload, seen_operator op) {
    // An operator that returns nothing returns None in the functional form.
    if (op.is_functionalized && op.results.size() == 1 && op.results.front().type.empty()) op.results.clear();
    std::string schema = overload + '(';
    for (std::size_t i = 0; i != op.arguments.size(); ++i)
        schema += (i == 0 ? "" : ", ") + spelled(op.arguments[i]) + ' ' + op.arguments[i].name;
    schema += ") -> ";
    std::string results;
    for (seen_type const& r : op.results) results += (results.empty() ? "" : ", ") + spelled(r);
    schema += op.results.size() == 1 ? results : '(' + results + ')';
    std::vector<std::string> notes = {
        "The schema is inferred from the program, which has no defaults; replace it by that of the library."};
    for (seen_type const& a : op.arguments)
        if (a.type.empty()) notes.push_back("The argument " + a.name + " is None in every call: its type is a guess.");
    if (op.some_missing) notes.emplace_back("Some calls leave arguments out: give these the defaults of the library.");
    std::sort(op.notes.begin(), op.notes.end());
    op.notes.erase(std::unique(op.notes.begin(), op.notes.end()), op.notes.end());
    notes.insert(notes.end(), op.notes.begin(), op.notes.end());
    return {overload, std::move(schema), std::move(op.places), std::move(notes)};
}

} // namespace

std::map<std::string, stub> custom_operators_of(program::program const& p) {
    std::map<std::string, seen_operator> seen;
    auto const visit = [&](program::graph const& g) {
        for (program::node const& n : g.nodes) {
            std::string op = n.kind == program::node_kind::aten && n.schema.empty() ? n.op : std::string();
            if (n.kind == program::node_kind::higher_order && n.op.starts_with("higher_order::auto_functionalized"))
                for (program::argument const& a : n.arguments)
                    if (a.kind == argument_kind::op) op = a.text;
            if (!op.empty()) see_call(p, n, seen[op]);
        }
    };
    visit(p.main);
    for (program::graph const& g : p.subgraphs) visit(g);
    std::map<std::string, stub> out;
    for (auto& [overload, op] : seen) out.emplace(overload, stub_of(overload, std::move(op)));
    return out;
}

std::map<std::string, stub> custom_operators_of(std::vector<torchscript::called_operator> const& calls) {
    std::map<std::string, seen_operator> seen;
    for (torchscript::called_operator const& call : calls) {
        seen_operator& op = seen[call.op];
        std::size_t const known = op.arguments.size();
        for (std::size_t i = 0; i != call.arguments.size(); ++i) {
            torchscript::called_argument const& a = call.arguments[i];
            seen_type& to = argument_named(op, a.name.empty() ? '_' + std::to_string(i) : a.name);
            see(to, a.type);
            to.optional = to.optional || a.is_optional;
        }
        if (op.calls != 0 && call.arguments.size() < known) op.some_missing = true;
        if (op.results.size() < call.results.size()) op.results.resize(call.results.size());
        for (std::size_t i = 0; i != call.results.size(); ++i) see(op.results[i], call.results[i]);
        count_call(op, call.place);
    }
    std::map<std::string, stub> out;
    for (auto& [name, op] : seen) {
        op.notes.emplace_back(
            "The code does not name the overload, the types of its results, and most types of arguments.");
        out.emplace(name, stub_of(name, std::move(op)));
    }
    return out;
}

} // namespace aton::tool

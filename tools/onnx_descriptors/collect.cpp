// SPDX-License-Identifier: MIT
// Turns the schemas that the ONNX library registers into rows.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "descriptors.hpp"

namespace aton::tool {

namespace {

using ::onnx::AttributeProto;
using ::onnx::OpSchema;

/// The number of `x` in `tensor(x)`, or -1.
int element_type(std::string_view text) {
    static std::map<std::string, int, std::less<>> const numbers = [] {
        std::map<std::string, int, std::less<>> all;
        for (int number = 1; ::onnx::TensorProto_DataType_IsValid(number); ++number) {
            // FLOAT8E4M3FN; the type string is its lower case.
            std::string name = ::onnx::TensorProto_DataType_Name(static_cast<::onnx::TensorProto_DataType>(number));
            for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
            all.emplace(std::move(name), number);
        }
        return all;
    }();
    auto const at = numbers.find(text);
    return at == numbers.end() ? -1 : at->second;
}

/// Removes `prefix(...)`; false if the string has another form.
bool unwrap(std::string_view& text, std::string_view prefix) {
    if (text.size() < prefix.size() + 2 || text.substr(0, prefix.size()) != prefix || text[prefix.size()] != '(')
        return false;
    text = text.substr(prefix.size() + 1, text.size() - prefix.size() - 2);
    return true;
}

/// The bits of one type string, as aton::type_set documents them.
void add_type(set_bits& bits, std::string_view text) {
    constexpr std::uint64_t other = std::uint64_t{1} << 31;
    std::uint64_t& half = unwrap(text, "optional") ? bits.second : bits.first;
    bool const sequence = unwrap(text, "seq");
    int const number = unwrap(text, "tensor") ? element_type(text) : -1;
    if (number >= 31)
        throw std::runtime_error("element type " + std::to_string(number) + " has no bit in aton::type_set");
    half |= number < 0 ? other : std::uint64_t{1} << (number + (sequence ? 32 : 0));
}

template <class Strings>
int type_set(descriptors& d, Strings const& types) {
    set_bits bits{};
    for (auto const& t : types) add_type(bits, *t);
    return static_cast<int>(d.sets.add(bits));
}

std::string number_text(float x) {
    std::array<char, 32> buffer{};
    auto const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x);
    std::string text(buffer.data(), end.ptr);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

template <class List, class Print>
std::string list_text(List const& list, Print print) {
    std::string text = "[";
    for (auto const& x : list) text += (text.size() > 1 ? ", " : "") + print(x);
    return text + "]";
}

/// A default as in ONNX's documentation, floats with as many digits as needed; empty if there is no default.
std::string default_text(OpSchema::Attribute const& a) {
    AttributeProto const& v = a.default_value;
    auto const quoted = [](std::string const& s) { return "'" + s + "'"; };
    auto const integer = [](std::int64_t i) { return std::to_string(i); };
    if (!v.has_name()) return {};
    switch (v.type()) {
    case AttributeProto::FLOAT: return number_text(v.f());
    case AttributeProto::INT: return integer(v.i());
    case AttributeProto::STRING: return v.s().empty() ? "''" : v.s();
    case AttributeProto::FLOATS: return list_text(v.floats(), number_text);
    case AttributeProto::INTS: return list_text(v.ints(), integer);
    case AttributeProto::STRINGS: return list_text(v.strings(), quoted);
    default: throw std::runtime_error("attribute " + a.name + ": unsupported kind of default");
    }
}

int formal_list(descriptors& d, std::vector<OpSchema::FormalParameter> const& formals,
                std::map<std::string, int> const& vars) {
    std::vector<formal_row> rows;
    for (auto const& f : formals) {
        auto const var = vars.find(f.GetTypeStr());
        int const option = static_cast<int>(f.GetOption());
        rows.push_back({d.name(f.GetName()),
                        var == vars.end() ? -1 : var->second,
                        option + (f.GetIsHomogeneous() ? 4 : 0),
                        f.GetMinArity(),
                        var == vars.end() ? type_set(d, f.GetTypes()) : 0});
    }
    return static_cast<int>(d.formals.add(rows));
}

/// -1 means "any number", which libonnx encodes as the largest int.
int arity(int n) {
    if (n == std::numeric_limits<int>::max()) return -1;
    if (n > 127) throw std::runtime_error("arity does not fit into its column");
    return n;
}

schema_row row_of(descriptors& d, OpSchema const& s, int op) {
    std::vector<var_row> vars;
    std::map<std::string, int> var_index;
    for (auto const& c : s.typeConstraintParams()) {
        std::vector<std::string const*> types;
        for (auto const& t : c.allowed_type_strs) types.push_back(&t);
        var_index.emplace(c.type_param_str, static_cast<int>(vars.size()));
        vars.push_back({d.name(c.type_param_str), type_set(d, types)});
    }
    std::map<std::string, OpSchema::Attribute> const sorted(s.attributes().begin(), s.attributes().end());
    std::vector<int> attributes;
    for (auto const& [name, a] : sorted)
        attributes.push_back(static_cast<int>(
            d.attributes.add({d.name(name), static_cast<int>(a.type), a.required ? 1 : 0, d.name(default_text(a))})));
    int const inputs = formal_list(d, s.inputs(), var_index);
    int const outputs = formal_list(d, s.outputs(), var_index);
    return {op,
            s.SinceVersion(),
            s.Deprecated() ? 1 : 0,
            arity(s.min_input()),
            arity(s.max_input()),
            arity(s.min_output()),
            arity(s.max_output()),
            inputs,
            outputs,
            static_cast<int>(d.vars.add(vars)),
            static_cast<int>(d.attribute_lists.add(attributes))};
}

} // namespace

descriptors collect(std::vector<OpSchema>& schemas) {
    descriptors d;
    d.name("");
    std::map<std::string, std::pair<int, int>> const& versions = {
        ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().begin(),
        ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().end()};
    for (auto const& [domain, range] : versions) {
        d.domains.push_back(domain);
        d.domain_versions.push_back(range.second);
    }
    std::sort(schemas.begin(), schemas.end(), [](OpSchema const& a, OpSchema const& b) {
        return std::tie(a.domain(), a.Name()) != std::tie(b.domain(), b.Name())
                   ? std::tie(a.domain(), a.Name()) < std::tie(b.domain(), b.Name())
                   : a.SinceVersion() < b.SinceVersion();
    });
    std::string domain = "?";
    std::string name;
    for (OpSchema const& s : schemas) {
        if (s.domain() != domain || s.Name() != name) {
            domain = s.domain();
            name = s.Name();
            auto const at = std::find(d.domains.begin(), d.domains.end(), domain);
            if (at == d.domains.end()) throw std::runtime_error("domain without versions: " + domain);
            d.ops.push_back(
                {static_cast<int>(at - d.domains.begin()), d.name(name), static_cast<int>(d.schemas.size())});
        }
        d.schemas.push_back(row_of(d, s, static_cast<int>(d.ops.size()) - 1));
    }
    return d;
}

} // namespace aton::tool

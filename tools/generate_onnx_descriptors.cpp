// SPDX-License-Identifier: MIT
// Writes include/aton/onnx/generated/: every operator schema that the ONNX library registers, as pooled constexpr rows.
// Usage: generate_onnx_descriptors <folder>. The rows are read by include/aton/onnx/registry.hpp; every cost here is paid
// by every user's include, so equal strings, type sets and lists are stored once, and rows are small integers.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <onnx/common/version.h>
#include <onnx/defs/schema.h>

namespace {

using ::onnx::AttributeProto;
using ::onnx::OpSchema;

// ---- pools ------------------------------------------------------------------------------------------------------

/// Distinct values in the order of their first use.
template <class T>
class pool {
public:
    std::size_t add(T const& value) {
        auto const [at, fresh] = index_.try_emplace(value, values_.size());
        if (fresh) values_.push_back(value);
        return at->second;
    }
    [[nodiscard]] std::vector<T> const& values() const { return values_; }

private:
    std::map<T, std::size_t> index_;
    std::vector<T> values_;
};

using set_bits = std::pair<std::uint64_t, std::uint64_t>; // plain, optionals
using formal_row = std::array<int, 5>;    // name, type variable, option and homogeneity, min arity, type set
using var_row = std::array<int, 2>;       // name, type set
using attribute_row = std::array<int, 4>; // name, type, required, default text
using schema_row = std::array<int, 11>;

struct descriptors {
    pool<std::string> names;
    pool<set_bits> sets;
    pool<std::vector<formal_row>> formals;
    pool<std::vector<var_row>> vars;
    pool<attribute_row> attributes;
    pool<std::vector<int>> attribute_lists;
    std::vector<std::string> domains;
    std::vector<int> domain_versions;
    std::vector<std::array<int, 3>> ops; // domain, name, first row
    std::vector<schema_row> schemas;

    int name(std::string const& text) { return static_cast<int>(names.add(text)); }
};

// ---- from libonnx -----------------------------------------------------------------------------------------------

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

// ---- out --------------------------------------------------------------------------------------------------------

std::string header(std::string_view what) {
    std::ostringstream out;
    out << "// SPDX-License-Identifier: MIT\n// " << what << "\n"
        << "// Generated by tools/generate_onnx_descriptors.cpp from onnx " << ::onnx::LAST_RELEASE_VERSION << ";\n"
        << "// do not edit. Again: cmake --build build/release --target regenerate_onnx\n";
    return out.str();
}

std::string literal(std::string_view text) {
    std::string out = "\"";
    for (char const c : text) {
        if (c < ' ' || c > '~') throw std::runtime_error("a name that is not printable ASCII");
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

class writer {
public:
    explicit writer(std::ostream& out) : out_(out) {}

    /// One-dimensional table of integers, wrapped.
    template <class Range>
    void numbers(std::string_view type, std::string_view name, Range const& values) {
        out_ << "inline constexpr " << type << " " << name << "[] = {\n";
        std::string line = "   ";
        for (auto const v : values) {
            std::string const text = " " + std::to_string(v) + ",";
            if (line.size() + text.size() > 120) flush(line);
            line += text;
        }
        flush(line);
        out_ << "};\n\n";
    }

    /// Table of aggregates; `note(i)` is a comment after row i.
    template <class Rows, class Note>
    void rows(std::string_view type, std::string_view name, Rows const& rows, Note note) {
        out_ << "inline constexpr " << type << " " << name << "[] = {\n";
        std::string line = "   ";
        for (std::size_t i = 0; i != rows.size(); ++i) {
            std::string text = " {";
            for (std::size_t k = 0; k != rows[i].size(); ++k) text += (k == 0 ? "" : ", ") + std::to_string(rows[i][k]);
            text += "},";
            std::string const comment = note(i);
            if (line.size() + text.size() > 120) flush(line);
            line += text;
            if (!comment.empty()) {
                line += " // " + comment;
                flush(line);
            }
        }
        flush(line);
        out_ << "};\n\n";
    }

private:
    void flush(std::string& line) {
        if (line.size() > 3) out_ << line << "\n";
        line = "   ";
    }
    std::ostream& out_;
};

/// Concatenated lists: the flat rows, and the start of each list (one more entry than lists).
template <class Row>
std::pair<std::vector<Row>, std::vector<std::size_t>> flatten(std::vector<std::vector<Row>> const& lists) {
    std::pair<std::vector<Row>, std::vector<std::size_t>> flat;
    for (auto const& list : lists) {
        flat.second.push_back(flat.first.size());
        flat.first.insert(flat.first.end(), list.begin(), list.end());
    }
    flat.second.push_back(flat.first.size());
    return flat;
}

void write_names(std::ostream& out, writer& w, std::vector<std::string> const& names) {
    std::vector<std::size_t> offsets{0};
    out << "// Every name and default text once, end to end; name i is [name_offsets[i], name_offsets[i + 1]).\n"
           "inline constexpr char names[] =\n";
    std::string line = "   ";
    for (auto const& name : names) {
        offsets.push_back(offsets.back() + name.size());
        if (name.empty()) continue;
        std::string const text = " " + literal(name);
        if (line.size() + text.size() > 120) {
            out << line << "\n";
            line = "   ";
        }
        line += text;
    }
    out << line << ";\n\n";
    if (offsets.back() > 65535) throw std::runtime_error("the names do not fit 16-bit offsets");
    w.numbers("unsigned short", "name_offsets", offsets);
}

void write_schemas(std::ostream& out, descriptors const& d) {
    writer w(out);
    auto const none = [](std::size_t) { return std::string(); };
    out << header("Every operator schema of every ONNX domain and version, as pooled rows; read through registry.hpp.")
        << "#pragma once\n\n#include <aton/version.hpp>\n\nnamespace ATON_NAMESPACE::onnx {\n\n"
        << "/// The newest opset of the default domain.\ninline constexpr int newest_opset = "
        << d.domain_versions.front()
        << ";\n\nnamespace generated {\n\n/// The release that these rows were taken from.\n"
        << "inline constexpr char const* onnx_version = \"" << ::onnx::LAST_RELEASE_VERSION << "\";\n\n";
    write_names(out, w, d.names.values());

    out << "// Domains, sorted, with their newest version.\nstruct domain_row {\n    char const* name;\n    int "
           "newest;\n};\n"
           "inline constexpr domain_row domains[] = {\n";
    for (std::size_t i = 0; i != d.domains.size(); ++i)
        out << "    {" << literal(d.domains[i]) << ", " << d.domain_versions[i] << "},\n";
    out << "};\n\n";

    out << "// Sets of types, as in aton::type_set.\nstruct set_row {\n    unsigned long long plain;\n    unsigned "
           "long long optionals;\n};\n"
           "inline constexpr set_row sets[] = {\n";
    for (auto const& [plain, optionals] : d.sets.values())
        out << "    {0x" << std::hex << plain << "ULL, 0x" << optionals << std::dec << "ULL},\n";
    out << "};\n\n";

    out << "// Lists of formal inputs or outputs, end to end. kind: the option, plus 4 when homogeneous; set: of a "
           "fixed type (var = -1).\n"
           "struct formal_row {\n    unsigned short name;\n    signed char var;\n    unsigned char kind;\n    unsigned "
           "char min_arity;\n"
           "    unsigned char set;\n};\n";
    auto const [formals, formal_begins] = flatten(d.formals.values());
    w.rows("formal_row", "formals", formals, none);
    w.numbers("unsigned short", "formal_lists", formal_begins);

    out << "// Lists of type variables, end to end.\nstruct var_row {\n    unsigned short name;\n    unsigned char "
           "set;\n};\n";
    auto const [vars, var_begins] = flatten(d.vars.values());
    w.rows("var_row", "vars", vars, none);
    w.numbers("unsigned short", "var_lists", var_begins);

    out << "// Attributes, and lists of them (sorted by name), end to end.\nstruct attribute_row {\n    unsigned short "
           "name;\n"
           "    unsigned char type;\n    bool required;\n    unsigned short default_text;\n};\n"
           "inline constexpr attribute_row attributes[] = {\n";
    for (auto const& a : d.attributes.values())
        out << "    {" << a[0] << ", " << a[1] << ", " << (a[2] != 0 ? "true" : "false") << ", " << a[3] << "},\n";
    out << "};\n\n";
    auto const [attributes, attribute_begins] = flatten(d.attribute_lists.values());
    w.numbers("unsigned short", "attribute_indices", attributes);
    w.numbers("unsigned short", "attribute_lists", attribute_begins);

    out << "// Operators, sorted by domain and name; the versions of op i are the schemas [ops[i].first, ops[i + "
           "1].first).\n"
           "struct op_row {\n    unsigned char domain;\n    unsigned short name;\n    unsigned short first;\n};\n";
    auto ops = d.ops;
    ops.push_back({static_cast<int>(d.domains.size()), 0, static_cast<int>(d.schemas.size())});
    w.rows("op_row", "ops", ops, none);

    out << "// Schemas, sorted by operator and version. An arity of -1 is any number; inputs to attributes are numbers "
           "of lists.\n"
           "struct schema_row {\n    unsigned short op;\n    unsigned char since;\n    bool deprecated;\n    signed "
           "char min_inputs;\n"
           "    signed char max_inputs;\n    signed char min_outputs;\n    signed char max_outputs;\n    unsigned "
           "short inputs;\n"
           "    unsigned short outputs;\n    unsigned short vars;\n    unsigned short attributes;\n};\n"
           "inline constexpr schema_row schemas[] = {\n";
    std::size_t last = 0;
    for (std::size_t i = 0; i != d.schemas.size(); ++i) {
        auto const& s = d.schemas[i];
        out << "    {";
        for (std::size_t k = 0; k != s.size(); ++k)
            out << (k == 0 ? "" : ", ") << (k == 2 ? (s[k] != 0 ? "true" : "false") : std::to_string(s[k]));
        out << "},";
        if (i == 0 || static_cast<std::size_t>(s[0]) != last) {
            last = static_cast<std::size_t>(s[0]);
            out << " // " << d.names.values()[static_cast<std::size_t>(d.ops[last][1])];
        }
        out << "\n";
    }
    out << "};\n\n} // namespace generated\n} // namespace ATON_NAMESPACE::onnx\n";

    if (d.sets.values().size() > 255 || d.names.values().size() > 65535)
        throw std::runtime_error("an index does not fit into its column");
}

/// The suffix of `attr::name_<suffix>` for this type of attribute; empty if there is none.
std::string_view letter(AttributeProto::AttributeType type) {
    switch (type) {
    case AttributeProto::FLOAT:
    case AttributeProto::FLOATS: return "F";
    case AttributeProto::INT:
    case AttributeProto::INTS: return "I";
    case AttributeProto::STRING:
    case AttributeProto::STRINGS: return "S";
    case AttributeProto::TENSOR:
    case AttributeProto::TENSORS: return "T";
    case AttributeProto::GRAPH:
    case AttributeProto::GRAPHS: return "G";
    case AttributeProto::SPARSE_TENSOR:
    case AttributeProto::SPARSE_TENSORS: return "SPARSE";
    case AttributeProto::TYPE_PROTO:
    case AttributeProto::TYPE_PROTOS: return "TP";
    default: throw std::runtime_error("an attribute without a type");
    }
}

void write_attributes(std::ostream& out, std::vector<OpSchema> const& schemas) {
    std::set<std::pair<std::string, std::string_view>> names;
    for (OpSchema const& s : schemas)
        for (auto const& [name, a] : s.attributes()) names.emplace(name, letter(a.type));
    out << header("Every attribute name of ONNX with its kind; include where the ATON_ATTRIBUTE_ macros are defined.");
    for (auto const& [name, kind] : names) {
        if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
            std::string::npos)
            throw std::runtime_error("attribute name that is not an identifier: " + name);
        out << "ATON_ATTRIBUTE_" << kind << "(" << name << ")\n";
    }
}

/// Writes the whole file or nothing, and only if it changed: an equal file keeps its time stamp.
void save(std::filesystem::path const& path, std::string const& text) {
    std::ifstream old(path, std::ios::binary);
    if (old && std::string(std::istreambuf_iterator<char>(old), {}) == text) return;
    std::ofstream out(path, std::ios::binary);
    if (!(out << text).flush()) throw std::runtime_error("cannot write " + path.string());
}

} // namespace

int main(int argc, char** argv) try {
    if (argc != 2) throw std::runtime_error("usage: generate_onnx_descriptors <folder>");
    std::filesystem::path const folder = argv[1];
    std::filesystem::create_directories(folder);
    std::vector<OpSchema> schemas = ::onnx::OpSchemaRegistry::get_all_schemas_with_history();
    descriptors const d = collect(schemas);
    std::ostringstream rows;
    write_schemas(rows, d);
    std::ostringstream attributes;
    write_attributes(attributes, schemas);
    save(folder / "op_schemas.hpp", rows.str());
    save(folder / "attributes.inc", attributes.str());
    std::cout << d.schemas.size() << " schemas of " << d.ops.size() << " operators\n";
    return 0;
} catch (std::exception const& e) {
    std::cerr << "generate_onnx_descriptors: " << e.what() << "\n";
    return 1;
}

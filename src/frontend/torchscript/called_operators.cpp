// SPDX-License-Identifier: MIT
// Reads the syntax trees of all functions of an archive.
#include <aton/frontend/torchscript/called_operators.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <aton/aten/schema_table.hpp>

#include "frontend/files/mapped_file.hpp"
#include "library.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

/// A type of TorchScript's code as schemas write it, "List[Optional[Tensor]]" -> "Tensor?[]".
std::string schema_type(expr const& type) {
    if (type.is == expr_kind::subscript && type.items.size() == 2) {
        if (type.items[0].text == "List") return schema_type(type.items[1]) + "[]";
        if (type.items[0].text == "Optional") return schema_type(type.items[1]) + '?';
    }
    return type.text == "number" ? "Scalar" : type.text.empty() ? "Tensor" : type.text;
}

bool is_one_of_torchs(std::string const& op) {
    bool exact = false;
    for (std::size_t i = aten::detail::lower_bound(op, exact); i != aten::schema_count(); ++i) {
        if (!aten::schema_at(i).starts_with(op)) break;
        if (aten::detail::table_op(i) == op) return true;
    }
    return false;
}

/// The calls of a function, whose parameters and assigned names have known types, or are tensors.
class call_search {
public:
    call_search(library& from, code_file const& file, std::vector<called_operator>& to)
        : from_(from),
          file_(file),
          to_(to) {}

    void search(function_code const& f) {
        types_.clear();
        for (parameter const& p : f.parameters())
            if (p.type) types_[p.name] = schema_type(*p.type);
        search(f.body());
    }

private:
    void search(std::vector<stmt> const& all) {
        for (stmt const& s : all) {
            if (s.is == stmt_kind::assign) assign(s);
            else if (s.is == stmt_kind::expression) search(s.value, s.offset, &s.targets); // no results
            else search(s.value, s.offset, nullptr);
            search(s.body);
            search(s.other);
        }
    }

    void assign(stmt const& s) {
        search(s.value, s.offset, &s.targets);
        std::string const type = s.targets.size() == 1 ? type_of(s.value) : std::string();
        for (expr const& target : s.targets)
            if (target.is == expr_kind::name) types_[target.text] = type.empty() ? "Tensor" : type;
    }

    /// `targets`: what the whole expression is assigned to.
    void search(expr const& e, std::uint32_t offset, std::vector<expr> const* targets) {
        if (e.is == expr_kind::call && !e.items.empty())
            if (std::string op = operator_of(e.items[0]); !op.empty() && !is_one_of_torchs(op))
                add(std::move(op), e, offset, targets);
        for (expr const& each : e.items) search(each, offset, nullptr);
    }

    /// "mylib::scale" of `ops.mylib.scale`; empty for anything else.
    static std::string operator_of(expr const& callee) {
        if (callee.is != expr_kind::attribute || callee.items.empty()) return {};
        expr const& ns = callee.items[0];
        bool const is_operator = ns.is == expr_kind::attribute && !ns.items.empty() &&
                                 ns.items[0].is == expr_kind::name && ns.items[0].text == "ops";
        return is_operator ? ns.text + "::" + callee.text : std::string();
    }

    void add(std::string op, expr const& e, std::uint32_t offset, std::vector<expr> const* targets) {
        called_operator& out = to_.emplace_back();
        out.op = std::move(op);
        std::size_t const positional = e.items.size() - 1 - e.keywords.size();
        for (std::size_t i = 1; i != e.items.size(); ++i) {
            std::string type = type_of(e.items[i]);
            bool const is_optional = type.ends_with('?');
            if (is_optional) type.pop_back();
            std::string const name = i > positional ? e.keywords[i - 1 - positional] : std::string();
            out.arguments.push_back({name, std::move(type), is_optional});
        }
        out.results.assign(targets == nullptr ? 1 : targets->size(), "Tensor");
        out.place = from_.source_of(file_, e.offset);
        if (out.place.empty()) out.place = from_.source_of(file_, offset);
    }

    std::string type_of(expr const& e) const {
        switch (e.is) {
        case expr_kind::boolean: return "bool";
        case expr_kind::integer: return "int";
        case expr_kind::real: return "float";
        case expr_kind::complex: return "complex";
        case expr_kind::text: return "str";
        case expr_kind::negative: return type_of(e.items[0]);
        case expr_kind::list: return (e.items.empty() ? "int" : type_of(e.items[0])) + "[]";
        case expr_kind::name: {
            if (e.text == "None") return {};
            auto const known = types_.find(e.text);
            return known == types_.end() ? "Tensor" : known->second;
        }
        case expr_kind::call: return type_of_call(e);
        default: return "Tensor";
        }
    }

    std::string type_of_call(expr const& e) const {
        std::string const& name = e.items[0].text;
        bool const converts = name == "annotate" || name == "unchecked_cast";
        if (converts && e.items.size() > 1) return schema_type(e.items[1]);
        return name == "int" || name == "len" ? "int" : name == "float" || name == "bool" ? name : "Tensor";
    }

    library& from_;
    code_file const& file_;
    std::vector<called_operator>& to_;
    std::map<std::string, std::string, std::less<>> types_;
};

} // namespace

std::vector<called_operator> called_operators(std::string const& path) {
    library code(std::make_shared<files::mapped_file>(path), path);
    std::vector<called_operator> out;
    for (code_file const* file : code.files()) {
        call_search calls(code, *file, out);
        for (function_code const& f : file->functions) calls.search(f);
        for (class_code const& c : file->classes)
            for (function_code const& method : c.methods) calls.search(method);
    }
    return out;
}

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
// The syntax trees of TorchScript's code: the subset of Python that torch.jit.save writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::torchscript {

enum class expr_kind : std::uint8_t {
    none,
    boolean, ///< `integer`
    integer,
    real,
    complex, ///< `real` + `imaginary`j
    text,
    name,        ///< `text`
    attribute,   ///< items[0].text
    subscript,   ///< items[0][items[1]]
    call,        ///< items[0](items[1], ...); the last ones have the names in `keywords`
    list,        ///< [items]
    tuple,       ///< (items)
    dict,        ///< {items[0]: items[1], ...}
    conditional, ///< items[0] if items[1] else items[2]
    negative,    ///< -items[0]
};

struct expr {
    expr_kind is = expr_kind::none;
    std::uint32_t line = 0;
    std::uint32_t offset = 0; ///< of its first byte, in the file
    std::int64_t integer = 0;
    double real = 0;
    double imaginary = 0;
    std::string text;
    std::vector<expr> items;
    std::vector<std::string> keywords;
};

enum class stmt_kind : std::uint8_t {
    pass,
    assign,     ///< targets = value
    expression, ///< value
    if_,        ///< if value: body; else: other
    while_,     ///< while value: body
    for_,       ///< for targets[0] in value: body
    return_,    ///< return value
    def_,       ///< def targets[0](): body
    with_,      ///< with value as targets[0]: body
};

struct stmt {
    stmt_kind is = stmt_kind::pass;
    std::uint32_t line = 0;
    std::uint32_t offset = 0;
    std::vector<expr> targets;
    expr value;
    std::vector<stmt> body;
    std::vector<stmt> other;
};

struct parameter {
    std::string name;
    std::optional<expr> type;
    std::optional<expr> fallback; ///< the default
};

struct code_file;

/// A function, of which only the name is read before it is used: what the model does not call cannot be wrong.
class function_code {
public:
    std::string name;
    std::uint32_t line = 0;
    code_file const* file = nullptr;
    std::string_view source; ///< "def f(x: Tensor) -> Tensor: ..."
    std::uint32_t offset = 0;
    std::uint32_t indentation = 0;

    /// Both throw aton::error if the source cannot be parsed.
    [[nodiscard]] std::vector<parameter> const& parameters() const { return parsed().parameters; }
    [[nodiscard]] std::vector<stmt> const& body() const { return parsed().body; }

    struct parts {
        std::vector<parameter> parameters;
        std::vector<stmt> body;
    };

private:
    [[nodiscard]] parts const& parsed() const;

    mutable std::optional<parts> parsed_;
};

struct class_attribute {
    std::string name;
    std::optional<expr> type;
    std::optional<expr> value;
};

struct class_code {
    std::string name;      ///< "Conv2d"
    std::string qualified; ///< "__torch__.torch.nn.modules.conv.Conv2d"
    std::string base;      ///< "Module", "NamedTuple", or empty
    std::vector<class_attribute> attributes;
    std::vector<function_code> methods;
    code_file const* file = nullptr;
};

/// A parsed member of the archive.
struct code_file {
    std::string name;  ///< "code/__torch__/torch/nn/modules/conv.py"
    std::string where; ///< "model.pt: " and the name
    std::string text;
    std::vector<class_code> classes;
    std::vector<function_code> functions;
};

} // namespace ATON_NAMESPACE::torchscript

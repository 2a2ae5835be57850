// SPDX-License-Identifier: MIT
// The option --input: the type of an argument of a TorchScript archive, or the value that it always has.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "commands.hpp"

namespace aton::tool {

namespace {

/// A size is a number, or the name of a dynamic dimension.
bool add_size(std::string_view text, std::vector<dim>& to) {
    bool const starts_as_name =
        !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_');
    bool const is_name = starts_as_name && std::all_of(text.begin(), text.end(), [](char c) {
                             return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
                         });
    std::int64_t size = 0;
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), size);
    bool const is_size = fault == std::errc() && end == text.data() + text.size() && size >= 0;
    to.push_back(is_size ? dim(size) : dim(std::string(text)));
    return is_size || is_name;
}

/// Of a number of Python.
dtype dtype_of_number(std::string_view type) {
    return type == "int"     ? dtype::int64
           : type == "float" ? dtype::float64
           : type == "bool"  ? dtype::bool_
                             : dtype::undefined;
}

} // namespace

torchscript::input_type parse_input(std::string const& text) {
    torchscript::input_type out;
    std::size_t const end_of_name = text.find_first_of(":=");
    bool is_good = end_of_name != std::string::npos && end_of_name != 0;
    std::string_view const rest = is_good ? std::string_view(text).substr(end_of_name + 1) : std::string_view();
    out.name = text.substr(0, end_of_name);
    if (is_good && text[end_of_name] == '=') {
        out.constant = rest;
        return out;
    }
    std::size_t const open = rest.find('[');
    std::string_view const type = rest.substr(0, open);
    if (is_good && open == std::string_view::npos) {
        out.type = dtype_of_number(type);
        is_good = out.type != dtype::undefined;
    } else if (is_good && open != 0 && rest.back() == ']') {
        out.type = dtype_from_name(std::string(type));
        if (out.type == dtype::undefined)
            throw error("--input " + plain(text) + ": '" + plain(std::string(type)) +
                        "' is not a dtype; use the names of torch, such as float32 or int64");
        std::string_view left = rest.substr(open + 1, rest.size() - open - 2);
        while (is_good && !left.empty()) {
            std::size_t const comma = left.find(',');
            is_good = add_size(left.substr(0, comma), out.sizes);
            left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
        }
    } else {
        is_good = false;
    }
    if (!is_good)
        throw error(
            "--input " + plain(text) +
            ": write it as NAME:DTYPE[SIZES], NAME:int, or NAME=VALUE, for example --input x:float32[1,3,224,224]");
    return out;
}

} // namespace aton::tool

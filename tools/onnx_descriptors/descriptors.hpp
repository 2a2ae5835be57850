// SPDX-License-Identifier: MIT
// The operator schemas of the ONNX library as pooled rows: how they are collected, and how they are written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <onnx/defs/schema.h>

namespace aton::tool {

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

/// The words that a string attribute may have from a version of its operator on, sorted and separated by spaces.
struct word_list {
    std::string domain;
    std::string op;
    std::string attribute;
    int since = 1;
    std::string words;
};

/// Sorts the schemas by domain, name and version, and returns their rows. Throws std::runtime_error if a value does not fit its column.
[[nodiscard]] descriptors collect(std::vector<::onnx::OpSchema>& schemas);

/// The closed lists of words among the string attributes, by domain, operator, attribute and version. Throws std::runtime_error for an
/// attribute whose documentation has no list and that is not known to be free text.
[[nodiscard]] std::vector<word_list> collect_words(std::vector<::onnx::OpSchema> const& schemas);

/// op_schemas.hpp.
void write_schemas(std::ostream& out, descriptors const& d);
/// attribute_words.hpp.
void write_words(std::ostream& out, std::vector<word_list> const& lists);
/// attributes.inc.
void write_attributes(std::ostream& out, std::vector<::onnx::OpSchema> const& schemas);

} // namespace aton::tool

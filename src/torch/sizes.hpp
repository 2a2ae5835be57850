// SPDX-License-Identifier: MIT
// Finds how a number that differs between runs depends on the sizes of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::torch {

/// A number in each run.
using samples = std::vector<std::int64_t>;

/// A size that nothing before it explains: that of a dynamic dimension of an input, or of a result.
struct known_size {
    program::expression symbol;
    samples values;
    program::value_index tensor = program::no_value; ///< whose size it is; no_value: a stride
    std::int64_t axis = 0;
};

/// factor * size [* other] [+ sign * other] + offset
struct relation {
    enum class form : std::uint8_t { linear, product, sum };
    form is = form::linear;
    std::size_t size = 0; ///< index into size_table::all()
    std::size_t other = 0;
    std::int64_t factor = 1;
    std::int64_t sign = 1; ///< of `other` in a sum
    std::int64_t offset = 0;
};

class size_table {
public:
    explicit size_table(program::program& p) : program_(p) {}

    [[nodiscard]] std::vector<known_size> const& all() const { return all_; }
    /// Adds a size with this name, or with a new one: "u0".
    std::size_t add(samples values, program::value_index tensor, std::int64_t axis, std::string name = {});
    /// The simplest relation that holds in all runs. With fewer than 3 different runs, only equality is trusted.
    [[nodiscard]] std::optional<relation> find(samples const& values) const;
    /// The relation as an extent of the program.
    [[nodiscard]] program::extent extent_of(relation const& r);

private:
    [[nodiscard]] std::optional<relation> find_linear(samples const& values) const;
    [[nodiscard]] std::optional<relation> find_pair(samples const& values) const;

    program::program& program_;
    std::vector<known_size> all_;
    std::map<std::string, std::uint32_t, std::less<>> expressions_; ///< by to_string()
    std::size_t next_ = 0;
};

} // namespace ATON_NAMESPACE::torch

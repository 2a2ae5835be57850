// SPDX-License-Identifier: MIT
// Functions on lists, tuples, dicts and strings of the code, which are evaluated while it is read.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "code_position.hpp"
#include "comparisons.hpp"
#include "open_lists.hpp"
#include "program_values.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class containers {
public:
    containers(program_values& values, comparisons& order, open_lists& open, heap& in, code_position& at, caller& calls)
        : values_(values),
          comparisons_(order),
          open_lists_(open),
          heap_(in),
          at_(at),
          caller_(calls) {}

    /// A function on containers, and what holds for values of all kinds: identity, equality and text; nothing for all others.
    [[nodiscard]] std::optional<value> call(std::string_view name, std::vector<value> const& x);
    [[nodiscard]] value item_of(value const& v, value const& index);

    /// Lists that grow in the body of a loop, and what it has appended.
    using growing_lists = std::map<list_of_values*, std::vector<value>>;
    [[nodiscard]] growing_lists const& growing() const { return growing_; }
    void set_growing(growing_lists const& of) { growing_ = of; }
    void start_growing(list_of_values* list) { growing_[list].clear(); }
    /// What was appended since.
    [[nodiscard]] std::vector<value> stop_growing(list_of_values* list) {
        std::vector<value> out = std::move(growing_[list]);
        growing_.erase(list);
        return out;
    }

private:
    /// sort, sorted, index, count and remove of a list.
    [[nodiscard]] std::optional<value> call_on_order(std::string_view name, std::vector<value> const& x);
    [[nodiscard]] std::optional<value> call_on_dict(std::string_view name, std::vector<value> const& x);
    [[nodiscard]] std::optional<value> call_on_text(std::string_view name, std::vector<value> const& x);
    /// The places of x[0][start:stop:step], where x[0] has `length` items.
    [[nodiscard]] std::vector<std::size_t> sliced(std::vector<value> const& x, std::size_t length) const;
    void expect_inside(std::size_t serial) const;
    [[noreturn]] void fail_missing_key(constant const& key) const;

    program_values& values_;
    comparisons& comparisons_;
    open_lists& open_lists_;
    heap& heap_;
    code_position& at_;
    caller& caller_;
    growing_lists growing_;
};

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
// Draws the tensors of a random call, by the sampling rule or so that they broadcast with each other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <aton/aten/function_schema.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/verify/sample.hpp>

#include "constrained_elements.hpp"
#include "random_source.hpp"
#include "rule_reader.hpp"
#include "size_table.hpp"

namespace ATON_NAMESPACE::verify {

class tensor_drawing {
public:
    tensor_drawing(random_source& random, size_table& sizes, sampling_profile const& t)
        : random_(random),
          sizes_(sizes),
          profile_(t),
          first_elements_{random, t.values, {}, t.extreme >= 0} {}

    /// Draws the elements from another source; sizes and dtypes stay the same.
    void take_elements_from(random_source& other, value_profile values) {
        other_elements_.emplace(other, values, runtime::tensor());
    }

    /// A tensor, or a list of them if the schema says so. None in some calls if the rule allows it.
    [[nodiscard]] runtime::aten_argument by_rule(aten::schema_argument const& a, rule_reader& r);
    /// The same for an argument without a rule: tensors that broadcast with each other.
    [[nodiscard]] runtime::aten_argument by_type(aten::schema_argument const& a);

    /// How the elements of a tensor may be replaced one by one; nullptr if they depend on each other, or on other tensors.
    struct freedom {
        element_range range;
        bool dense = false; ///< contiguous in every profile
    };
    [[nodiscard]] freedom const* freedom_of(std::string_view tensor) const;
    /// For each tensor of indices that sorts another: the name of the other, whose rows are still sorted.
    [[nodiscard]] std::map<std::string_view, std::string_view> const& unsorters() const { return unsorters_; }

    /// The rank of the tensor with this name; 1 if there is none.
    [[nodiscard]] std::int64_t rank_of(std::string_view tensor) const;
    /// An axis of it, counted from either end.
    [[nodiscard]] std::int64_t axis_of(std::string_view tensor);
    /// The name of the first tensor.
    [[nodiscard]] std::string_view first() const { return first_; }

private:
    runtime::sizes dims(rule_reader& r);
    void word_of(rule_reader& r, tensor_constraints& w);
    tensor_constraints words(rule_reader& r);
    /// The dtype of a tensor whose rule does not fix one.
    dtype open_type();
    runtime::tensor filled(runtime::sizes const& of, tensor_constraints const& w);
    /// The sizes of a tensor without a rule: drawn for the first one; others have some sizes 1, or a leading axis fewer.
    runtime::sizes broadcasting();
    void note(std::string_view name, runtime::tensor const& x);

    random_source& random_;
    size_table& sizes_;
    sampling_profile const& profile_;
    element_source first_elements_;
    std::optional<element_source> other_elements_; ///< if set, its elements replace the first ones
    runtime::sizes shared_;                        ///< of the first tensor without a rule
    bool has_open_ = false;                        ///< a tensor without a fixed dtype was drawn
    std::string_view first_;
    std::map<std::string_view, std::int64_t> ranks_;
    std::map<std::string_view, freedom> free_;
    std::map<std::string_view, std::string_view> unsorters_;
    bool has_near_ = false; ///< a tensor is close to another
};

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// Looks for the smallest part of a model of which another runtime gives other results.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <aton/verify/second_opinion.hpp>

namespace ATON_NAMESPACE::verify {

/// The values of a run of a model, by name.
struct known_values {
    std::unordered_map<std::string, runtime::value> values;
    std::unordered_map<std::string, dtype> narrowest; ///< of their computation, where it is known
};

/// The tolerance of a part: that of compare_models().
[[nodiscard]] constexpr std::int64_t terms_of(std::size_t nodes) {
    return 1000 + 100 * static_cast<std::int64_t>(nodes);
}

class part_search {
public:
    /// `right`: Aton's values, those of the inputs among them. `has_run`: whether the other runtime runs the whole model.
    part_search(model_parts const& model, backends::backend const& other, known_values const& right, bool has_run,
                std::function<void()> count);

    /// Nothing if neither a node nor a run of nodes differs.
    [[nodiscard]] std::optional<failing_part> find();

private:
    using indices = std::vector<std::size_t>;

    /// A part with what it takes and should give. Nothing if a value cannot be passed between runtimes.
    struct tested_part {
        std::string model;
        std::vector<backends::named_value> inputs;
        std::vector<backends::named_value> expected;
        std::vector<backends::named_value> got;
        std::string value; ///< the first that differs
        std::string why;   ///< empty: nothing differs
        bool ran = true;
    };

    [[nodiscard]] std::optional<tested_part> cut(indices const& nodes, known_values const& from) const;
    /// Runs it in the other runtime, and compares.
    void test(tested_part& part, std::size_t nodes) const;
    /// The part, if the other runtime fails on it as it does on the model.
    [[nodiscard]] std::optional<tested_part> failing(indices const& nodes, known_values const& from) const;

    [[nodiscard]] std::optional<known_values> exposed() const;
    [[nodiscard]] std::optional<failing_part> among_single_nodes();
    /// The nodes that an output depends on which differs among these values.
    [[nodiscard]] std::vector<bool> suspects(known_values const& theirs) const;
    /// The results of one node on the values of the other runtime.
    [[nodiscard]] std::optional<known_values> recomputed(std::size_t node, known_values const& theirs) const;
    [[nodiscard]] std::optional<failing_part> among_runs_of_nodes();
    [[nodiscard]] indices without_idle_nodes(indices nodes) const;
    [[nodiscard]] failing_part report(indices const& nodes, tested_part part) const;
    [[nodiscard]] std::size_t producer_of(std::string const& value) const;

    model_parts const& model_;
    backends::backend const& other_;
    known_values const& right_;
    bool has_run_;
    std::function<void()> count_;
    std::unordered_map<std::string, std::size_t> producers_;
    std::unordered_map<std::string, std::size_t>
        last_uses_; ///< of values, as indices of nodes; the number of nodes for outputs
};

/// Whether two values have the same dtype, sizes and bytes.
[[nodiscard]] bool are_identical(runtime::value const& a, runtime::value const& b);
/// A type for a value that is passed to a part. `with_sizes`: otherwise only its rank.
[[nodiscard]] value_type type_of(runtime::value const& v, bool with_sizes);

} // namespace ATON_NAMESPACE::verify

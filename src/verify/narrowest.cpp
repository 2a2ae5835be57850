// SPDX-License-Identifier: MIT
// Follows dtypes through the nodes of a program in order, including branches and loop bodies.
#include "narrowest.hpp"

#include <aton/verify/comparison.hpp>

#include <aton/program/subgraphs.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

class narrowest_search {
public:
    explicit narrowest_search(program::program const& p)
        : p_(p),
          found_(p.values.size(), dtype::undefined),
          seen_(p.subgraphs.size()) {
        follow(p.main);
    }

    [[nodiscard]] std::vector<dtype> const& found() const { return found_; }

private:
    /// Visits the nodes of a graph; returns the narrowest dtype of all their results.
    dtype follow(program::graph const& g) {
        dtype in_all = dtype::undefined;
        for (program::node const& n : g.nodes) {
            dtype narrowest = dtype::undefined;
            for (program::argument const& a : n.arguments) {
                program::for_each_value(a,
                                        [&](program::value_index v) { narrowest = narrower(narrowest, found_.at(v)); });
                if (auto const index = program::subgraph_of(p_, a); index.has_value() && !seen_[*index]) {
                    seen_[*index] = true;
                    narrowest = narrower(narrowest, follow(p_.subgraphs[*index]));
                }
            }
            for (program::value_index const v : program::result_values(n))
                if (v != program::no_value)
                    in_all = narrower(in_all, found_.at(v) = narrower(narrowest, p_.values[v].type));
        }
        return in_all;
    }

    program::program const& p_;
    std::vector<dtype> found_;
    std::vector<bool> seen_;
};

} // namespace

std::vector<dtype> narrowest_dtypes(program::program const& p) { return narrowest_search(p).found(); }

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// What is not compared, and mutants that are no other function: each with its reason.
#include <aton/verify/check.hpp>

namespace aton::verify {

std::span<exclusion const> known_exclusions() {
    static constexpr exclusion all[] = {
        {"rand rand_like randn randn_like randint randint_like randperm bernoulli multinomial normal uniform dropout "
         "native_dropout",
         "",
         "random numbers: their distribution is the same, their order is not"},
        {"empty empty_like new_empty empty_strided new_empty_strided empty_permuted", "", "elements are not set"},
        {"max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices "
         "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d",
         "special",
         "MaxPool passes over NaN, ATen gives NaN; a mask would cost every pool four nodes"},
    };
    return all;
}

std::span<equivalent_mutant const> known_equivalents() {
    static constexpr equivalent_mutant all[] = {
        {"aminmax",
         "Add: left out",
         "adds 0, or NaN where there is one: a guard for runtimes whose ReduceMax passes over NaN, which this one does "
         "not"},
        {"argmax argmin",
         "ReduceMax: taken for ReduceMin",
         "asks whether there is a NaN: a guard for runtimes whose ArgMax passes over NaN, which this one does not"},
    };
    return all;
}

} // namespace aton::verify

// SPDX-License-Identifier: MIT
// Accelerators that run one static graph: no control flow, no sizes that depend on data, no sequences, no float64.
// Public header.
#pragma once

#include <aton/dsl/rewrite.hpp>
#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE::targets {

namespace detail::npu {

using namespace dsl; // NOLINT(google-build-using-namespace): the table is written in this language

inline constexpr std::string_view control_flow = "is control flow";
inline constexpr std::string_view data_sizes = "has a result whose size depends on data";
inline constexpr std::string_view random_numbers = "draws random numbers";
inline constexpr std::string_view sequence = "is about sequences and optional values";
inline constexpr std::string_view text = "is about text";

// clang-format off: one row per line
inline constexpr operator_exclusion exclusions[] = {
    {"If", control_flow},
    {"Loop", control_flow},
    {"Scan", control_flow},
    {"Compress", data_sizes},
    {"NonMaxSuppression", data_sizes},
    {"NonZero", data_sizes},
    {"Unique", data_sizes},
    {"Bernoulli", random_numbers},
    {"Multinomial", random_numbers},
    {"RandomNormal", random_numbers},
    {"RandomNormalLike", random_numbers},
    {"RandomUniform", random_numbers},
    {"RandomUniformLike", random_numbers},
    {"ConcatFromSequence", sequence},
    {"Optional", sequence},
    {"OptionalGetElement", sequence},
    {"OptionalHasElement", sequence},
    {"SequenceAt", sequence},
    {"SequenceConstruct", sequence},
    {"SequenceEmpty", sequence},
    {"SequenceErase", sequence},
    {"SequenceInsert", sequence},
    {"SequenceLength", sequence},
    {"SequenceMap", sequence},
    {"SplitToSequence", sequence},
    {"RegexFullMatch", text},
    {"StringConcat", text},
    {"StringNormalizer", text},
    {"StringSplit", text},
    {"TfIdfVectorizer", text},
};
// clang-format on

inline constexpr auto table =
    rewrites(rewrite<"npu.is_nan">([](pattern<13> p, capture<value> x) { return p.op<"IsNaN">(x); },
                                   [](graph<13> g, value x) { return g.op<"Not">(g.op<"Equal">(x, x)); }));

} // namespace detail::npu

/// What compilers for accelerators have in common. It is not a list of what a certain one supports.
inline constexpr target npu{.name = "npu",
                            .title = "an NPU",
                            .about =
                                "static graphs without control flow, data-dependent sizes, sequences, text and float64",
                            .rewrites = detail::npu::table,
                            .exclusions = detail::npu::exclusions,
                            .types = tensors(dtype::float32, dtype::float16, dtype::bfloat16, dtype::int4, dtype::uint4,
                                             dtype::int8, dtype::uint8, dtype::int16, dtype::uint16, dtype::int32,
                                             dtype::uint32, dtype::int64, dtype::uint64, dtype::bool_),
                            .is_static = true};

} // namespace ATON_NAMESPACE::targets

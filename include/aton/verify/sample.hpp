// SPDX-License-Identifier: MIT
// Random calls of ATen operators, drawn from a schema and a sampling rule. A seed gives the same calls on every machine.
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/runtime/aten_operator.hpp>

namespace ATON_NAMESPACE::verify {

/// A call, without the arguments that are at their defaults.
struct sample {
    std::string overload; ///< "aten::add.Tensor"
    std::vector<runtime::aten_argument> arguments;
    std::vector<std::string> constants = {}; ///< arguments whose tensors the program holds; the others are its inputs
    std::vector<std::int64_t> symbols = {};  ///< sizes for which the types of the inputs have symbols
};

/// The call as one line of Python that torch can run; small tensors are written with their elements.
[[nodiscard]] std::string to_python(sample const& s);

/// How sizes are drawn.
enum class size_profile : std::uint8_t {
    distinct, ///< the first six are pairwise different, and none is 1
    ones,     ///< some are 1
    equal,    ///< all are equal
    empty,    ///< one is 0
    scalar,   ///< tensors whose rank is free are 0-d
    count_
};

/// How elements are drawn.
enum class value_profile : std::uint8_t {
    ordinary, ///< of both signs, with fractions
    ties,     ///< few different values, halves and zeros
    special,  ///< includes NaN, infinities, -0, denormal and the largest numbers
    wide,     ///< magnitudes from 1/64 to 2048, which no narrower dtype can represent
    count_
};

/// How one sample is drawn: sizes, elements, dtypes, layout in memory.
struct sampling_profile {
    size_profile sizes = size_profile::distinct;
    value_profile values = value_profile::ordinary;
    dtype type = dtype::float32; ///< of tensors whose rule does not fix a dtype
    bool scattered = false;      ///< operands are not contiguous in memory
    bool defaults = false;       ///< arguments with a default are omitted
    bool mixed = false;          ///< tensors after the first have random dtypes
    int extreme = -1;            ///< which extreme number most real arguments have; -1: some have a random one

    friend bool operator==(sampling_profile const&, sampling_profile const&) = default;
};

/// Constraints on the arguments of operators, in a small language:
///
///     {"conv2d", "input: (n, c*g, h, w); weight: (o*g, c, k, l); bias: (o*g)?; stride: [1..2; 2]; groups: {g}"}
///
/// A rule is a list of `argument: constraint`, separated by semicolons. Words are sizes: each is drawn once per sample and has the same
/// value everywhere in the rule; `+ - * /` and parentheses compute with them.
///
/// Tensor: its sizes, `(n, c, ...)`, where `...` means up to two more, the same everywhere in the rule; `(~n, ~...)`: sizes that may be
/// 1 instead, to broadcast. Then, in any order:
/// - `int64`, `bool`: a dtype; `bool | own`: one of several dtypes, where `own` is that of the profile;
/// - `index m`: int64 in [0, m); `signed_index m`: int64 in [-m, m); `offsets m`: int64 that ascend from 0 to m;
///   `ends m`: int64 that ascend to m;
/// - `lengths m`: int64 from m down to 1, in descending order; `counts m s`: the same, starting with m, with the sum s;
/// - `in a..b`: elements in a range; `one_sign`: the range or its negative; `bytes`: uint8 tensors ignore the range;
/// - `moderate`: without the largest numbers, whose sums overflow in one order and not in another;
/// - `whole`: floats without fractions; `small`: all elements close to 0 in some calls; `near`: close to the previous tensor;
/// - `sorted`: each row ascends; `distinct`: pairwise different indices; `regular`: invertible square matrices; `permuted`: the same with
///   rows in a random order; `definite`: positive definite by either triangle; `deficient`: some are singular, or not definite;
/// - `hides`: a mask (bool, or float to be added) of which some rows hide everything;
/// - `dense`: contiguous in every profile; `?`: may be None.
///
/// Tensor[]: `* 1..3` tensors, where sizes with an apostrophe (`n'`) are drawn for each tensor; `(n), (m)`: one of each.
/// Number: `a..b`, real if a or b has a decimal point; `a..b | c`: one of several. In some calls, numbers of type float and Scalar take
/// extreme values, unless `only` follows. `{n}`: the value of an expression; `axis x`: an axis of tensor argument x, counted from either
/// end; `?`: may be None.
/// List: `[a..b; count]`, `{n, c}`, `axes x`. String: `'a' | 'b'`. Dtype: `float32 | int64`.
/// `default`: the default of the argument, None if it has none. `any`: as if the rule did not name the argument.
/// `because ...` at the end of any of these: why the values are restricted, or do not matter.
/// `reordered: dim x y`: the axes of these tensors are reordered at random, and `dim`, an axis of them, follows.
/// `only_one: a b`: all of these arguments but one are None. A tensor that `unsorts x` has the indices that sort the rows of x, which would be
/// sorted without it.
/// `result: relative` applies to the results: those near 0 are accurate relative to their size, as those of log1p are.
/// `result: steep`: one rounding of an argument may change them by far more than its derivative says, as in a softmax of large scores.
/// `result: inverse` ignores the inverse of a matrix that has none. `result: eigenvectors`, `result: singular vectors`, `result: orthogonal
/// factors`, `result: reflectors`: vectors are compared by the products that do not depend on their choice.
/// Arguments that the rule does not name are drawn by type and name: tensors broadcast with each other, `dim` is an axis of the first one.
struct sampling_rule {
    std::string_view operators; ///< overloads or operators, separated by spaces; "aten::" is optional
    std::string_view text;
};

/// The rules of ATen's operators.
[[nodiscard]] std::span<sampling_rule const> aten_sampling_rules();
/// The rule of an overload; one that names the overload takes priority over one that names the operator. nullptr if there is none.
[[nodiscard]] sampling_rule const* find_rule(std::span<sampling_rule const> rules, std::string_view overload);

/// Why the rule restricts the values of an argument, or why they do not matter: what follows `because`. Empty if it gives no reason.
[[nodiscard]] std::string_view reason_for(sampling_rule const& rule, std::string_view argument);

/// Whether a list of operators, as in sampling_rule, contains the overload.
[[nodiscard]] bool names(std::string_view operators, std::string_view overload);

/// Draws a sample. Throws aton::error with the rule and the offset if the rule is malformed.
/// ```cpp
/// #include <aton/verify/sample.hpp>
///
/// inline std::string a_call_of_relu() {
///     return to_python(aton::verify::draw("aten::relu", "aten::relu(Tensor self) -> Tensor", nullptr, {}, 1));
/// }
/// ```
[[nodiscard]] sample draw(std::string_view overload, std::string_view schema, sampling_rule const* rule,
                          sampling_profile const& t, std::uint64_t seed);
/// The call that draw() gives for `seed`, with the same arguments and sizes but other elements.
/// Throws as draw() does.
[[nodiscard]] sample draw_elements(std::string_view overload, std::string_view schema, sampling_rule const* rule,
                                   sampling_profile const& t, std::uint64_t seed, value_profile values,
                                   std::uint64_t other_seed);

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// Calls of ATen operators to check mappings with: drawn at random from a schema and a rule, the same for a seed on every machine.
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

/// A call: an argument for each one that is not left to its default.
struct sample {
    std::string overload; ///< "aten::add.Tensor"
    std::vector<runtime::aten_argument> arguments;
};

/// The call as a line of Python that torch runs, values included where they are few.
[[nodiscard]] std::string to_python(sample const& s);

/// How sizes are drawn.
enum class size_theme : std::uint8_t {
    distinct, ///< no two of the first six are equal, none is 1
    ones,     ///< some are 1
    equal,    ///< all are
    empty,    ///< one is 0
    scalar,   ///< tensors of any rank have none
    count_
};

/// How elements are drawn.
enum class value_theme : std::uint8_t {
    ordinary, ///< of both signs, with fractions
    ties,     ///< few different ones, halves and zeros
    special,  ///< NaN, infinities, -0, denormal and the largest numbers among them
    wide,     ///< magnitudes from 1/64 to 2048, so that no narrower dtype holds them
    count_
};

/// How one sample is drawn: sizes, elements, dtypes, layout in memory.
struct theme {
    size_theme sizes = size_theme::distinct;
    value_theme values = value_theme::ordinary;
    dtype type = dtype::float32; ///< of the tensors whose rule leaves it open
    bool scattered = false;      ///< operands do not lie together in memory
    bool defaults = false;       ///< arguments that have a default stay at it
    bool mixed = false;          ///< tensors after the first one have dtypes of their own

    friend bool operator==(theme const&, theme const&) = default;
};

/// What arguments of operators must be for a call to have a meaning, in a small language:
///
///     {"conv2d", "input: (n, c*g, h, w); weight: (o*g, c, k, l); bias: (o*g)?; stride: [1..2; 2]; groups: {g}"}
///
/// `name: what` for each argument, separated by semicolons. Letters and words are sizes, which are drawn once for a sample and are the
/// same wherever they stand; `+ - * /` and parentheses compute with them.
///
/// A tensor: `(n, c, ...)` its sizes, where `...` stands for up to two more, the same wherever it stands; `(~n, ~...)`: sizes that may
/// be 1 instead, to broadcast. After it, in any order: a dtype (`int64`, `bool`), `index m`: int64 from 0 up to m, `signed_index m`:
/// negative ones too, `offsets m`: that rise from 0 to m, `in a..b`: elements in a range, `moderate`: none of the largest numbers, whose
/// sums overflow in one order and not in another, `regular`: square matrices that have an inverse, `dense`: side by side in memory in
/// every theme, `whole`: floats without fractions, `one_sign`: a range that may be that of the opposite numbers instead, `bytes`: uint8 of any
/// value all the same, `sorted`: rows that rise, `near`: to the tensor before it, `small`: all of
/// them close to 0 in some calls, `distinct`: indices no two of which are equal, `hides`:
/// a mask, of bools or of floats that are added, some of whose rows hide everything, `?`: may be None; `bool | own`: of either dtype,
/// `own` is the one of the theme. Of a Tensor[]: `* 1..3` of them, sizes with an apostrophe (`n'`) are drawn
/// anew for each; `(n), (m)`: one of each.
/// A number: `a..b`, real where one of both has a point, or one of several, `a..b | c`; those of type float and Scalar are at the ends of
/// what they can be in some calls, unless `only` follows: the operator has no meaning elsewhere; `{n}`: the value of an expression; `axis x`: of the tensor argument x, from both
/// ends; `?`: may be None. A list: `[a..b; count]`, `{n, c}`, `axes x`. A text: `'a' | 'b'`. A dtype: `float32 | int64`.
/// `default`: left to its default, None where it has none.
/// `result: relative`, which is of no argument: results near 0 keep their digits, as those of log1p do.
/// What has no word in the rule is drawn by its type and name: Tensors broadcast with each other, `dim` is an axis of the first tensor.
struct sampling_rule {
    std::string_view operators; ///< overloads or operators, separated by spaces; "aten::" may be left out
    std::string_view text;
};

/// Those of ATen's operators.
[[nodiscard]] std::span<sampling_rule const> aten_sampling_rules();
/// The rule of an overload, of the whole name before that of the operator; nullptr: none.
[[nodiscard]] sampling_rule const* find_rule(std::span<sampling_rule const> rules, std::string_view overload);

/// Whether a list of operators, as in sampling_rule, has the overload.
[[nodiscard]] bool names(std::string_view operators, std::string_view overload);

/// Draws a sample. Throws aton::error, which names the operator and the place, for a rule that is none.
/// ```cpp
/// #include <aton/verify/sample.hpp>
///
/// inline std::string a_call_of_relu() {
///     return to_python(aton::verify::draw("aten::relu", "aten::relu(Tensor self) -> Tensor", nullptr, {}, 1));
/// }
/// ```
[[nodiscard]] sample draw(std::string_view overload, std::string_view schema, sampling_rule const* rule, theme const& t,
                          std::uint64_t seed);
/// The call that draw() gives for `seed`, its arguments and sizes, with other elements.
/// Throws as draw() does.
[[nodiscard]] sample draw_elements(std::string_view overload, std::string_view schema, sampling_rule const* rule,
                                   theme const& t, std::uint64_t seed, value_theme values, std::uint64_t other_seed);

} // namespace ATON_NAMESPACE::verify

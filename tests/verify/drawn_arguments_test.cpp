// SPDX-License-Identifier: MIT
// Every argument that a built-in row reads is drawn at values that matter, or its sampling rule says why not.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/verify/sample.hpp>

#include "mapped_rows.hpp"

namespace aton::tests {

namespace {

using aten::base_type;
using kind = aten::argument_kind;
using values = std::set<std::string>;

/// The words that an argument of type str accepts, by torch's documentation.
struct words {
    std::string_view operators; ///< as in a sampling rule
    std::string_view argument;
    std::vector<std::string_view> all;
};
words const known_words[] = {
    {"gelu gelu_backward", "approximate", {"none", "tanh"}},
    {"div.Tensor_mode div.Scalar_mode divide.Tensor_mode divide.Scalar_mode", "rounding_mode", {"trunc", "floor"}},
    {"searchsorted.Tensor searchsorted.Scalar", "side", {"left", "right"}},
    {"meshgrid.indexing", "indexing", {"ij", "xy"}},
    {"pad_sequence", "padding_side", {"right", "left"}},
    {"quantile nanquantile", "interpolation", {"linear", "lower", "higher", "midpoint", "nearest"}},
    {"scatter.reduce scatter.value_reduce", "reduce", {"add", "multiply"}},
    {"scatter_reduce.two", "reduce", {"sum", "prod", "mean", "amax", "amin"}},
    {"index_reduce", "reduce", {"prod", "mean", "amax", "amin"}},
    {"segment_reduce", "reduce", {"sum", "mean", "max", "min", "prod"}},
    {"pad", "mode", {"constant", "reflect", "replicate", "circular"}},
    {"stft.center", "pad_mode", {"constant", "reflect", "replicate", "circular"}},
    {"linalg_eigh linalg_eigvalsh _linalg_eigh", "UPLO", {"L", "U"}},
    {"linalg_norm.ord_str linalg_matrix_norm.str_ord", "ord", {"fro", "nuc"}},
    {"linalg_cond.p_str", "p", {"fro", "nuc"}},
    {"linalg_qr", "mode", {"reduced", "complete", "r"}},
    {"linalg_lstsq", "driver", {"gels", "gelsy", "gelsd", "gelss"}},
    {"fft_fft fft_ifft fft_rfft fft_ihfft fft_irfft fft_hfft fft_fft2 fft_ifft2 fft_rfft2 fft_ihfft2 fft_irfft2 "
     "fft_hfft2 fft_fftn fft_ifftn "
     "fft_rfftn fft_ihfftn fft_irfftn fft_hfftn",
     "norm",
     {"backward", "ortho", "forward"}},
    {"einsum", "equation", {}}, // any
    {"torchao::choose_qparams_affine", "mapping_type", {"SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR", "ASYMMETRIC"}},
    {"conv1d.padding conv2d.padding conv3d.padding _convolution_mode", "padding", {"same", "valid"}},
};

/// What the accepted calls of a row had as one argument.
struct drawn_argument {
    aten::schema_argument formal;
    values all{};

    /// The value of a call as text, by which values are told apart.
    [[nodiscard]] std::string in(verify::sample const& s) const {
        for (runtime::aten_argument const& a : s.arguments)
            if (a.name == formal.name) return text_of(a);
        return formal.default_text == "None" ? "None" : "default";
    }
    static std::string text_of(runtime::aten_argument const& a) {
        auto const number = [](scalar const& n) {
            return n.is_integral() || n.is_bool() ? std::to_string(n.to<std::int64_t>())
                                                  : std::to_string(n.to<double>());
        };
        std::string out;
        switch (a.kind) {
        case kind::none: return "None";
        case kind::text: return a.text;
        case kind::type: return std::string(name(a.type));
        case kind::number: return number(a.number);
        case kind::numbers:
            for (scalar const& n : a.numbers) out += number(n) + ' ';
            return '[' + out + ']';
        default: return "a tensor";
        }
    }

    /// What is missing; empty if nothing is.
    [[nodiscard]] std::string fault(std::string_view overload) const {
        if (formal.has_default && formal.default_text != "None" && all == values{"default"})
            return "is always its default";
        if (formal.type.optional && std::ranges::all_of(all, is_none)) return "is always None";
        if (formal.type.optional && std::ranges::none_of(all, is_none)) return "is never None";
        if (formal.type.base == base_type::tensor) return {};
        if (formal.type.base == base_type::str) return missing_word(overload);
        values given = all;
        given.erase("None");
        if (formal.has_default) given.erase(std::string(default_number()));
        if (given.size() < 2) return "has the same value in all calls";
        bool const is_axis = formal.name == "dim" && formal.type.base == base_type::int_ && !formal.type.list;
        if (is_axis && std::ranges::none_of(all, [](std::string const& each) { return each.starts_with('-'); }))
            return "is never counted from the end";
        return {};
    }

private:
    static bool is_none(std::string const& each) { return each == "None"; }
    /// A default that is drawn as a number as well is one value.
    [[nodiscard]] std::string_view default_number() const {
        std::string_view const text = formal.default_text == "True"    ? "1"
                                      : formal.default_text == "False" ? "0"
                                                                       : formal.default_text;
        return all.contains(std::string(text)) ? "default" : std::string_view();
    }
    [[nodiscard]] std::string missing_word(std::string_view overload) const {
        for (words const& each : known_words) {
            if (each.argument != formal.name || !verify::names(each.operators, overload)) continue;
            for (std::string_view const word : each.all)
                if (!all.contains(std::string(word)) &&
                    formal.default_text.find('"' + std::string(word) + '"') == std::string_view::npos)
                    return "is never '" + std::string(word) + "'";
            return {};
        }
        return "has words that this test does not know";
    }
};

bool is_accepted(verify::sample const& s) {
    try {
        (void)runtime::call_aten(s.overload, s.arguments);
        return true;
    } catch (error const&) {
        return false;
    }
}

/// The arguments that the row reads and whose values the rule does not explain, as its calls have them.
std::vector<drawn_argument> drawn_arguments(dsl::entry const& row) {
    verify::sampling_rule const* const rule = verify::find_rule(verify::aten_sampling_rules(), row.overload);
    std::vector<drawn_argument> out;
    aten::schema_argument formal;
    std::uint8_t position = 0;
    for (aten::argument_cursor each{row.schema}; each.next(formal); ++position) {
        base_type const base = formal.type.base;
        bool const is_stored = base == base_type::layout || base == base_type::device ||
                               base == base_type::memory_format || base == base_type::generator ||
                               formal.name == "pin_memory" || formal.name == "non_blocking";
        bool const is_given = base == base_type::tensor && !formal.type.optional;
        if (is_stored || is_given || std::ranges::find(row.named, position) == row.named.end()) continue;
        if (rule == nullptr || verify::reason_for(*rule, formal.name).empty()) out.push_back({formal});
    }
    if (out.empty()) return out;
    constexpr std::uint64_t samples = 12;
    for (std::uint64_t seed = 0; seed != samples; ++seed)
        for (dtype const type : {dtype::float32, dtype::int64, dtype::complex64})
            for (verify::size_profile const sizes :
                 {verify::size_profile::distinct, verify::size_profile::equal, verify::size_profile::ones}) {
                verify::sample const s =
                    verify::draw(row.overload, row.schema, rule, {.sizes = sizes, .type = type}, seed);
                bool const is_new =
                    std::ranges::any_of(out, [&](drawn_argument const& a) { return !a.all.contains(a.in(s)); });
                if (!is_new || !is_accepted(s)) continue;
                for (drawn_argument& a : out) a.all.insert(a.in(s));
            }
    return out;
}

} // namespace

TEST_CASE("arguments that rows read are drawn at values that matter, or their rules say why not") {
    std::string faults;
    for (dsl::entry const* const row : all_rows()) {
        if (!runtime::has_aten_operator(row->overload)) continue;
        for (drawn_argument const& a : drawn_arguments(*row))
            if (std::string const fault = a.fault(row->overload); !fault.empty())
                faults += std::string(row->overload) + ": " + std::string(a.formal.name) + ' ' + fault + '\n';
    }
    CHECK_MESSAGE(faults.empty(), faults);
}

} // namespace aton::tests

// SPDX-License-Identifier: MIT
// Compile errors: one sentence for one broken rule, printed by the compiler at the user's line.
// Internal header.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <aton/core/dtype.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/onnx/call_rules.hpp>

namespace ATON_NAMESPACE {

/// Never defined: a compiler that needs its definition prints the template arguments, which are the message.
/// GCC prints the whole sentence. Clang in C++20 truncates strings at 32 characters, so it gets the sentence in pieces.
template <fixed_string... Sentence>
struct mapping_error;

} // namespace ATON_NAMESPACE

namespace ATON_NAMESPACE::dsl::detail {

/// string_view::find, which GCC 12 with -fsanitize=undefined rejects on a template argument.
constexpr std::size_t find_text(std::string_view text, std::string_view part) {
    char const* const in = text.data();
    char const* const wanted = part.data();
    std::size_t const size = part.size();
    std::size_t const last = text.size(); // pointers, to save constexpr steps
    for (std::size_t i = 0; i + size <= last; ++i) {
        std::size_t same = 0;
        while (same != size && in[i + same] == wanted[same]) ++same;
        if (same == size) return i;
    }
    return std::string_view::npos;
}

/// A message assembled at compile time, of at most 320 characters.
struct sentence {
    char data[320]{};
    std::size_t length = 0;

    constexpr sentence& operator<<(std::string_view text) {
        for (char c : text)
            if (length < sizeof(data)) data[length++] = c;
        return *this;
    }
    constexpr sentence& operator<<(int n) {
        if (n < 0) {
            *this << "-";
            n = -n;
        }
        if (n >= 10) *this << n / 10;
        char const digit[1] = {static_cast<char>('0' + n % 10)};
        return *this << std::string_view(digit, 1);
    }
    constexpr sentence& operator<<(type_set types) {
        int shown = 0;
        bool const half = (types.plain >> 32) != 0 && (types.plain & 0xffffffffU) == 0;
        for (std::size_t i = 1; i != dtype_count; ++i) {
            if ((types.plain >> (half ? i + 32 : i) & 1U) == 0) continue;
            if (++shown > 4) return *this << "...";
            if (shown > 1) *this << "|";
            *this << (half ? "seq of " : "") << name(static_cast<dtype>(i));
        }
        return shown == 0 ? *this << "no tensor" : *this;
    }
    [[nodiscard]] constexpr std::string_view view() const { return {data, length}; }
};

constexpr std::string_view attribute_kind(onnx::attr_type t) {
    constexpr std::string_view names[] = {"undefined",
                                          "a float",
                                          "an int",
                                          "a string",
                                          "a tensor",
                                          "a graph",
                                          "floats",
                                          "ints",
                                          "strings",
                                          "tensors",
                                          "graphs",
                                          "a sparse tensor",
                                          "sparse tensors",
                                          "a type",
                                          "types"};
    return names[static_cast<std::size_t>(t)];
}

// What is wrong with a part of a call, for the rules on that part.

constexpr sentence& describe_operator(sentence& s, onnx::call const& c, onnx::broken_rule const& r) {
    using onnx::rule;
    switch (r.kind) {
    case rule::no_such_domain:
        s << "the graph does not name this domain";
        return r.facts.nearest.empty()
                   ? s << "; declare it with domain<...> and add it: graph<" << c.since << ", my_domain>"
                   : s << "; did you mean " << r.facts.nearest << "?";
    case rule::no_such_operator:
        s << "no such operator";
        return r.facts.nearest.empty() ? s : s << "; did you mean " << r.facts.nearest << "?";
    case rule::operator_too_new:
        return s << "first appears in opset " << r.facts.legal_from << "; start the range of the graph there";
    case rule::operator_deprecated:
        if (r.facts.legal_from != 0)
            return s << "deprecated; start the range of the graph at opset " << r.facts.legal_from;
        return r.facts.legal_until != 0 ? s << "deprecated; end the range of the graph at opset " << r.facts.legal_until
                                        : s << "deprecated, without a replacement";
    case rule::meaning_changed:
        return s << "the meaning changed: " << r.facts.change->reason << "; split the range [" << c.since << ", "
                 << c.until << "] at opset " << r.opset;
    default: return s;
    }
}

constexpr sentence& describe_input(sentence& s, onnx::broken_rule const& r) {
    using onnx::rule;
    if (r.kind == rule::too_many_inputs)
        return s << r.facts.count.given << " inputs given, at most " << r.facts.count.allowed << " allowed";
    s << "input " << r.culprit;
    switch (r.kind) {
    case rule::too_few_inputs: return s << " is missing, " << r.facts.count.given << " given";
    case rule::input_required: return s << " is required; it cannot be an optional value or absent";
    case rule::list_not_variadic: return s << " takes a single value, not a list";
    case rule::number_without_type:
        return s << " is a number whose type no other input determines; use g.scalar(number, dtype)";
    case rule::number_kind:
        return s << " is a floating-point number beside " << r.facts.types.allowed
                 << "; write an integer, or cast the other input";
    case rule::no_common_type: return s << " is " << r.facts.types.given << ", allowed here: " << r.facts.types.allowed;
    default: return s;
    }
}

constexpr sentence& describe_attribute(sentence& s, onnx::broken_rule const& r) {
    using onnx::rule;
    switch (r.kind) {
    case rule::no_such_attribute:
        s << "no attribute " << r.culprit;
        if (r.facts.is_input) return s << "; " << r.facts.nearest << " is an input here";
        return r.facts.nearest.empty() ? s : s << "; did you mean " << r.facts.nearest << "?";
    case rule::attribute_type:
        return s << "attribute " << r.culprit << " is " << attribute_kind(r.facts.attribute.allowed) << ", given "
                 << attribute_kind(r.facts.attribute.given);
    case rule::attribute_twice: return s << "attribute " << r.culprit << " is given twice";
    case rule::attribute_missing:
        return s << "required attribute " << r.culprit << " (" << attribute_kind(r.facts.attribute.allowed)
                 << ") is missing";
    case rule::attribute_optional:
        return s << "required attribute " << r.culprit << " (" << attribute_kind(r.facts.attribute.allowed)
                 << ") is a std::optional, which may be empty; give the value";
    case rule::attribute_dtype:
        return s << "attribute " << r.culprit << " is " << r.facts.types.given
                 << ", allowed here: " << r.facts.types.allowed;
    default: return s;
    }
}

constexpr sentence& describe_outputs(sentence& s, onnx::broken_rule const& r) {
    using onnx::rule;
    switch (r.kind) {
    case rule::too_few_outputs:
        return s << "has at least " << r.facts.count.allowed << " outputs; ask for them with outputs<"
                 << r.facts.count.allowed << ">";
    case rule::too_many_outputs:
        return s << "outputs<" << r.facts.count.given << "> requested, at most " << r.facts.count.allowed << " allowed";
    case rule::outputs_not_variadic:
        return s << "has a fixed number of outputs; use outputs<" << r.facts.count.allowed << ">, not output_list";
    default: return s;
    }
}

constexpr sentence& describe_body(sentence& s, onnx::call const& c, onnx::broken_rule const& r) {
    using onnx::rule;
    s << "the lambda for " << r.culprit;
    if (r.kind == rule::body_range)
        return s << " covers opsets " << r.facts.body->since << " to " << r.facts.body->until
                 << ", but the outer graph covers " << c.since << " to " << c.until;
    s << (r.kind == rule::body_inputs ? " takes " : " returns ") << r.facts.count.given
      << (r.facts.count.given == 1 ? " value" : " values");
    return r.kind == rule::body_inputs ? s << " after the graph, but the operator passes " << r.facts.count.allowed
                                       : s << ", but must return " << r.facts.count.allowed;
}

/// "onnx::ReduceSum (opset 13): no attribute axes; axes is an input here".
constexpr sentence describe(onnx::call const& c, onnx::broken_rule const& r) {
    using onnx::rule;
    sentence s;
    s << (c.domain.empty() ? std::string_view("onnx") : c.domain) << "::" << c.name << " (opset " << r.opset << "): ";
    switch (r.kind) {
    case rule::no_such_domain:
    case rule::no_such_operator:
    case rule::operator_too_new:
    case rule::operator_deprecated:
    case rule::meaning_changed: return describe_operator(s, c, r);
    case rule::too_few_inputs:
    case rule::too_many_inputs:
    case rule::input_required:
    case rule::list_not_variadic:
    case rule::number_without_type:
    case rule::number_kind:
    case rule::no_common_type: return describe_input(s, r);
    case rule::no_such_attribute:
    case rule::attribute_type:
    case rule::attribute_twice:
    case rule::attribute_missing:
    case rule::attribute_optional:
    case rule::attribute_dtype: return describe_attribute(s, r);
    case rule::too_few_outputs:
    case rule::too_many_outputs:
    case rule::outputs_not_variadic: return describe_outputs(s, r);
    case rule::body_range:
    case rule::body_inputs:
    case rule::body_results: return describe_body(s, c, r);
    case rule::none: break;
    }
    return s;
}

// The sentence as template arguments. Pieces for Clang end at spaces and have at most 31 characters.

template <auto Text, std::size_t From, std::size_t Size>
inline constexpr auto piece = fixed_string<Size>(Text.view().substr(From, Size));

constexpr std::size_t piece_end(std::string_view text, std::size_t from) {
    constexpr std::size_t longest = 31;
    if (text.size() - from <= longest) return text.size();
    for (std::size_t i = from + longest; i != from; --i)
        if (text[i - 1] == ' ') return i;
    return from + longest;
}

template <auto Text>
constexpr std::size_t piece_count() {
    std::size_t n = 0;
    for (std::size_t from = 0; from != Text.view().size(); from = piece_end(Text.view(), from)) ++n;
    return n;
}

template <auto Text, std::size_t Index>
constexpr std::size_t piece_start() {
    std::size_t from = 0;
    for (std::size_t i = 0; i != Index; ++i) from = piece_end(Text.view(), from);
    return from;
}

template <auto Text, std::size_t... I>
mapping_error<
    piece<Text, piece_start<Text, I>(), piece_end(Text.view(), piece_start<Text, I>()) - piece_start<Text, I>()>...>
    in_pieces(std::index_sequence<I...>);

/// `sizeof(diagnosis<text>)` is the compile error. Written where the rule is checked, for a short instantiation backtrace.
#if defined(__cpp_static_assert) && __cpp_static_assert >= 202306L
template <auto Text>
struct diagnosis {
    static_assert(Text.length == 0, Text.view());
};
#elif defined(__clang__)
#define ATON_DIAGNOSIS_IN_CONDITION // Clang prints the types in the condition of a static_assert
template <auto Text>
using diagnosis = decltype(in_pieces<Text>(std::make_index_sequence<piece_count<Text>()>{}));
template <class Verdict>
inline constexpr bool holds = true;
template <fixed_string... Sentence>
inline constexpr bool holds<mapping_error<Sentence...>> = false;
#else
template <auto Text>
using diagnosis = mapping_error<piece<Text, 0, Text.length>>;
#endif

} // namespace ATON_NAMESPACE::dsl::detail

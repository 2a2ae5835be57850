// SPDX-License-Identifier: MIT
// The option --quantize: what weights of products are rounded to.
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "commands.hpp"

namespace aton::tool {

namespace {

/// With 32, the default of fewer bits, scales would be an eighth of the bytes.
constexpr std::int64_t int8_block = 64;

/// "block=64", if the prefix is "block=". Nothing may follow the number.
template <class Number>
bool read_number(std::string_view word, std::string_view prefix, Number& to) {
    if (!word.starts_with(prefix)) return false;
    std::string_view const digits = word.substr(prefix.size());
    auto const [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), to);
    return fault == std::errc() && end == digits.data() + digits.size();
}

/// Whether the word is known.
bool read_word(std::string_view word, bool is_first, quantize_options& to, std::optional<std::int64_t>& block) {
    if (word.starts_with("block=")) return !is_first && read_number(word, "block=", block.emplace());
    if (is_first) return read_number(word, "int", to.how.bits);
    to.how.symmetric = to.how.symmetric || word == "symmetric";
    to.embeddings = to.embeddings || word == "embeddings";
    return word == "symmetric" || word == "embeddings" || read_number(word, "accuracy=", to.accuracy_level);
}

} // namespace

quantize_options parse_quantize(std::string const& text) {
    quantize_options out;
    std::optional<std::int64_t> block;
    std::string_view left = text;
    for (bool is_first = true;; is_first = false) {
        std::size_t const colon = left.find(':');
        if (!read_word(left.substr(0, colon), is_first, out, block))
            throw error("--quantize " + plain(text) +
                        ": write it as TYPE[:block=NUMBER][:symmetric][:embeddings][:accuracy=NUMBER], where TYPE is "
                        "int2, int4 or int8, for example --quantize int4:block=32");
        if (colon == std::string_view::npos) break;
        left.remove_prefix(colon + 1);
    }
    if (out.how.bits == 8) out.how.block = int8_block;
    if (block) out.how.block = *block;
    return out;
}

void parse_quantization(std::string const& text, export_options& to) {
    constexpr int most_accuracy = 4;
    int accuracy = to.product_accuracy;
    bool const is_fused = text == "fused" || read_number(text, "fused:accuracy=", accuracy);
    if ((!is_fused && text != "exact") || accuracy < 0 || accuracy > most_accuracy)
        throw error("--quantization " + plain(text) + ": write it as fused, fused:accuracy=NUMBER of 0 to 4, or exact");
    to.quantization = is_fused ? quantization_mode::fused : quantization_mode::exact;
    to.product_accuracy = accuracy;
}

} // namespace aton::tool

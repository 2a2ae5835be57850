// SPDX-License-Identifier: MIT
// Finds the words that a string attribute may have in its documentation. Every string attribute of ONNX is a closed list or free text;
// one that is neither ends the generator.
#include <algorithm>
#include <regex>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include <onnx/common/version.h>

#include "descriptors.hpp"

namespace aton::tool {

namespace {

using ::onnx::AttributeProto;
using ::onnx::OpSchema;

/// What an attribute with no list of words in its documentation may be. An empty operator stands for every one, an empty list for any text.
struct stated_words {
    std::string_view op;
    std::string_view attribute;
    std::string_view words;
};
constexpr stated_words stated[] = {
    {"", "equation", ""},
    {"", "pattern", ""},
    {"", "delimiter", ""},
    {"", "locale", ""},
    {"", "stopwords", ""},
    {"", "pool_strings", ""},
    {"", "value_string", ""},
    {"", "value_strings", ""},
    {"", "cats_strings", ""},
    {"", "default_string", ""},
    {"", "string_vocabulary", ""},
    {"", "classes_strings", ""},
    {"", "classlabels_strings", ""},
    {"", "keys_strings", ""},
    {"", "values_strings", ""},
    {"Gradient", "xs", ""},
    {"Gradient", "y", ""},
    {"Gradient", "zs", ""},
    // "DCR (default) for ... Use CRD for ..."
    {"", "mode", "DCR CRD"},
    // The names are in the documentation of the operators, as equations.
    {"",
     "activations",
     "Affine Elu HardSigmoid LeakyRelu Relu ScaledTanh Sigmoid Softplus Softsign Tanh ThresholdedRelu"},
    // "one of the types from DataType enum in TensorProto"
    {"Cast",
     "to",
     "BOOL COMPLEX128 COMPLEX64 DOUBLE FLOAT FLOAT16 INT16 INT32 INT64 INT8 STRING UINT16 UINT32 UINT64 UINT8"}};

/// Attributes whose default ONNX misspells: GRU's direction of opset 1 is 'foward'.
bool is_misspelt(std::string_view word) { return word == "foward"; }

/// "a, 'b' (the default), "c" and d" at the start of a text: the words, without quotes. A comma may be inside the quotes.
std::vector<std::string> listed(std::string_view text) {
    auto const is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    auto const skip = [&text](std::string_view any) {
        text.remove_prefix(std::min(text.find_first_not_of(any), text.size()));
    };
    auto const take = [&text](std::string_view word) {
        bool const found = text.substr(0, word.size()) == word;
        if (found) text.remove_prefix(word.size());
        return found;
    };
    std::vector<std::string> words;
    for (bool goes_on = true; goes_on;) {
        skip(" `'\"");
        auto const end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_letter) - text.begin());
        if (end == 0) break;
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
        bool const comma = take(",");
        skip("`'\"");
        skip(" ");
        if (take("(")) text.remove_prefix(std::min(text.find(')'), text.size() - 1) + 1);
        goes_on = take(",") || comma;
        skip(" ");
        goes_on = take("and ") || take("or ") || goes_on;
    }
    return words;
}

/// Words after a phrase that introduces a list.
std::vector<std::string> after_introduction(std::string const& text) {
    static std::regex const phrase(
        "(must be either|can be either|should be either|[Oo]ne of:?|must be one of|Valid values are|Allowed values are|"
        "[Mm]odes include|[Mm]odes are supported:|[Mm]odes:|Support padding modes for outside grid values:|"
        "reduction to apply(?: to loss)?:|approximation algorithm:)");
    std::smatch found;
    return std::regex_search(text, found, phrase)
               ? listed(std::string_view(text).substr(static_cast<std::size_t>(found.position() + found.length())))
               : std::vector<std::string>();
}

/// Words that a pattern captures, wherever it occurs.
std::vector<std::string> captured(std::string const& text, std::string const& pattern) {
    std::regex const each(pattern);
    std::vector<std::string> words;
    for (std::sregex_iterator at(text.begin(), text.end(), each), end; at != end; ++at) words.push_back((*at)[1]);
    return words;
}

std::vector<std::string> words_of(OpSchema const& schema, std::string const& name, OpSchema::Attribute const& a) {
    std::string const text = std::regex_replace(a.description, std::regex(R"(\s+)"), " ");
    std::vector<std::string> words = captured(text, "if `?" + name + "`? is [`\"]+([a-z_]+)[`\"]+");
    if (words.empty()) words = captured(text, "If `" + name + "` is [`\"]+([a-z_]+)[`\"]+");
    if (words.empty()) words = after_introduction(text);
    if (words.size() < 2) words = captured(text, "`([a-z]+)`: ");
    if (words.size() >= 2) return words;
    for (stated_words const& each : stated) {
        bool const fits = (each.op.empty() || each.op == schema.Name()) && each.attribute == name &&
                          (each.attribute != "mode" || text.rfind("DCR", 0) == 0);
        if (!fits) continue;
        std::string const all(each.words);
        return captured(all, "([A-Za-z0-9]+)");
    }
    throw std::runtime_error(schema.Name() + ": the words of its attribute " + name +
                             " are not known; add a phrase to words.cpp, or state them there");
}

} // namespace

std::vector<word_list> collect_words(std::vector<OpSchema> const& schemas) {
    std::vector<word_list> lists;
    for (OpSchema const& s : schemas)
        for (auto const& [name, a] : s.attributes()) {
            if (a.type != AttributeProto::STRING && a.type != AttributeProto::STRINGS) continue;
            std::vector<std::string> const found = words_of(s, name, a);
            std::set<std::string> const words(found.begin(), found.end());
            std::string const& usual = a.default_value.s();
            if (!words.empty() && !usual.empty() && !is_misspelt(usual) && words.count(usual) == 0)
                throw std::runtime_error(s.Name() + ": the words of its attribute " + name + " do not include " +
                                         usual);
            std::string text;
            for (std::string const& each : words) text += (text.empty() ? "" : " ") + each;
            lists.push_back({s.domain(), s.Name(), name, s.SinceVersion(), text});
        }
    std::sort(lists.begin(), lists.end(), [](word_list const& a, word_list const& b) {
        return std::tie(a.domain, a.op, a.attribute, a.since) < std::tie(b.domain, b.op, b.attribute, b.since);
    });
    // A version with the words of the one before it needs no row.
    auto const repeats = [](word_list const& a, word_list const& b) {
        return std::tie(a.domain, a.op, a.attribute, a.words) == std::tie(b.domain, b.op, b.attribute, b.words);
    };
    lists.erase(std::unique(lists.begin(), lists.end(), repeats), lists.end());
    std::erase_if(lists, [](word_list const& each) { return each.words.empty(); });
    return lists;
}

} // namespace aton::tool

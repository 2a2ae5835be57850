// SPDX-License-Identifier: MIT
// ONNX operators: features and linear models (ai.onnx.ml). Operators of maps are not supported: values are tensors and
// sequences.
#include "call.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "classifiers.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// Selects from the last axis; a vector becomes a row.
results array_feature_extractor(call const& c) {
    tensor const& x = c.in(0);
    if (x.rank() == 0) throw error("the input must have at least one dimension");
    tensor const indices = flatten(c.in(1));
    tensor const all = reshape(range(x.count(), 0, 1, indices.where()), x.sizes());
    tensor const positions = index_select(all, -1, indices);
    tensor const out = take(x, positions);
    return x.rank() == 1 ? out.unsqueezed(0) : out;
}

results binarizer(call const& c) {
    tensor const& x = c.in(0);
    tensor const wide = is_floating(x.dtype()) ? x : cast(x, dtype::float64);
    return cast(greater(wide, scalar(c.f("threshold", 0))), x.dtype());
}

results feature_vectorizer(call const& c) {
    std::vector<std::int64_t> const widths = c.ints("inputdimensions");
    std::vector<tensor> parts;
    for (std::size_t i = 0; i != c.inputs(); ++i) {
        tensor x = cast(c.in(i), dtype::float32);
        if (x.rank() == 1) x = x.unsqueezed(0);
        if (x.rank() != 2) throw error("inputs of shape [N, C] are expected, not " + to_string(x.sizes()));
        if (i < widths.size() && widths[i] < 0) throw error("'inputdimensions' has a negative number");
        if (i < widths.size()) x = pad(x, {0, 0}, {0, widths[i] - x.size(1)}, scalar(0));
        parts.push_back(x);
    }
    return concat(parts, 1);
}

/// One number for all features, or one per feature.
tensor for_features(tensor const& list, tensor const& x, char const* what) {
    if (list.count() != 1 && (x.rank() == 0 || list.count() != x.size(x.rank() - 1)))
        throw error("'" + std::string(what) + "' has " + std::to_string(list.count()) +
                    " elements, which does not fit shape " + to_string(x.sizes()));
    return list.count() == 1 ? reshape(list, {}) : list;
}

results imputer(call const& c) {
    tensor const& x = c.in(0);
    std::vector<float> const floats = c.floats("imputed_value_floats");
    std::vector<std::int64_t> const integers = c.ints("imputed_value_int64s");
    if (floats.empty() == integers.empty()) throw error("exactly one list of imputed values is expected");
    tensor const list = floats.empty() ? numbers(c, integers) : numbers(c, floats);
    tensor const values = cast(for_features(list, x, "imputed_value"), x.dtype());
    double const replaced = c.f("replaced_value_float", 0);
    tensor const missing = !floats.empty() && std::isnan(replaced) ? isnan(x)
                           : floats.empty() ? equal(x, scalar(static_cast<long long>(c.i("replaced_value_int64", 0))))
                                            : equal(x, scalar(replaced));
    return where(missing, values, x);
}

results scaler(call const& c) {
    tensor const x = cast(c.in(0), dtype::float32);
    tensor const offset = for_features(numbers(c, c.floats("offset")), x, "offset");
    return (x - offset) * for_features(numbers(c, c.floats("scale")), x, "scale");
}

// MAX divides by the maximum, not by the maximum magnitude; if it is 0, nothing is divided.
results normalizer(call const& c) {
    tensor const x = cast(c.in(0), dtype::float32);
    if (x.rank() == 0) throw error("the input must have shape [N, C] or [C]");
    std::string const kind = c.s("norm", "MAX");
    tensor divisor;
    if (kind == "MAX") divisor = max(x, {-1}, true);
    else if (kind == "L1") divisor = sum(abs(x), {-1}, true);
    else if (kind == "L2") divisor = sqrt(sum(square(x), {-1}, true));
    else throw error("unknown norm '" + kind + "'");
    return x / where(equal(divisor, scalar(0)), scalar(1), divisor);
}

/// Elements as keys of a table: numbers by value; all NaN are one key.
std::vector<std::string> keys_of(tensor const& x) {
    std::vector<std::string> out;
    if (x.is_strings()) {
        tensor const all = x.contiguous();
        out.assign(all.strings().begin(), all.strings().end());
    } else if (is_floating(x.dtype())) {
        tensor const all = to_host(cast(x, dtype::float64)).contiguous();
        for (std::int64_t i = 0; i != all.count(); ++i) {
            double const v = all.data<double const>()[i];
            out.push_back(std::isnan(v) ? "NaN" : std::to_string(std::bit_cast<std::int64_t>(v + 0.0))); // -0 equals 0
        }
    } else {
        for (std::int64_t v : to_host(cast(x, dtype::int64)).integers()) out.push_back(std::to_string(v));
    }
    return out;
}

/// The index of each element in a list, the last one for duplicates; -1 if it is missing.
tensor numbers_in(tensor const& x, tensor const& list) {
    if (x.is_strings() != list.is_strings()) throw error("the input and the keys must have the same type");
    std::unordered_map<std::string, std::int64_t> places;
    std::int64_t number = 0;
    for (std::string& key : keys_of(list)) places.insert_or_assign(std::move(key), number++);
    std::vector<std::int64_t> out;
    for (std::string const& key : keys_of(x)) {
        auto const found = places.find(key);
        out.push_back(found == places.end() ? -1 : found->second);
    }
    return tensor::of_integers(out).reshaped(x.sizes());
}

/// `values[i]` for key i, `otherwise` for -1.
tensor mapped(call const& c, tensor const& keys, tensor const& values, tensor const& otherwise) {
    if (keys.rank() != 1 || values.rank() != 1 || keys.count() != values.count())
        throw error("keys and values must have the same length");
    tensor const& x = c.in(0);
    tensor const found = numbers_in(x, keys);
    tensor const missing = less(found, scalar(0));
    tensor const at = to_device(where(missing, scalar(static_cast<long long>(values.count())), found), values.where());
    if (!values.is_strings()) {
        std::vector<tensor> const all = {values, reshape(cast(otherwise, values.dtype()), {1})};
        return take(concat(all, 0), at);
    }
    std::vector<std::string> all(values.strings().begin(), values.strings().end());
    all.push_back(otherwise.strings()[0]);
    return take(tensor::of_strings(std::move(all), {values.count() + 1}), at);
}

tensor texts(std::vector<std::string> list) {
    auto const count = static_cast<std::int64_t>(list.size());
    return tensor::of_strings(std::move(list), {count});
}

/// The "keys" or "values" attribute of LabelEncoder, of any type.
tensor list_of(call const& c, std::string const& name) {
    if (c.has_attribute(name + "_tensor")) return c.t(name + "_tensor");
    if (c.has_attribute(name + "_strings")) return texts(c.strings(name + "_strings"));
    if (c.has_attribute(name + "_int64s")) return numbers(c, c.ints(name + "_int64s"));
    if (c.has_attribute(name + "_floats")) return numbers(c, c.floats(name + "_floats"));
    throw error(name + " are missing");
}

tensor integer(call const& c, std::string_view name, std::int64_t otherwise) {
    return numbers(c, std::vector<std::int64_t>{c.i(name, otherwise)});
}

tensor default_of(call const& c, tensor const& values) {
    if (c.has_attribute("default_tensor")) {
        tensor const given = c.t("default_tensor");
        if (given.count() != 1 || given.is_strings() != values.is_strings())
            throw error("'default_tensor' must be one value of the type of the other values");
        return given.contiguous();
    }
    if (values.is_strings()) return texts({c.s("default_string", "_Unused")});
    if (is_floating(values.dtype()))
        return numbers(c, std::vector<float>{static_cast<float>(c.f("default_float", -0.0))});
    return integer(c, "default_int64", -1);
}

// Opset 1 has a single list of strings.
results label_encoder(call const& c) {
    if (c.has_attribute("classes_strings")) {
        tensor const classes = texts(c.strings("classes_strings"));
        tensor const places = range(classes.count(), 0, 1, c.where());
        if (c.in(0).is_strings()) return mapped(c, classes, places, integer(c, "default_int64", -1));
        return mapped(c, places, classes, texts({c.s("default_string", "_Unused")}));
    }
    tensor const values = list_of(c, "values");
    return mapped(c, list_of(c, "keys"), values, default_of(c, values));
}

results category_mapper(call const& c) {
    tensor const strings = texts(c.strings("cats_strings"));
    tensor const integers = numbers(c, c.ints("cats_int64s"));
    if (c.in(0).is_strings()) return mapped(c, strings, integers, integer(c, "default_int64", -1));
    return mapped(c, integers, strings, texts({c.s("default_string", "_Unused")}));
}

results one_hot_encoder(call const& c) {
    tensor const& x = c.in(0);
    std::vector<std::string> const strings = c.strings("cats_strings");
    std::vector<std::int64_t> const integers = c.ints("cats_int64s");
    tensor const list = x.is_strings() ? texts(strings) : numbers(c, integers);
    tensor const elements = x.is_strings() ? to_device(numbers_in(x, list), c.where()) : cast(x, dtype::int64);
    tensor const categories = x.is_strings() ? range(list.count(), 0, 1, c.where()) : list;
    tensor const hot = equal(elements.unsqueezed(x.rank()), categories);
    if (c.i("zeros", 1) == 0 && x.count() != 0) {
        tensor const known = reduce(reduce_op::any, hot, {-1});
        if (!to_host(reduce(reduce_op::all, known, all_axes(known))).item().to<bool>())
            throw error("an element is not one of the categories");
    }
    return cast(hot, dtype::float32);
}

/// x times the coefficients of `rows` models, which are concatenated, plus their intercepts.
tensor linear(call const& c, tensor const& x, std::int64_t rows) {
    std::vector<float> const coefficients = c.floats("coefficients");
    std::vector<float> const intercepts = c.floats("intercepts");
    auto const count = static_cast<std::int64_t>(coefficients.size());
    if (rows <= 0 || count % rows != 0 || count / rows != x.size(1))
        throw error(std::to_string(coefficients.size()) + " coefficients do not fit features of shape " +
                    to_string(x.sizes()));
    tensor const weights = cast(reshape(numbers(c, coefficients), {rows, x.size(1)}), x.dtype());
    tensor scores = matmul(x, transpose(weights, 0, 1));
    if (intercepts.empty()) return scores;
    if (static_cast<std::int64_t>(intercepts.size()) != rows) throw error("intercepts do not match the coefficients");
    return scores + cast(numbers(c, intercepts), x.dtype());
}

results linear_regressor(call const& c) {
    tensor const scores = linear(c, features(c), c.i("targets", 1));
    return cast(transformed_scores(scores, c.s("post_transform", "NONE")), dtype::float32);
}

// With two classes, a single score is that of the second one; below 0 it selects the first.
results linear_classifier(call const& c) {
    tensor const x = features(c);
    std::vector<std::int64_t> const integers = c.ints("classlabels_ints");
    std::vector<std::string> const strings = c.strings("classlabels_strings");
    std::string const transform = c.s("post_transform", "NONE");
    auto const coefficients = static_cast<std::int64_t>(c.floats("coefficients").size());
    tensor scores = linear(c, x, x.size(1) == 0 ? 0 : coefficients / x.size(1));
    std::size_t const classes = std::max(integers.size(), strings.size());
    if (scores.size(1) == 1 && classes == 2) {
        std::vector<tensor> const both = {-scores, scores};
        scores = concat(both, 1);
    }
    scores = transformed_scores(scores, transform);
    tensor const floats = cast(scores, dtype::float32);
    if (scores.size(1) > 1) {
        if (static_cast<std::int64_t>(classes) != scores.size(1)) throw error("class labels do not match the scores");
        return {labels_at(c, arg_max(scores, 1), integers, strings), floats};
    }
    tensor const chosen = greater_equal(scores.squeezed(1), scalar(transform == "NONE" ? 0.0 : 0.5));
    tensor const index = cast(chosen, dtype::int64);
    if (!strings.empty()) return {labels_at(c, index, {}, {"", strings[0]}), floats};
    return {labels_at(c, index, {0, integers.empty() ? 1 : integers[0]}, {}), floats};
}

} // namespace

rows machine_learning() {
    static constexpr row all[] = {
        {"ArrayFeatureExtractor", array_feature_extractor, ml_domain},
        {"Binarizer", binarizer, ml_domain},
        {"CategoryMapper", category_mapper, ml_domain},
        {"FeatureVectorizer", feature_vectorizer, ml_domain},
        {"Imputer", imputer, ml_domain},
        {"LabelEncoder", label_encoder, ml_domain},
        {"LinearClassifier", linear_classifier, ml_domain},
        {"LinearRegressor", linear_regressor, ml_domain},
        {"Normalizer", normalizer, ml_domain},
        {"OneHotEncoder", one_hot_encoder, ml_domain},
        {"Scaler", scaler, ml_domain},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels

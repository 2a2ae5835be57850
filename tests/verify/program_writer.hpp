// SPDX-License-Identifier: MIT
// A `.pt2` file under construction: the JSON of its values and nodes, with types and sizes that no torch program has.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/runtime/tensor.hpp>

#include "../changed_bytes.hpp"
#include "../frontend/small_archive.hpp"
#include "../runtime/changed_graph.hpp"

namespace aton::tests {

using random = std::mt19937_64;

inline bool once_in(random& rng, int n) { return up_to(rng, n - 1) == 0; }

template <class List>
auto const& one_of(List const& list, random& rng) {
    return list[up_to<std::size_t>(rng, std::size(list) - 1)];
}

/// torch's dtype codes, as serialized: c10/core/ScalarType.h.
inline int code_of(dtype t) {
    switch (t) {
    case dtype::uint8: return 1;
    case dtype::int8: return 2;
    case dtype::int16: return 3;
    case dtype::int32: return 4;
    case dtype::int64: return 5;
    case dtype::float16: return 6;
    case dtype::float64: return 8;
    case dtype::complex64: return 10;
    case dtype::complex128: return 11;
    case dtype::bool_: return 12;
    case dtype::bfloat16: return 13;
    case dtype::uint16: return 28;
    case dtype::uint32: return 34;
    case dtype::uint64: return 35;
    default: return 7;
    }
}
inline constexpr int every_code[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 33, 34, 35};

inline std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        char escaped[8];
        if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\') {
            (void)std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(byte));
            out += escaped;
        } else {
            out += c;
        }
    }
    return out + '"';
}

inline std::string real_text(double number) {
    if (std::isnan(number)) return "\"NaN\"";
    if (std::isinf(number)) return number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    char text[40];
    (void)std::snprintf(text, sizeof text, "%.17g", number);
    return text;
}

inline std::string with_tag(std::string_view tag, std::string const& json) {
    return "{\"" + std::string(tag) + "\": " + json + "}";
}

template <class Each>
inline std::string list_text(std::size_t count, Each each) {
    std::string out = "[";
    for (std::size_t i = 0; i != count; ++i) out += (i == 0 ? "" : ", ") + each(i);
    return out + "]";
}

/// The content of a TensorMeta. Sizes are JSON, since they need not be numbers.
struct tensor_type {
    int code = 7;
    std::vector<std::string> sizes;
};

inline std::string fixed_size(std::int64_t n) { return with_tag("as_int", std::to_string(n)); }

inline std::string expression_size(std::string const& text) {
    return with_tag("as_expr", "{\"expr_str\": " + quoted(text) + ", \"hint\": {\"as_int\": 3}}");
}

inline tensor_type type_of(runtime::tensor const& t) {
    tensor_type out{code_of(t.dtype()), {}};
    for (std::int64_t const n : t.sizes()) out.sizes.push_back(fixed_size(n));
    return out;
}

inline std::string text_of(tensor_type const& t) {
    return "{\"dtype\": " + std::to_string(t.code) +
           ", \"sizes\": " + list_text(t.sizes.size(), [&](std::size_t i) { return t.sizes[i]; }) +
           ", \"requires_grad\": false, \"device\": {\"type\": \"cpu\", \"index\": null}, \"strides\": " +
           list_text(t.sizes.size(), [](std::size_t) { return fixed_size(1); }) +
           R"(, "storage_offset": {"as_int": 0}, "layout": 7})";
}

inline std::string strange_size(random& rng) {
    constexpr std::int64_t one = 1;
    static constexpr std::int64_t huge[] = {one << 31, one << 40, (one << 31) - 1, one << 62, one << 20, 4096};
    static std::string const expressions[] = {
        "Symbol('s0', positive=True, integer=True)",
        "Symbol('s1', positive=True, integer=True)",
        "Symbol('u0', integer=True)",
        "Add(Symbol('s0', positive=True, integer=True), Integer(1))",
        "Mul(Integer(4611686018427387904), Symbol('s0', positive=True, integer=True))"};
    switch (up_to(rng, 6)) {
    case 6: return fixed_size(once_in(rng, 2) ? -1 : strange_integer(rng));
    case 0: return fixed_size(0);
    case 1: return fixed_size(1);
    case 2: return fixed_size(one_of(huge, rng));
    case 3: return expression_size(one_of(expressions, rng));
    default: return fixed_size(up_to(rng, 7));
    }
}

inline void change_type(tensor_type& t, random& rng) {
    switch (up_to(rng, 4)) {
    case 0: t.code = one_of(every_code, rng); return;
    case 1:
        t.sizes.resize(up_to<std::size_t>(rng, 9));
        for (std::string& s : t.sizes)
            if (s.empty() || once_in(rng, 2)) s = fixed_size(up_to(rng, 4));
        return;
    case 2:
        if (t.sizes.empty()) t.sizes.push_back(strange_size(rng));
        else t.sizes.pop_back();
        return;
    default:
        for (std::string& s : t.sizes)
            if (once_in(rng, 2)) s = strange_size(rng);
    }
}

/// A program under construction: the values before the call, the call, and its results.
class program_writer {
public:
    explicit program_writer(random& rng) : rng_(rng) {}

    /// Adds a tensor with these elements; returns its name.
    std::string tensor(runtime::tensor const& t, bool changes) {
        tensor_type type = type_of(t);
        bool const own = !changes;
        if (changes) change_type(type, rng_);
        if (own && !t.is_strings() && t.count() <= 256 && once_in(rng_, 3)) return weight(type, t);
        if (own && once_in(rng_, 6)) return filled(type);
        return input(type);
    }
    std::string strange_tensor() {
        tensor_type type{one_of(every_code, rng_), {}};
        for (std::size_t n = up_to<std::size_t>(rng_, 9); n != 0; --n) type.sizes.push_back(strange_size(rng_));
        return input(type);
    }
    std::string input(tensor_type const& type) {
        std::string const name = declare(type);
        add_input(with_tag("as_tensor", named(name)),
                  with_tag("user_input", "{\"arg\": " + with_tag("as_tensor", named(name)) + "}"));
        return name;
    }
    /// A SymInt that is an input of the program.
    std::string size_input() {
        std::string const name = "n" + std::to_string(next_++);
        sizes_ +=
            (sizes_.empty() ? "" : ", ") + quoted(name) + ": " +
            with_tag("as_expr", R"json({"expr_str": "Symbol('s2', positive=True, integer=True)", "hint": null})json");
        std::string const argument = with_tag("as_sym_int", with_tag("as_name", quoted(name)));
        add_input(argument, with_tag("user_input", "{\"arg\": " + argument + "}"));
        return name;
    }
    void add_node(std::string const& target, std::string const& inputs, std::string const& outputs) {
        nodes_ += (nodes_.empty() ? "" : ", ") +
                  ("{\"target\": " + quoted(target) + ", \"name\": \"node" + std::to_string(next_++) +
                   "\", \"inputs\": [" + inputs + "], \"outputs\": [" + outputs + "], \"metadata\": {}}");
    }
    std::string declare(tensor_type const& type) {
        std::string name = "t" + std::to_string(next_++);
        values_ += (values_.empty() ? "" : ", ") + quoted(name) + ": " + text_of(type);
        return name;
    }
    void add_output(std::string const& name) {
        std::string const argument = with_tag("as_tensor", named(name));
        outputs_ += (outputs_.empty() ? "" : ", ") + argument;
        output_specs_ += (output_specs_.empty() ? "" : ", ") + with_tag("user_output", "{\"arg\": " + argument + "}");
    }
    void add_size_output(std::string const& name) {
        std::string const argument = with_tag("as_sym_int", with_tag("as_name", quoted(name)));
        sizes_ += (sizes_.empty() ? "" : ", ") + quoted(name) + ": " +
                  with_tag("as_expr", R"json({"expr_str": "Symbol('u1', integer=True)", "hint": null})json");
        outputs_ += (outputs_.empty() ? "" : ", ") + argument;
        output_specs_ += (output_specs_.empty() ? "" : ", ") + with_tag("user_output", "{\"arg\": " + argument + "}");
    }
    static std::string named(std::string const& name) { return "{\"name\": " + quoted(name) + "}"; }

    /// The archive.
    [[nodiscard]] std::string finish() const {
        std::string json =
            R"({"graph_module": {"graph": {"inputs": [)" + inputs_ + R"(], "outputs": [)" + outputs_ +
            R"(], "nodes": [)" + nodes_ + R"(], "tensor_values": {)" + values_ + R"(}, "sym_int_values": {)" + sizes_ +
            R"(}, "sym_float_values": {}, "sym_bool_values": {}, "is_single_tensor_return": false, "custom_obj_values": {}},)" +
            R"( "signature": {"input_specs": [)" + input_specs_ + R"(], "output_specs": [)" + output_specs_ +
            R"(]}, "module_call_graph": [], "metadata": {}}, "opset_version": {"aten": 10}, "range_constraints": )" +
            R"({"s0": {"min_val": 2, "max_val": 1024}, "s1": {"min_val": 2, "max_val": null}, "u0": {"min_val": 0, "max_val": null}},)" +
            R"( "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], "torch_version": "2.13.0+cpu", "guards_code": []})";
        if (once_in(rng_, 6)) change_json(json, rng_);
        zip_writer out;
        std::string config;
        for (std::size_t i = 0; i != weights_.size(); ++i) {
            std::string const number = std::to_string(i);
            out.add("m/data/weights/weight_" + number, weights_[i].second);
            config += (i == 0 ? "" : ", ") + config_entry("w" + number, "weight_" + number, weights_[i].first);
        }
        out.add("m/data/weights/model_weights_config.json", R"({"config": {)" + config + "}}");
        out.add("m/data/constants/model_constants_config.json", R"({"config": {}})");
        out.add("m/models/model.json", json).add("m/archive_format", "pt2").add("m/archive_version", "0");
        out.add("m/byteorder", "little").add("m/.data/serialization_id", std::string(40, '7'));
        return out.finish();
    }

private:
    void add_input(std::string const& argument, std::string const& spec) {
        inputs_ += (inputs_.empty() ? "" : ", ") + argument;
        input_specs_ += (input_specs_.empty() ? "" : ", ") + spec;
    }
    std::string weight(tensor_type const& type, runtime::tensor const& t) {
        std::string const name = declare(type);
        std::string const stored = "w" + std::to_string(weights_.size());
        std::string sizes;
        std::string strides;
        std::int64_t stride = 1;
        for (std::size_t i = t.rank(); i-- != 0; stride *= t.size(i))
            strides = std::to_string(stride) + (strides.empty() ? "" : "," + strides);
        for (std::int64_t const n : t.sizes()) sizes += (sizes.empty() ? "" : ",") + std::to_string(n);
        weights_.emplace_back(tensor_meta(sizes, strides, "0", type.code), t.to_constant().bytes);
        add_input(with_tag("as_tensor", named(name)),
                  with_tag("parameter", "{\"arg\": " + named(name) + ", \"parameter_name\": " + quoted(stored) + "}"));
        return name;
    }
    /// A constant of the graph, made by torch.full.
    std::string filled(tensor_type const& type) {
        std::string const name = declare(type);
        add_node("torch.ops.aten.full.default",
                 R"({"name": "size", "arg": {"as_sym_ints": )" +
                     list_text(type.sizes.size(), [&](std::size_t i) { return type.sizes[i]; }) +
                     R"(}, "kind": 1}, {"name": "fill_value", "arg": {"as_int": )" + std::to_string(up_to(rng_, 3)) +
                     R"(}, "kind": 1}, {"name": "dtype", "arg": {"as_scalar_type": )" + std::to_string(type.code) +
                     R"(}, "kind": 2})",
                 with_tag("as_tensor", named(name)));
        return name;
    }

    random& rng_;
    int next_ = 0;
    std::string inputs_;
    std::string input_specs_;
    std::string outputs_;
    std::string output_specs_;
    std::string nodes_;
    std::string values_;
    std::string sizes_;
    std::vector<std::pair<std::string, std::string>> weights_; ///< entry of the config, bytes
};

} // namespace aton::tests

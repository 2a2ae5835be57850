// SPDX-License-Identifier: MIT
#include "hostile_program.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/verify/sample.hpp>

#include "../changed_bytes.hpp"
#include "../frontend/small_archive.hpp"
#include "../runtime/changed_graph.hpp"
#include "hostile_json.hpp"

namespace aton::tests {

namespace {

using aten::base_type;
using runtime::aten_argument;
using random = std::mt19937_64;

bool once_in(random& rng, int n) { return up_to(rng, n - 1) == 0; }

template <class List>
auto const& one_of(List const& list, random& rng) {
    return list[up_to<std::size_t>(rng, std::size(list) - 1)];
}

/// torch's dtype codes, as serialized: c10/core/ScalarType.h.
int code_of(dtype t) {
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
constexpr int every_code[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 33, 34, 35};

std::string quoted(std::string_view text) {
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

std::string real_text(double number) {
    if (std::isnan(number)) return "\"NaN\"";
    if (std::isinf(number)) return number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    char text[40];
    (void)std::snprintf(text, sizeof text, "%.17g", number);
    return text;
}

std::string with_tag(std::string_view tag, std::string const& json) {
    return "{\"" + std::string(tag) + "\": " + json + "}";
}

template <class Each>
std::string list_text(std::size_t count, Each each) {
    std::string out = "[";
    for (std::size_t i = 0; i != count; ++i) out += (i == 0 ? "" : ", ") + each(i);
    return out + "]";
}

/// The content of a TensorMeta. Sizes are JSON, since they need not be numbers.
struct tensor_type {
    int code = 7;
    std::vector<std::string> sizes;
};

std::string fixed_size(std::int64_t n) { return with_tag("as_int", std::to_string(n)); }

std::string expression_size(std::string const& text) {
    return with_tag("as_expr", "{\"expr_str\": " + quoted(text) + ", \"hint\": {\"as_int\": 3}}");
}

tensor_type type_of(runtime::tensor const& t) {
    tensor_type out{code_of(t.dtype()), {}};
    for (std::int64_t const n : t.sizes()) out.sizes.push_back(fixed_size(n));
    return out;
}

std::string text_of(tensor_type const& t) {
    return "{\"dtype\": " + std::to_string(t.code) +
           ", \"sizes\": " + list_text(t.sizes.size(), [&](std::size_t i) { return t.sizes[i]; }) +
           ", \"requires_grad\": false, \"device\": {\"type\": \"cpu\", \"index\": null}, \"strides\": " +
           list_text(t.sizes.size(), [](std::size_t) { return fixed_size(1); }) +
           R"(, "storage_offset": {"as_int": 0}, "layout": 7})";
}

std::string strange_size(random& rng) {
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

void change_type(tensor_type& t, random& rng) {
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

/// Writes arguments as JSON: those of the sample, and hostile ones.
class argument_writer {
public:
    argument_writer(program_writer& to, random& rng) : to_(to), rng_(rng) {}

    std::string write(aten_argument const& a, aten::schema_type const& t, bool changes) {
        using kind = aten::argument_kind;
        switch (a.kind) {
        case kind::tensor: return with_tag("as_tensor", program_writer::named(to_.tensor(a.tensor, changes)));
        case kind::tensors: return tensors(a.tensors, t);
        case kind::number: return number(a.number, t);
        case kind::numbers: return numbers(a.numbers, t);
        case kind::text:
        case kind::tag: return text(a.text, t);
        case kind::type: return with_tag("as_scalar_type", std::to_string(code_of(a.type)));
        default: return with_tag("as_none", "true");
        }
    }

    /// A random value of the argument's type, or of another one.
    std::string strange(aten_argument const& like, aten::schema_type const& t) {
        if (once_in(rng_, 8)) return any();
        if (once_in(rng_, 16)) return with_tag("as_none", "true");
        switch (t.base) {
        case base_type::tensor: return t.list ? strange_tensors(like.tensors, t) : strange_tensor(like);
        case base_type::bool_:
            return t.list ? numbers(std::vector<scalar>(length(3), scalar(true)), t)
                          : with_tag("as_bool", once_in(rng_, 2) ? "true" : "false");
        case base_type::float_:
        case base_type::scalar:
        case base_type::int_:
        case base_type::sym_int: return t.list ? strange_list(like.numbers, t) : strange_number(t);
        case base_type::str: return with_tag("as_string", quoted(words()));
        case base_type::scalar_type: return with_tag("as_scalar_type", std::to_string(one_of(every_code, rng_)));
        default: return any();
        }
    }

private:
    static bool is_real(aten::schema_type const& t) {
        return t.base == base_type::float_ || t.base == base_type::scalar;
    }

    std::string number(scalar const& s, aten::schema_type const& t) {
        if (t.base == base_type::bool_ || s.is_bool())
            return with_tag("as_bool", s.to<double>() != 0 ? "true" : "false");
        if (t.base == base_type::sym_int)
            return with_tag("as_sym_int", with_tag("as_int", std::to_string(s.to<std::int64_t>())));
        if (s.is_integral()) return with_tag("as_int", std::to_string(s.to<std::int64_t>()));
        if (s.is_complex())
            return with_tag("as_complex",
                            "{\"real\": " + real_text(s.to<double>()) + ", \"imag\": " + real_text(s.imaginary()) +
                                "}");
        return with_tag("as_float", real_text(s.to<double>()));
    }
    std::string numbers(std::vector<scalar> const& all, aten::schema_type const& t) {
        if (t.base == base_type::bool_)
            return with_tag("as_bools", list_text(all.size(), [&](std::size_t i) {
                                return std::string(all[i].to<double>() != 0 ? "true" : "false");
                            }));
        if (is_real(t))
            return with_tag("as_floats",
                            list_text(all.size(), [&](std::size_t i) { return real_text(all[i].to<double>()); }));
        return integers(all, t.base == base_type::sym_int);
    }
    /// `symbolic`: each number may be an input of the program instead.
    std::string integers(std::vector<scalar> const& all, bool symbolic) {
        if (!symbolic)
            return with_tag("as_ints", list_text(all.size(), [&](std::size_t i) {
                                return std::to_string(all[i].to<std::int64_t>());
                            }));
        std::size_t const computed = once_in(rng_, 4) ? up_to<std::size_t>(rng_, 3) : all.size();
        return with_tag("as_sym_ints", list_text(all.size(), [&](std::size_t i) {
                            return i == computed ? with_tag("as_name", quoted(to_.size_input()))
                                                 : fixed_size(all[i].to<std::int64_t>());
                        }));
    }
    std::string tensors(std::vector<runtime::tensor> const& all, aten::schema_type const& t) {
        if (!t.element_optional)
            return with_tag("as_tensors", list_text(all.size(), [&](std::size_t i) {
                                return program_writer::named(to_.tensor(all[i], once_in(rng_, 6)));
                            }));
        return with_tag("as_optional_tensors", list_text(all.size(), [&](std::size_t i) {
                            if (!all[i]) return with_tag("as_none", "true");
                            return with_tag("as_tensor", program_writer::named(to_.tensor(all[i], once_in(rng_, 6))));
                        }));
    }
    std::string text(std::string const& word, aten::schema_type const& t) {
        switch (t.base) {
        case base_type::device: return with_tag("as_device", R"({"type": "cpu", "index": null})");
        case base_type::layout: return with_tag("as_layout", "7");
        case base_type::memory_format: return with_tag("as_memory_format", "1");
        default: return with_tag("as_string", quoted(word));
        }
    }

    std::size_t length(std::size_t usual) {
        static constexpr std::size_t lengths[] = {0, 0, 1, 2, 3, 4, 5, 9, 33, 300};
        return once_in(rng_, 2) ? one_of(lengths, rng_) : up_to<std::size_t>(rng_, usual + 1);
    }
    std::string words() {
        if (once_in(rng_, 8)) return std::string(up_to<std::size_t>(rng_, 200000), 'x');
        std::string out = strange_text(rng_);
        for (char& c : out) c = static_cast<char>(c & 0x7f);
        return out;
    }
    scalar strange_scalar(bool real) {
        if (once_in(rng_, 3)) return scalar(up_to(rng_, 14) - 6); // small, and mostly out of range
        return real ? scalar(strange_real(rng_)) : scalar(strange_integer(rng_));
    }

    std::string strange_number(aten::schema_type const& t) {
        if (once_in(rng_, 6)) return with_tag("as_sym_int", with_tag("as_name", quoted(to_.size_input())));
        if (t.base == base_type::scalar && once_in(rng_, 8))
            return number(scalar::complex(strange_real(rng_), strange_real(rng_)), t);
        return number(strange_scalar(is_real(t) && !(t.base == base_type::scalar && once_in(rng_, 2))), t);
    }
    std::string strange_list(std::vector<scalar> all, aten::schema_type const& t) {
        if (once_in(rng_, 2)) all.resize(length(all.size()), strange_scalar(is_real(t)));
        for (scalar& s : all)
            if (once_in(rng_, 2)) s = strange_scalar(is_real(t));
        if (once_in(rng_, 6) && !all.empty()) all.assign(all.size() + up_to<std::size_t>(rng_, 1), all.front());
        return numbers(all, t);
    }
    std::string strange_tensor(aten_argument const& like) {
        if (like.kind == aten::argument_kind::tensor && !once_in(rng_, 4))
            return with_tag("as_tensor", program_writer::named(to_.tensor(like.tensor, true)));
        return with_tag("as_tensor", program_writer::named(to_.strange_tensor()));
    }
    std::string strange_tensors(std::vector<runtime::tensor> all, aten::schema_type const& t) {
        if (all.empty() || once_in(rng_, 4)) {
            std::size_t const count = length(2);
            return with_tag("as_tensors",
                            list_text(count, [&](std::size_t) { return program_writer::named(to_.strange_tensor()); }));
        }
        all.resize(length(all.size()), all.front());
        return tensors(all, t);
    }
    std::string any() {
        switch (up_to(rng_, 15)) {
        case 0: return with_tag("as_none", "true");
        case 1: return with_tag("as_int", std::to_string(strange_integer(rng_)));
        case 2: return with_tag("as_float", real_text(strange_real(rng_)));
        case 3: return with_tag("as_string", quoted(words()));
        case 4: return with_tag("as_ints", "[]");
        case 5:
            return with_tag("as_ints",
                            list_text(length(3), [&](std::size_t) { return std::to_string(strange_integer(rng_)); }));
        case 6:
            return with_tag("as_floats",
                            list_text(length(3), [&](std::size_t) { return real_text(strange_real(rng_)); }));
        case 7: return with_tag("as_bools", list_text(length(20), [](std::size_t) { return std::string("true"); }));
        case 8: return with_tag("as_tensor", program_writer::named(to_.strange_tensor()));
        case 9: return with_tag("as_tensors", "[]");
        case 10: return with_tag("as_optional_tensors", "[{\"as_none\": true}]");
        case 11: return with_tag("as_scalar_type", std::to_string(one_of(every_code, rng_)));
        case 12: return with_tag("as_sym_int", with_tag("as_name", quoted(to_.size_input())));
        case 13: return with_tag("as_complex", "{\"real\": 1.0, \"imag\": \"NaN\"}");
        case 14: return with_tag("as_strings", R"(["a", ""])");
        default: return with_tag("as_bool", "true");
        }
    }

    program_writer& to_;
    random& rng_;
};

verify::sample drawn(std::string_view overload, std::string_view schema, random& rng) {
    static constexpr dtype types[] = {
        dtype::float32, dtype::float32, dtype::int64, dtype::bool_, dtype::float16, dtype::uint8, dtype::complex64};
    verify::theme t;
    t.sizes = static_cast<verify::size_theme>(up_to(rng, static_cast<int>(verify::size_theme::count_) - 1));
    t.type = one_of(types, rng);
    t.defaults = once_in(rng, 2);
    return draw(overload, schema, find_rule(verify::aten_sampling_rules(), overload), t, rng());
}

std::vector<runtime::value> results_of(verify::sample const& s) {
    try {
        return runtime::call_aten(s.overload, s.arguments).results;
    } catch (error const&) {
        return {};
    }
}

/// The recorded types of the results: mostly those of ATen's call, so that the types do not reveal a wrong call.
std::string write_results(std::string_view schema, std::vector<runtime::value> const& known, program_writer& to,
                          random& rng) {
    std::string out;
    aten::return_cursor cursor(schema);
    aten::schema_return r;
    bool const changes = once_in(rng, 3);
    for (std::size_t i = 0; cursor.next(r); ++i) {
        auto const tensor = [&](runtime::tensor const* t) {
            tensor_type type = t != nullptr && *t ? type_of(*t) : tensor_type{7, {fixed_size(3)}};
            if (changes && once_in(rng, 2)) change_type(type, rng);
            std::string const name = to.declare(type);
            to.add_output(name);
            return program_writer::named(name);
        };
        runtime::value const* const v = i < known.size() ? &known[i] : nullptr;
        if (i != 0) out += ", ";
        if (r.type.base == base_type::tensor && r.type.list) {
            bool const has = v != nullptr && v->is_sequence();
            std::size_t count = has ? v->many().size() : up_to<std::size_t>(rng, 3);
            if (changes && once_in(rng, 2)) count = up_to<std::size_t>(rng, 5);
            out += with_tag("as_tensors", list_text(count, [&](std::size_t k) {
                                return tensor(has && k < v->many().size() ? &v->many()[k] : nullptr);
                            }));
        } else if (r.type.base == base_type::tensor) {
            out += with_tag("as_tensor", tensor(v != nullptr && v->is_tensor() ? &v->one() : nullptr));
        } else {
            std::string const name = "r" + std::to_string(i);
            to.add_size_output(name);
            out += with_tag("as_sym_int", with_tag("as_name", quoted(name)));
        }
    }
    return out;
}

/// "torch.ops.aten.add.Tensor", with ".default" where the overload has no name.
std::string target_of(std::string_view overload) {
    std::size_t const colons = overload.find("::");
    std::string const op(overload.substr(colons + 2));
    return "torch.ops." + std::string(overload.substr(0, colons)) + "." + op +
           (op.find('.') == std::string::npos ? ".default" : "");
}

} // namespace

std::string hostile_program(std::string_view overload, std::string_view schema, random& rng) {
    verify::sample s;
    try {
        s = drawn(overload, schema, rng);
    } catch (error const&) {
        s.overload = overload;
    }
    program_writer to(rng);
    argument_writer arguments(to, rng);
    std::vector<aten::schema_argument> formals;
    aten::schema_argument formal;
    for (aten::argument_cursor each(schema); each.next(formal);) formals.push_back(formal);
    std::vector<char> strange(formals.size(), 0);
    for (int n = up_to(rng, 2); n >= 0 && !formals.empty(); --n)
        strange[up_to<std::size_t>(rng, formals.size() - 1)] = 1;
    std::string inputs;
    for (std::size_t i = 0; i != formals.size(); ++i) {
        aten_argument const* given = nullptr;
        for (aten_argument const& a : s.arguments)
            if (a.name == formals[i].name) given = &a;
        bool const missing = given == nullptr && strange[i] == 0;
        if (missing && (formals[i].has_default || once_in(rng, 8))) continue;
        if (strange[i] != 0 && once_in(rng, 16)) continue;
        static aten_argument const nothing;
        bool const replaced = strange[i] != 0 || given == nullptr;
        std::string const json = replaced ? arguments.strange(given == nullptr ? nothing : *given, formals[i].type)
                                          : arguments.write(*given, formals[i].type, false);
        inputs += (inputs.empty() ? "" : ", ") +
                  ("{\"name\": " + quoted(formals[i].name) + ", \"arg\": " + json + ", \"kind\": 1}");
    }
    std::string const outputs = write_results(schema, results_of(s), to, rng);
    to.add_node(target_of(overload), inputs, outputs);
    return to.finish();
}

} // namespace aton::tests

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
#include "program_writer.hpp"

namespace aton::tests {

namespace {

using aten::base_type;
using runtime::aten_argument;

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
    verify::sampling_profile t;
    t.sizes = static_cast<verify::size_profile>(up_to(rng, static_cast<int>(verify::size_profile::count_) - 1));
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

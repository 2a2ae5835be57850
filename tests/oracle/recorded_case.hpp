// SPDX-License-Identifier: MIT
// Reads one recorded ATen call (a line of cases.jsonl) as graph inputs and arguments of the DSL.
// The format is described in ../shared/oracle/make_aten_cases.py.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <aton/aten/function_schema.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/ir/graph.hpp>

namespace oracle {

using aton::dsl::argument;
using aton::dsl::optional_value;
using json = simdjson::dom::element;

inline std::string text_of(json e) { return std::string(std::string_view(e)); }

/// The overload as Aton writes it: "aten::add.Tensor", "aten::relu".
inline std::string overload_of(json c) {
    std::string name = text_of(c["op"]);
    if (std::string const overload = text_of(c["overload"]); !overload.empty()) name += "." + overload;
    return name;
}

/// How much the mapping knows about the shapes of the inputs.
enum class input_shapes : std::uint8_t { fixed, symbolic, unknown };

/// Turns the encoded arguments of one call into arguments of the DSL; every tensor becomes a graph input named after
/// its key in the file.
class argument_reader {
public:
    argument_reader(aton::graph_data& graph, input_shapes shapes) : graph_(graph), shapes_(shapes) {}

    /// All arguments of the call in schema order: positional ones, then keywords by name. What the line lacks is
    /// missing.
    std::vector<argument> read_call(json c) {
        std::vector<argument> out;
        simdjson::dom::array const positional = c["args"];
        simdjson::dom::object const keywords = c["kwargs"];
        aton::aten::argument_cursor cursor{std::string_view(c["schema"])};
        aton::aten::schema_argument formal;
        for (std::size_t i = 0; cursor.next(formal); ++i) {
            json given;
            if (i < positional.size()) {
                out.push_back(read(positional.at(i), formal.type));
            } else if (keywords.at_key(formal.name).get(given) == simdjson::SUCCESS) {
                out.push_back(read(given, formal.type));
            } else {
                out.emplace_back();
            }
        }
        return out;
    }

private:
    using base = aton::aten::base_type;

    argument read(json e, aton::aten::schema_type const& t) {
        if (e.is_null()) return argument::none();
        if (e.is_array()) return read_list(e, t);
        if (e.is_string()) return argument::of_text(text_of(e));
        if (!e.is_object()) return argument::of_number(number(e));
        auto const [key, payload] = *simdjson::dom::object(e).begin();
        if (key == "tensor") return argument::of_tensor(input(e));
        if (key == "dtype") return argument::of_type(read_dtype(payload));
        if (key == "float" || key == "complex") return argument::of_number(number(e));
        if (key == "layout" || key == "memory_format" || key == "device") return argument::of_tag(text_of(payload));
        throw std::runtime_error("unknown encoding '" + std::string(key) + "'");
    }

    argument read_list(json e, aton::aten::schema_type const& t) {
        std::vector<optional_value> tensors;
        std::vector<aton::dsl::number> numbers;
        for (json each : simdjson::dom::array(e)) {
            if (t.base == base::tensor) tensors.push_back(each.is_null() ? optional_value{} : input(each));
            else numbers.emplace_back(number(each));
        }
        return t.base == base::tensor ? argument::of_tensors(std::move(tensors))
                                      : argument::of_numbers(std::move(numbers));
    }

    static double real(json e) {
        if (!e.is_string()) return double(e);
        std::string_view const text = e;
        if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
        double const inf = std::numeric_limits<double>::infinity();
        if (text == "inf") return inf;
        if (text == "-inf") return -inf;
        throw std::runtime_error("unknown float '" + std::string(text) + "'");
    }

    static aton::scalar number(json e) {
        if (e.is_bool()) return bool(e);
        if (e.is_int64()) return std::int64_t(e);
        if (e.is_number()) return double(e);
        json payload;
        if (e["float"].get(payload) == simdjson::SUCCESS) return real(payload);
        if (e["complex"].get(payload) == simdjson::SUCCESS)
            return aton::scalar::complex(real(payload.at(0)), real(payload.at(1)));
        throw std::runtime_error("not a number");
    }

    static aton::dtype read_dtype(json e) {
        std::string_view const text = e;
        aton::dtype const t = aton::dtype_from_name(text);
        if (t == aton::dtype::undefined) throw std::runtime_error("unknown dtype '" + std::string(text) + "'");
        return t;
    }

    optional_value input(json e) {
        std::string key = text_of(e["tensor"]);
        auto const [at, is_new] = inputs_.try_emplace(key, aton::no_value);
        if (is_new) {
            std::vector<aton::dim> dims;
            for (json size : e["shape"]) dims.push_back(declared(std::int64_t(size)));
            at->second = graph_.add_input(std::move(key), {read_dtype(e["dtype"]), aton::shape(dims)});
        }
        return aton::dsl::value(graph_, at->second);
    }

    [[nodiscard]] aton::dim declared(std::int64_t size) const {
        if (shapes_ == input_shapes::unknown) return {};
        if (shapes_ == input_shapes::fixed || size < 2) return size;
        return "s" + std::to_string(size);
    }

    aton::graph_data& graph_;
    input_shapes shapes_;
    std::map<std::string, aton::value_id> inputs_;
};

} // namespace oracle

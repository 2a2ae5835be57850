// SPDX-License-Identifier: MIT
// Runs recorded calls of real ATen on the runtime and counts agreement by overload:
//   runtime_aten_oracle FOLDER... [--only TEXT] [--failures] [--least-share PERCENT] [--least-overloads N]
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/runtime/aten_operator.hpp>

#include "recorded_calls.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

using tests::json;
using kind = aten::argument_kind;

dtype type_of(json e) { return dtype_from_name(std::string_view(e["dtype"])); }
bool has(json e, std::string_view key) { return e.is_object() && e[key].error() == simdjson::SUCCESS; }

bool is_number(json e) { return e.is_bool() || e.is_int64() || e.is_double() || has(e, "float") || has(e, "complex"); }

scalar number_of(json e) {
    if (!has(e, "complex"))
        return has(e, "float") && e["float"].is_double() ? scalar(double(e["float"])) : tests::number_of(e);
    simdjson::dom::array const parts = e["complex"];
    return scalar::complex(double(parts.at(0)), double(parts.at(1)));
}

/// A recorded argument.
aten_argument argument_of(json e, tests::recorded_tensors const& stored) {
    if (e.is_null()) return aten_argument::none();
    if (e.is_array()) {
        simdjson::dom::array const all = e;
        std::vector<scalar> numbers;
        std::vector<tensor> tensors;
        for (json each : all) {
            if (is_number(each)) numbers.push_back(number_of(each));
            else tensors.push_back(each.is_null() ? tensor() : stored.get(std::string_view(each["tensor"])));
        }
        return numbers.empty() ? aten_argument::of_tensors(std::move(tensors))
                               : aten_argument::of_numbers(std::move(numbers));
    }
    if (is_number(e)) return aten_argument::of_number(number_of(e));
    if (has(e, "tensor")) return aten_argument::of_tensor(stored.get(std::string_view(e["tensor"])));
    if (has(e, "dtype")) return aten_argument::of_type(type_of(e));
    for (std::string_view const key : {"layout", "device", "memory_format"})
        if (has(e, key)) return aten_argument::of_tag(std::string(std::string_view(e[key])));
    return aten_argument::of_text(std::string(std::string_view(e)));
}

struct tolerance {
    double relative;
    double absolute;
};

/// The tolerances of torch.testing.assert_close, on which PyTorch's own tests are based.
tolerance tolerance_of(dtype t) {
    switch (t) {
    case dtype::float64:
    case dtype::complex128: return {1e-7, 1e-7};
    case dtype::float32:
    case dtype::complex64: return {1.3e-6, 1e-5};
    case dtype::float16: return {1e-3, 1e-5};
    case dtype::bfloat16: return {1.6e-2, 1e-5};
    default: return {0, 0};
    }
}

std::string type_text(tensor const& x) { return std::string(name(x.dtype())) + to_string(x.sizes()); }

/// Why two tensors differ; empty if they agree.
std::string difference(tensor const& got, tensor const& expected, bool values) {
    if (got.dtype() != expected.dtype() || got.sizes() != expected.sizes())
        return "is " + type_text(got) + ", not " + type_text(expected);
    if (!values) return {};
    bool const pairs = is_complex(got.dtype());
    tensor const a = pairs ? got.contiguous().as_pairs() : got;
    tensor const b = pairs ? expected.as_pairs() : expected;
    tolerance const most = tolerance_of(got.dtype());
    aton::tensor const x = a.to_constant();
    aton::tensor const y = b.to_constant();
    for (std::size_t i = 0; i != static_cast<std::size_t>(x.element_count()); ++i) {
        double const p = x.at(i).to<double>();
        double const q = y.at(i).to<double>();
        if (!is_floating(x.type) ? x.at(i) == y.at(i) : p == q || (std::isnan(p) && std::isnan(q))) continue;
        if (std::isfinite(p) && std::isfinite(q) && std::abs(p - q) <= most.absolute + most.relative * std::abs(q))
            continue;
        return "element " + std::to_string(i) + " is " + std::to_string(p) + ", not " + std::to_string(q);
    }
    return {};
}

/// Compares with a recorded result: a tensor, a list of tensors, a number or None.
std::string difference(value const& got, json expected, tests::recorded_tensors const& stored, bool values) {
    if (expected.is_null()) return got ? "is not None" : "";
    if (expected.is_array()) {
        simdjson::dom::array const all = expected;
        if (!got.is_sequence() || got.many().size() != all.size())
            return "is not a list of " + std::to_string(all.size());
        for (std::size_t i = 0; i != all.size(); ++i)
            if (std::string why = difference(value(got.many()[i]), all.at(i), stored, values); !why.empty())
                return std::to_string(i) + ": " + why;
        return {};
    }
    if (!got.is_tensor()) return "is no tensor";
    if (!has(expected, "tensor")) {
        scalar const number = number_of(expected);
        dtype const type = number.is_bool()       ? dtype::bool_
                           : number.is_integral() ? dtype::int64
                           : number.is_complex()  ? dtype::complex128
                                                  : dtype::float64;
        return difference(got.one(), tensor::of_scalar(number, type), values);
    }
    return difference(got.one(), stored.get(std::string_view(expected["tensor"])), values);
}

bool has_flag(json c, std::string_view flag) {
    for (json f : simdjson::dom::array(c["flags"]))
        if (std::string_view(f) == flag) return true;
    return false;
}

/// Why the runtime's result is not the recorded one; empty if it is.
std::string run_case(json c, std::string const& overload, tests::recorded_tensors const& stored) {
    std::vector<aten_argument> arguments;
    aten::schema_argument formal;
    aten::argument_cursor names{std::string_view(c["schema"])};
    for (json each : simdjson::dom::array(c["args"])) {
        if (!names.next(formal)) return "more arguments than the schema has";
        arguments.push_back(argument_of(each, stored).named(std::string(formal.name)));
    }
    for (auto const [key, each] : simdjson::dom::object(c["kwargs"]))
        arguments.push_back(argument_of(each, stored).named(std::string(key)));
    aten_results got;
    try {
        got = call_aten(overload, std::move(arguments));
    } catch (error const& e) {
        return e.what();
    }
    bool const values = std::string_view(c["compare"]) == "values";
    bool const ties = has_flag(c, "ties");
    simdjson::dom::array const expected = c["outputs"];
    if (got.results.size() < expected.size()) return "gives " + std::to_string(got.results.size()) + " results";
    for (std::size_t i = 0; i != expected.size(); ++i)
        if (std::string why = difference(got.results[i], expected.at(i), stored, values && !(ties && i != 0));
            !why.empty())
            return "result " + std::to_string(i) + ' ' + why;
    if (c["mutated"].error() != simdjson::SUCCESS) return {};
    for (auto const [key, each] : simdjson::dom::object(c["mutated"])) {
        auto const found =
            std::find_if(got.mutated.begin(), got.mutated.end(), [&](auto const& m) { return m.first == key; });
        if (found == got.mutated.end()) return "does not write to '" + std::string(key) + "'";
        if (std::string why = difference(value(found->second), each, stored, values); !why.empty())
            return "'" + std::string(key) + "' " + why;
    }
    return {};
}

struct counts {
    int right = 0;
    int wrong = 0;
};

struct options {
    std::vector<std::string> folders;
    std::string only;
    bool failures = false;
    double min_share = 0;
    std::size_t min_overloads = 0;
};

int run(options const& o) {
    std::map<std::string, counts> all;
    for (std::string const& folder : o.folders) {
        simdjson::dom::parser parser;
        std::map<std::string, tests::recorded_tensors, std::less<>> files;
        for (json c : parser.load_many(folder + "/cases.jsonl", 1 << 22)) {
            auto overload = std::string(std::string_view(c["op"]));
            if (std::string_view const name = c["overload"]; !name.empty()) (overload += '.') += name;
            if (overload.find(o.only) == std::string::npos || !has_aten_operator(overload)) continue;
            auto const file = std::string(std::string_view(c["file"]));
            std::string const path = std::string(folder).append("/").append(file);
            std::string const why = run_case(c, overload, files.try_emplace(file, path).first->second);
            ++(why.empty() ? all[overload].right : all[overload].wrong);
            if (!why.empty() && o.failures) std::cout << std::string_view(c["case"]) << ": " << why << '\n';
        }
    }
    counts total;
    for (auto const& [overload, n] : all) {
        total.right += n.right;
        total.wrong += n.wrong;
        if (n.wrong != 0) std::cout << overload << ": " << n.right << " right, " << n.wrong << " wrong\n";
    }
    int const cases = total.right + total.wrong;
    double const share = cases == 0 ? 0 : 100.0 * total.right / cases;
    std::cout << total.right << " of " << cases << " calls of " << all.size() << " overloads as ATen: " << share
              << " %\n";
    return share >= o.min_share && all.size() >= o.min_overloads && cases != 0 ? 0 : 1;
}

} // namespace

} // namespace ATON_NAMESPACE::runtime

int main(int argc, char** argv) {
    aton::runtime::options o;
    for (int i = 1; i != argc; ++i) {
        std::string_view const word = argv[i];
        bool const more = i + 1 != argc;
        if (word == "--failures") o.failures = true;
        else if (word == "--only" && more) o.only = argv[++i];
        else if (word == "--least-share" && more) o.min_share = std::strtod(argv[++i], nullptr);
        else if (word == "--least-overloads" && more) o.min_overloads = std::strtoul(argv[++i], nullptr, 10);
        else o.folders.emplace_back(word);
    }
    try {
        return aton::runtime::run(o);
    } catch (std::exception const& e) {
        std::cerr << e.what() << '\n';
        return 2;
    }
}

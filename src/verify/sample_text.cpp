// SPDX-License-Identifier: MIT
// Prints a call as one line of Python.
#include <aton/verify/sample.hpp>

#include <cmath>
#include <sstream>
#include <string>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using kind = aten::argument_kind;
using runtime::tensor;

std::string text_of(scalar const& s) {
    if (s.is_bool()) return s.to<bool>() ? "True" : "False";
    if (s.is_integral()) return std::to_string(s.to<std::int64_t>());
    auto const real = [](double d) -> std::string {
        if (std::isnan(d)) return "float('nan')";
        if (std::isinf(d)) return d > 0 ? "float('inf')" : "-float('inf')";
        std::ostringstream out;
        out.precision(17);
        out << d;
        std::string const text = out.str();
        return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    };
    if (s.is_complex()) return "complex(" + real(s.to<double>()) + ", " + real(s.imaginary()) + ")";
    return real(s.to<double>());
}

/// Nested lists, row by row.
void append_elements(std::string& out, aton::tensor const& t, std::size_t axis, std::size_t& next) {
    if (axis == t.sizes.size()) {
        out += text_of(t.at(next++));
        return;
    }
    out += '[';
    for (std::int64_t i = 0; i != t.sizes[axis]; ++i) {
        if (i != 0) out += ", ";
        append_elements(out, t, axis + 1, next);
    }
    out += ']';
}

std::string text_of(tensor const& x) {
    constexpr std::int64_t max_count = 512;
    std::string const type = "torch." + std::string(name(x.dtype()) == "bool" ? "bool" : name(x.dtype()));
    if (!x) return "None";
    if (x.count() == 0 || x.count() > max_count || !aton::tensor::can_hold(x.dtype())) {
        std::string sizes = runtime::to_string(x.sizes());
        return "torch.zeros(" + sizes + ", dtype=" + type + ")";
    }
    std::string out = "torch.tensor(";
    std::size_t next = 0;
    append_elements(out, runtime::to_host(x).to_constant(), 0, next);
    return out + ", dtype=" + type + ")";
}

template <class List>
std::string list_of(List const& all) {
    std::string out = "[";
    for (auto const& each : all) out += (out.size() == 1 ? "" : ", ") + text_of(each);
    return out + ']';
}

std::string text_of(runtime::aten_argument const& a) {
    switch (a.kind) {
    case kind::tensor: return text_of(a.tensor);
    case kind::tensors: return list_of(a.tensors);
    case kind::number: return text_of(a.number);
    case kind::numbers: return list_of(a.numbers);
    case kind::text:
    case kind::tag: return '"' + a.text + '"';
    case kind::type: return "torch." + std::string(name(a.type));
    default: return "None";
    }
}

} // namespace

std::string to_python(sample const& s) {
    std::size_t const colons = s.overload.find("::");
    std::size_t const dot = s.overload.find('.');
    std::string out = "torch.ops." + s.overload.substr(0, colons) + '.';
    out += s.overload.substr(colons + 2, dot == std::string::npos ? dot : dot - colons - 2) + '.';
    out += (dot == std::string::npos ? std::string("default") : s.overload.substr(dot + 1)) + '(';
    for (std::size_t i = 0; i != s.arguments.size(); ++i)
        out += (i == 0 ? "" : ", ") + s.arguments[i].name + '=' + text_of(s.arguments[i]);
    return out + ')';
}

} // namespace ATON_NAMESPACE::verify

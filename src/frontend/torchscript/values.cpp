// SPDX-License-Identifier: MIT
#include "values.hpp"

#include <cmath>

namespace ATON_NAMESPACE::torchscript {

namespace {

/// The same bits, but for NaN: 0 and -0 differ.
bool are_identical(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

bool are_identical(constant const& a, constant const& b) {
    if (a.is() != b.is()) return false;
    if (a.is() != kind::real && a.is() != kind::complex) return a == b;
    return are_identical(a.number().to<double>(), b.number().to<double>()) &&
           are_identical(a.number().imaginary(), b.number().imaginary());
}

} // namespace

bool value::is_same(value const& other) const {
    return is_ == other.is_ && tensor_type_ == other.tensor_type_ && are_identical(constant_, other.constant_) &&
           index_ == other.index_ && list_ == other.list_ && dict_ == other.dict_ && object_ == other.object_ &&
           function_ == other.function_ && type_ == other.type_;
}

std::string_view describe(value const& v) {
    switch (v.is()) {
    case kind::none: return "None";
    case kind::boolean: return "a bool";
    case kind::integer: return v.is_number_as_tensor() ? "a tensor of one integer" : "an int";
    case kind::real: return "a float";
    case kind::complex: return "a complex number";
    case kind::text: return "a string";
    case kind::open_text: return "the text of a value that the model computes";
    case kind::tensor:
    case kind::weight: return "a tensor";
    case kind::symbol: return "a number that the model computes";
    case kind::list: return "a list";
    case kind::rows:
    case kind::parts: return "a list whose length the model computes";
    case kind::tuple: return "a tuple";
    case kind::dict: return "a dict";
    case kind::object: return "an object";
    case kind::function: return "a function";
    case kind::type: return "a class";
    case kind::path: return "a name of a module";
    case kind::device: return "a device";
    case kind::either: return "a tensor whose dtype or rank depends on data";
    case kind::optional: return "a value that data decides to be None or not";
    case kind::nothing: return is_uninitialized(v) ? "a variable without a value" : std::string_view(v.name());
    }
    return {};
}

} // namespace ATON_NAMESPACE::torchscript

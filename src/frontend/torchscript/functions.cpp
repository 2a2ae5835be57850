// SPDX-License-Identifier: MIT
// Functions of TorchScript that are evaluated while the code is read.
#include "interpreter.hpp"

#include <algorithm>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

} // namespace

value interpreter::call_path(std::string_view path, call_arguments const& given) {
    std::vector<value> const& x = given.positional;
    at_.spend(x.size());
    bool const is_torch = path.starts_with("torch.");
    if (is_torch || path.starts_with("ops.aten.") || path.starts_with("math.")) {
        std::string_view const name = path.substr(path.rfind('.') + 1);
        if (std::count(path.begin(), path.end(), '.') > 2)
            at_.fail("calls " + in_quotes(path) + ", which is not in the archive");
        if (std::optional<call_arguments> const today = upgraders_.upgraded(name, given))
            return call_path("torch." + std::string(name), *today);
        if (std::optional<value> out = nested_.call(name, x)) return *std::move(out);
        if (std::optional<value> out = layouts_.call(name, given)) return *std::move(out);
        if (std::optional<value> out = questions_.call_about_state(name, x)) return *std::move(out);
        if (std::optional<value> out = questions_.call_about_tensor(name, given)) return *std::move(out);
        if (std::optional<value> out = open_lists_.call_on_rows(name, x)) return *std::move(out);
        if (std::optional<value> out = containers_.call(name, x)) return *std::move(out);
        if (std::optional<value> out = numbers_.call_builtin(name, x)) return *std::move(out);
        if (std::optional<value> out = numbers_.call_on_numbers(name, given)) return *std::move(out);
        numbers_.expect_computable(name, x);
        return call_operator("aten::" + std::string(name), given);
    }
    if (path.starts_with("ops.prim.")) {
        if (std::optional<value> out = call_prim(path.substr(9), x)) return *std::move(out);
        at_.fail("calls " + in_quotes(path) + ", which is not supported");
    }
    if (path.starts_with("__torch__.") && path.ends_with(".__new__") && x.size() == 1 && x[0].is() == kind::type) {
        value made = heap_.object(x[0].type()->qualified); // its __init__ is called next
        made.object()->type = x[0].type();
        return made;
    }
    if (path.starts_with("ops.profiler.")) // its results are only passed to other functions of the profiler
        return value::of(kind::path, std::string(path));
    if (path.starts_with("ops.")) {
        std::string op(path.substr(4));
        if (std::size_t const dot = op.find('.'); dot != std::string::npos)
            return call_operator(op.replace(dot, 1, "::"), given);
    }
    at_.fail("calls " + in_quotes(path) + ", which is not in the archive");
}

std::optional<value> interpreter::call_prim(std::string_view name, std::vector<value> const& x) {
    if (name == "RaiseException") {
        std::string const why = x.empty() || x[0].text() == nullptr ? "" : ": " + in_quotes(*x[0].text());
        std::string const place = at_.where();
        throw raised((place.empty() ? code_.path() : code_.path() + ": " + place) +
                     ": the module raises an exception for these inputs" + why +
                     (inputs_.numbers().empty() ? ""
                                                : "; if that depends on " + in_quotes(inputs_.numbers()[0]) +
                                                      ", give its value: --input " + inputs_.numbers()[0] + "=VALUE"));
    }
    if (x.empty()) return {};
    if (std::optional<value> out = numbers_.call_builtin(name, x)) return out;
    if (std::optional<value> out = nested_.call(name, x)) return out;
    if (name == "NumToTensor" && x[0].is_any_number())
        return x[0].as_tensor(values_.type_of_number(x[0], dtype::float64));
    if (name == "unchecked_unwrap_optional" || name == "unchecked_cast") return without_none(x[0]);
    if (name == "min" || name == "max") {
        bool const are_lists = x[0].is() == kind::list;
        if (are_lists && x.size() == 2 && x[1].is() == kind::list)
            return comparisons_.choose_list(x[0], x[1], name == "max");
        std::vector<value> const all = are_lists ? x[0].list()->items : x;
        if (all.empty()) at_.fail(std::string(name) + "() of an empty list");
        value out = all[0];
        for (std::size_t i = 1; i != all.size(); ++i)
            out = values_.arithmetic(name == "min" ? "torch.sym_min" : "torch.sym_max", {out, all[i]});
        bool const any_real = std::any_of(all.begin(), all.end(), [&](value const& each) {
            return each.is_any_number() && is_floating(values_.type_of_number(each.as_number(), dtype::float64));
        });
        return any_real ? values_.convert_number("float", out) : out;
    }
    if (name == "abs" && x[0].is_any_number()) return numbers_.call_on_numbers(name, {x, {}});
    if (name == "isinstance" || name == "rangelist") return {};
    return questions_.call_about_tensor(name, {x, {}});
}

} // namespace ATON_NAMESPACE::torchscript

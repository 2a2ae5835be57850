// SPDX-License-Identifier: MIT
// Functions of TorchScript that are evaluated while the code is read: on lists, dicts and strings, and questions about tensors.
#include "interpreter.hpp"
#include "memory_layouts.hpp"

#include <algorithm>

#include "frontend/files/text.hpp"
#include "texts.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

/// Of an item: what lists hold stays until the end.
constexpr std::size_t steps_per_copy = 4;

bool is_container(value const& v) {
    return v.is() == kind::list || v.is() == kind::tuple || v.is() == kind::dict || v.is() == kind::text ||
           v.is() == kind::open_text;
}

/// None, strings, devices and containers: what has its own equality, which is not that of numbers or tensors.
bool has_items_or_name(value const& v) {
    constexpr kind kinds[] = {
        kind::none, kind::text, kind::open_text, kind::device, kind::list, kind::tuple, kind::rows};
    return std::find(std::begin(kinds), std::end(kinds), v.is()) != std::end(kinds);
}

} // namespace

value interpreter::call_path(std::string_view path, call_arguments const& given) {
    std::vector<value> const& x = given.positional;
    at_.spend(x.size());
    bool const is_torch = path.starts_with("torch.");
    if (is_torch || path.starts_with("ops.aten.") || path.starts_with("math.")) {
        std::string_view const name = path.substr(path.rfind('.') + 1);
        if (std::count(path.begin(), path.end(), '.') > 2)
            at_.fail("calls " + in_quotes(path) + ", which is not in the archive");
        if (std::optional<value> out = call_as_saved(name, given)) return *std::move(out);
        if (std::optional<value> out = nested_.call(name, x)) return *std::move(out);
        if (std::optional<value> out = memory_layouts(*this).call(name, given)) return *std::move(out);
        if (std::optional<value> out = call_about_state(name, x)) return *std::move(out);
        if (std::optional<value> out = call_about_tensor(name, given)) return *std::move(out);
        if (std::optional<value> out = open_lists_.call_on_rows(name, x)) return *std::move(out);
        if (std::optional<value> out = call_on_containers(name, x)) return *std::move(out);
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
                     (number_inputs_.empty() ? ""
                                             : "; if that depends on " + in_quotes(number_inputs_[0]) +
                                                   ", give its value: --input " + number_inputs_[0] + "=VALUE"));
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
    return call_about_tensor(name, {x, {}});
}

std::optional<value> interpreter::call_on_containers(std::string_view name, std::vector<value> const& x) {
    if (name == "format" && !x.empty()) return format(at_, x);
    if (name == "__not__" && x.size() == 1 && x[0].acts_as_tensor()) // bool() of a tensor
        return call_operator("aten::logical_not", {x, {}});
    if ((name == "__is__" || name == "__isnot__") && x.size() == 2) {
        if (x[1].is() == kind::none && x[0].is() == kind::optional)
            return name == "__is__" ? x[0].list()->items[0] : values_.negated(x[0].list()->items[0]);
        bool const has_identity = x[0].known() == nullptr && x[0].is() != kind::symbol;
        value const same = has_identity ? value::of(x[0].is_same(x[1])) : comparisons_.are_equal(x[0], x[1]);
        return name == "__is__" ? same : values_.negated(same);
    }
    if ((name == "eq" || name == "ne") && x.size() == 2 && has_items_or_name(x[0]) && has_items_or_name(x[1])) {
        value const same = comparisons_.are_equal(x[0], x[1]);
        return name == "eq" ? same : values_.negated(same);
    }
    if (name == "mul" && x.size() == 2 && x[0].integer() && x[1].is() == kind::list)
        return call_on_containers(name, {x[1], x[0]});
    if (name == "dict" && (x.empty() || x[0].is() == kind::list)) {
        value out = heap_.dict();
        if (x.empty()) return out;
        for (value const& each : x[0].list()->items) {
            if (each.is() != kind::tuple || each.list()->items.size() != 2)
                at_.fail("makes a dict of values that are not pairs");
            (void)call_on_dict("_set_item", {out, each.list()->items[0], each.list()->items[1]});
        }
        return out;
    }
    if (x.empty() || !is_container(x[0])) return {};
    if (x[0].is() == kind::dict) return call_on_dict(name, x);
    bool const same_kind = x.size() == 2 && x[0].is() == x[1].is();
    if (x[0].is() == kind::text || x[0].is() == kind::open_text) return call_on_text(name, x);
    std::vector<value>& items = x[0].list()->items;
    at_.spend(items.size());
    if (auto const grows = growing_.find(x[0].list()); grows != growing_.end() && name == "append" && x.size() == 2) {
        grows->second.push_back(x[1]);
        return value{};
    }
    constexpr std::string_view changes[] = {"append",
                                            "clear",
                                            "reverse",
                                            "_set_item",
                                            "Delete",
                                            "pop",
                                            "insert",
                                            "extend",
                                            "add_",
                                            "mul_",
                                            "sort",
                                            "remove"};
    if (std::find(std::begin(changes), std::end(changes), name) != std::end(changes))
        expect_inside(x[0].list()->serial);
    if (name == "len") return value::of(static_cast<std::int64_t>(items.size()));
    if (std::optional<value> out = call_on_order(name, x)) return out;
    if (name == "list" || name == "copy" || name == "Size")
        return at_.spend(steps_per_copy * items.size()), heap_.list(items);
    if (name == "append" && x.size() == 2) return items.push_back(x[1]), x[0];
    if (name == "clear") return items.clear(), x[0];
    if (name == "reverse") return std::reverse(items.begin(), items.end()), x[0];
    if (name == "__getitem__" && x.size() == 2) return item_of(x[0], x[1]);
    if (name == "_set_item" && x.size() == 3)
        return items[static_cast<std::size_t>(position_in(at_, x[1], items.size()))] = x[2], x[0];
    if (name == "Delete" && x.size() == 2)
        return items.erase(items.begin() + position_in(at_, x[1], items.size())), value{};
    if (name == "pop") {
        std::int64_t const at = position_in(at_, x.size() == 2 ? x[1] : value::of(std::int64_t{-1}), items.size());
        value out = items[static_cast<std::size_t>(at)];
        items.erase(items.begin() + at);
        return out;
    }
    std::optional<std::int64_t> const number = x.size() > 1 ? x[1].integer() : std::nullopt;
    if (name == "insert" && x.size() == 3 && number) {
        auto const size = static_cast<std::int64_t>(items.size());
        std::int64_t const at = std::clamp<std::int64_t>(*number < 0 ? *number + size : *number, 0, size);
        return items.insert(items.begin() + at, x[2]), x[0];
    }
    if ((name == "extend" || name == "add" || name == "add_") && same_kind) {
        std::vector<value> const more = x[1].list()->items;
        at_.spend(steps_per_copy * more.size());
        if (name != "add") return items.insert(items.end(), more.begin(), more.end()), x[0];
        at_.spend(steps_per_copy * items.size());
        std::vector<value> both = items;
        both.insert(both.end(), more.begin(), more.end());
        return heap_.list(std::move(both));
    }
    if ((name == "mul" || name == "mul_") && x.size() == 2 && number) {
        std::vector<value> out;
        for (std::int64_t i = 0; i < *number && !items.empty(); ++i) {
            at_.spend(steps_per_copy * items.size());
            out.insert(out.end(), items.begin(), items.end());
        }
        if (name == "mul") return heap_.list(std::move(out));
        items = std::move(out);
        return x[0];
    }
    if (name == "__contains__" && x.size() == 2) return comparisons_.contains(items, x[1]);
    if (name == "slice") {
        std::vector<value> out;
        for (std::size_t const i : sliced(x, items.size())) out.push_back(items[i]);
        return x[0].is() == kind::tuple ? heap_.tuple(std::move(out)) : heap_.list(std::move(out));
    }
    if (items.empty() && x.size() == 1 && (name == "all" || name == "any")) return value::of(name == "all");
    if (items.empty() && x.size() == 1 && name == "sum")
        return x[0].list()->element == dtype::float32 ? value::of(0.0) : value::of(std::int64_t{0});
    auto const is_any_number = [](value const& v) { return v.is_any_number(); };
    if (x.size() != 1 || items.empty() || !std::all_of(items.begin(), items.end(), is_any_number)) return {};
    if (name == "all" || name == "any") {
        bool const wants_all = name == "all";
        value out = value::of(true);
        for (value const& each : items) {
            value const holds = values_.convert_number("bool", each);
            out = values_.both(out, wants_all ? holds : values_.negated(holds));
        }
        return wants_all ? out : values_.negated(out);
    }
    if (name != "sum" && name != "max" && name != "min") return {};
    std::string const step = name == "sum" ? "torch.add" : name == "max" ? "ops.prim.max" : "ops.prim.min";
    value out = name == "sum" ? value::of(std::int64_t{0}) : items[0];
    for (value const& each : items) out = call_path(step, {{out, each}, {}});
    return out;
}

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
// Functions of TorchScript that are evaluated while the code is read: on lists, dicts and strings, and questions about tensors.
#include "interpreter.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#include <aton/aten/scalar_type.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

/// Of an item: what lists hold stays until the end.
constexpr std::size_t steps_per_copy = 4;

bool is_container(value const& v) {
    return v.is == kind::list || v.is == kind::tuple || v.is == kind::dict || v.is == kind::text;
}

std::int64_t code_of(dtype type) {
    for (std::int64_t code = 0; code != 32; ++code)
        if (aten::scalar_type(code) == type) return code;
    return -1;
}

} // namespace

/// The index of an item, counted from the end if it is negative.
std::int64_t interpreter::position(value const& index, std::size_t size) {
    if (index.is == kind::symbol) fail_undecidable("the index of an item", index);
    if (index.is != kind::integer) fail("uses " + std::string(describe(index)) + " as an index");
    auto const length = static_cast<std::int64_t>(size);
    std::int64_t const at = index.integer < 0 ? index.integer + length : index.integer;
    if (at < 0 || at >= length)
        fail("the index " + std::to_string(index.integer) + " is out of range: there are " + std::to_string(size) +
             " items");
    return at;
}

bool interpreter::equal(value const& a, value const& b, int depth) {
    spend(1);
    if (depth > 100) fail("compares values that are nested more than 100 levels deep");
    if (a.is_number() && b.is_number()) return a.number() == b.number();
    if (a.is != b.is) return false;
    auto const same_items = [&](auto const& x, auto const& y) {
        return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), [&](value const& p, value const& q) {
                   return equal(p, q, depth + 1);
               });
    };
    switch (a.is) {
    case kind::none: return true;
    case kind::text:
    case kind::device:
    case kind::path: return a.text == b.text;
    case kind::list:
    case kind::tuple: return same_items(a.list->items, b.list->items);
    case kind::symbol:
        if (std::optional<bool> const same = compare_symbols("_operator.eq", {a, b})) return *same;
        fail_undecidable("whether two numbers are equal", a);
    case kind::object: return a.object == b.object;
    case kind::tensor:
    case kind::weight: fail("compares tensors inside lists, dicts or tuples, which depends on data");
    default: return a.integer == b.integer && a.dict == b.dict && a.function == b.function;
    }
}

/// Whether two strings or lists are equal: a bool, or the number that tells it if it depends on sizes.
value interpreter::are_equal(value const& a, value const& b) {
    if (a.is == kind::text || a.list->items.size() != b.list->items.size()) return value::of(equal(a, b));
    value all = value::of(true);
    for (std::size_t i = 0; i != a.list->items.size(); ++i) {
        value const& x = a.list->items[i];
        value const& y = b.list->items[i];
        bool const is_open = x.is == kind::symbol || y.is == kind::symbol;
        value const same = is_open ? arithmetic("_operator.eq", {x, y}) : value::of(equal(x, y));
        if (same.is == kind::boolean && same.integer == 0) return same;
        if (same.is == kind::boolean) continue;
        all = all.is == kind::boolean ? same : arithmetic("_operator.and_", {all, same});
    }
    return all;
}

/// torch.format("a {} b", x): the text of an error message.
std::string interpreter::format(std::vector<value> const& x) {
    std::string out;
    std::size_t next = 1;
    std::string const& pattern = x.at(0).text;
    for (std::size_t i = 0; i != pattern.size(); ++i) {
        if (pattern.compare(i, 2, "{}") != 0 || next >= x.size()) {
            out += pattern[i];
            continue;
        }
        ++i;
        value const& v = x[next++];
        char digits[40];
        std::snprintf(digits, sizeof digits, "%.17g", v.real);
        if (v.is == kind::text || v.is == kind::device) out += v.text;
        else if (v.is == kind::integer) out += std::to_string(v.integer);
        else if (v.is == kind::boolean) out += v.integer != 0 ? "True" : "False";
        else if (v.is == kind::real) out += digits;
        else out += describe(v);
        if (out.size() > value::max_text) fail("makes a string of more than 65536 characters");
    }
    return out;
}

value interpreter::call_path(std::string_view path, call_arguments const& given) {
    std::vector<value> const& x = given.positional;
    spend(x.size());
    bool const is_torch = path.starts_with("torch.");
    if (is_torch || path.starts_with("ops.aten.") || path.starts_with("math.")) {
        std::string_view const name = path.substr(path.rfind('.') + 1);
        if (std::count(path.begin(), path.end(), '.') > 2)
            fail("calls " + in_quotes(path) + ", which is not in the archive");
        if (std::optional<value> out = call_as_saved(name, given)) return *std::move(out);
        if (std::optional<value> out = call_about_tensor(name, x)) return *std::move(out);
        if (std::optional<value> out = call_on_rows(name, x)) return *std::move(out);
        if (std::optional<value> out = call_on_containers(name, x)) return *std::move(out);
        if (std::optional<value> out = call_on_numbers(name, given)) return *std::move(out);
        return call_operator("aten::" + std::string(name), given);
    }
    if (path.starts_with("ops.prim.")) {
        if (std::optional<value> out = call_prim(path.substr(9), x)) return *std::move(out);
        fail("calls " + in_quotes(path) + ", which is not supported");
    }
    if (path.starts_with("__torch__.") && path.ends_with(".__new__") && x.size() == 1 && x[0].is == kind::type) {
        value made = heap_.object(x[0].type->qualified); // its __init__ is called next
        made.object->type = x[0].type;
        return made;
    }
    if (path.starts_with("ops.")) {
        std::string op(path.substr(4));
        if (std::size_t const dot = op.find('.'); dot != std::string::npos)
            return call_operator(op.replace(dot, 1, "::"), given);
    }
    fail("calls " + in_quotes(path) + ", which is not in the archive");
}

std::optional<value> interpreter::call_prim(std::string_view name, std::vector<value> const& x) {
    if (name == "RaiseException") {
        std::string const why = x.empty() || x[0].is != kind::text ? "" : ": " + in_quotes(x[0].text);
        fail("the module raises an exception for these inputs" + why);
    }
    if (x.empty()) return {};
    if (name == "NumToTensor") {
        value out = x[0];
        out.is_tensor = true;
        return out;
    }
    if (name == "unchecked_unwrap_optional" || name == "unchecked_cast") return x[0];
    if (name == "min" || name == "max") {
        std::vector<value> const all = x[0].is == kind::list ? x[0].list->items : x;
        if (all.empty()) fail(std::string(name) + "() of an empty list");
        value out = all[0];
        for (std::size_t i = 1; i != all.size(); ++i)
            out = arithmetic(name == "min" ? "torch.sym_min" : "torch.sym_max", {out, all[i]});
        return out;
    }
    if (name == "abs" || name == "type")
        return name == "abs" ? call_on_numbers("abs", {x, {}}) : std::optional(value::of(kind::text, "cpu"));
    if (name == "data") return call_operator("aten::detach", {x, {}});
    if (name == "isinstance" || name == "rangelist") return {};
    if (!x[0].acts_as_tensor()) return {};
    if (name == "dtype") return value::of(code_of(type_of(tensor_of(x[0])).type));
    if (name == "device") return value::of(kind::device, "cpu");
    if (name == "layout") return value::of(std::int64_t{0});
    // As torch.export does: operators that are faster without gradients have no counterpart in ONNX.
    if (name == "requires_grad") return value::of(is_floating(type_of(tensor_of(x[0])).type));
    if (name.starts_with("is_")) return value::of(name == "is_leaf" || name == "is_cpu");
    return {};
}

/// Questions about a tensor whose answers follow from its type.
std::optional<value> interpreter::call_about_tensor(std::string_view name, std::vector<value> const& x) {
    if (name == "is_grad_enabled") return value::of(true);
    if (name == "is_autocast_enabled" || name == "is_autocast_cpu_enabled" || name == "is_tracing")
        return value::of(false);
    if (name == "is_scripting") return value::of(true);
    if (name == "device" && x.size() == 1) return value::of(kind::device, x[0].text);
    if (name == "warn" || name == "manual_seed") return value{};
    if (name == "_assert") {
        out_.dropped.push_back({"torch._assert", where(), true});
        return value{};
    }
    if (x.empty() || (x[0].is != kind::tensor && x[0].is != kind::weight)) return {};
    bool const is_known = name == "size" || name == "dim" || name == "len" || name == "numel" ||
                          name == "is_floating_point" || name == "is_complex" || name == "get_device" ||
                          name == "is_contiguous" || name == "stride" || name == "storage_offset" || name == "item" ||
                          name == "IntImplicit" || name == "FloatImplicit" || name == "ScalarImplicit" ||
                          name == "is_same_size" || name == "__isnot__" || name == "__is__";
    if (!is_known) return {};
    if (name == "__is__" || name == "__isnot__") return {};
    if (name == "item" || name == "ScalarImplicit") return convert_number("item", x[0]);
    if (name == "IntImplicit") return convert_number("int", x[0]);
    if (name == "FloatImplicit") return convert_number("float", x[0]);
    if (name == "stride" || name == "storage_offset" || name == "is_contiguous")
        fail("asks for the memory layout of a tensor (" + std::string(name) + "), which is not known");
    program::value_index const v = tensor_of(x[0]);
    inferred_type const type = type_of(v);
    if (name == "is_floating_point") return value::of(is_floating(type.type));
    if (name == "is_complex") return value::of(is_complex(type.type));
    if (name == "get_device") return value::of(std::int64_t{-1});
    if (!type.has_rank) fail("the number of dimensions of a tensor is not known");
    std::size_t const rank = type.sizes.size();
    if (name == "dim") return value::of(static_cast<std::int64_t>(rank));
    if (name == "size" && x.size() == 2) return size_value(v, static_cast<std::size_t>(position(x[1], rank)));
    if (name == "len") return size_value(v, static_cast<std::size_t>(position(value::of(std::int64_t{0}), rank)));
    std::vector<value> sizes;
    for (std::size_t i = 0; i != rank; ++i) sizes.push_back(size_value(v, i));
    if (name == "numel") {
        value product = value::of(std::int64_t{1});
        for (value const& each : sizes) product = arithmetic("_operator.mul", {product, each});
        return product;
    }
    if (name == "size") return heap_.list(std::move(sizes));
    return {};
}

std::optional<value> interpreter::call_on_containers(std::string_view name, std::vector<value> const& x) {
    if (name == "format" && !x.empty() && x[0].is == kind::text) return value::of(kind::text, format(x));
    if ((name == "__is__" || name == "__isnot__") && x.size() == 2) {
        bool const are_tensors = x[0].is == x[1].is && (x[0].is == kind::tensor || x[0].is == kind::weight);
        bool const same = are_tensors ? x[0].integer == x[1].integer : x[0].is == x[1].is && equal(x[0], x[1]);
        return value::of(same == (name == "__is__"));
    }
    if (name == "dict" && (x.empty() || x[0].is == kind::list)) {
        value out = heap_.dict();
        if (x.empty()) return out;
        for (value const& each : x[0].list->items) {
            if (each.is != kind::tuple || each.list->items.size() != 2)
                fail("makes a dict of values that are not pairs");
            (void)call_on_dict("_set_item", {out, each.list->items[0], each.list->items[1]});
        }
        return out;
    }
    if (x.empty() || !is_container(x[0])) return {};
    if (x[0].is == kind::dict) return call_on_dict(name, x);
    bool const same_kind = x.size() == 2 && x[0].is == x[1].is;
    if (same_kind && (name == "eq" || name == "ne")) {
        value const same = are_equal(x[0], x[1]);
        return name == "eq" ? same : arithmetic("torch.sym_not", {same});
    }
    if (x[0].is == kind::text) return call_on_text(name, x);
    std::vector<value>& items = x[0].list->items;
    spend(items.size());
    if (auto const grows = growing_.find(x[0].list); grows != growing_.end() && name == "append" && x.size() == 2) {
        grows->second.push_back(x[1]);
        return value{};
    }
    constexpr std::string_view changes[] = {
        "append", "clear", "reverse", "_set_item", "Delete", "pop", "insert", "extend", "add_"};
    if (std::find(std::begin(changes), std::end(changes), name) != std::end(changes)) expect_inside(x[0].list->serial);
    if (name == "len") return value::of(static_cast<std::int64_t>(items.size()));
    if (name == "list" || name == "copy") return spend(steps_per_copy * items.size()), heap_.list(items);
    if (name == "append" && x.size() == 2) return items.push_back(x[1]), x[0];
    if (name == "clear") return items.clear(), x[0];
    if (name == "reverse") return std::reverse(items.begin(), items.end()), x[0];
    if (name == "__getitem__" && x.size() == 2) return item_of(x[0], x[1]);
    if (name == "_set_item" && x.size() == 3)
        return items[static_cast<std::size_t>(position(x[1], items.size()))] = x[2], x[0];
    if (name == "Delete" && x.size() == 2) return items.erase(items.begin() + position(x[1], items.size())), value{};
    if (name == "pop") {
        std::int64_t const at = position(x.size() == 2 ? x[1] : value::of(std::int64_t{-1}), items.size());
        value out = items[static_cast<std::size_t>(at)];
        items.erase(items.begin() + at);
        return out;
    }
    if (name == "insert" && x.size() == 3 && x[1].is == kind::integer) {
        auto const size = static_cast<std::int64_t>(items.size());
        std::int64_t const at =
            std::clamp<std::int64_t>(x[1].integer < 0 ? x[1].integer + size : x[1].integer, 0, size);
        return items.insert(items.begin() + at, x[2]), x[0];
    }
    if ((name == "extend" || name == "add" || name == "add_") && same_kind) {
        std::vector<value> const more = x[1].list->items;
        spend(steps_per_copy * more.size());
        if (name != "add") return items.insert(items.end(), more.begin(), more.end()), x[0];
        spend(steps_per_copy * items.size());
        std::vector<value> both = items;
        both.insert(both.end(), more.begin(), more.end());
        return heap_.list(std::move(both));
    }
    if (name == "mul" && x.size() == 2 && x[1].is == kind::integer) {
        std::vector<value> out;
        for (std::int64_t i = 0; i < x[1].integer && !items.empty(); ++i) {
            spend(steps_per_copy * items.size());
            out.insert(out.end(), items.begin(), items.end());
        }
        return heap_.list(std::move(out));
    }
    if (name == "__contains__" && x.size() == 2) {
        for (value const& each : items)
            if (equal(each, x[1])) return value::of(true);
        return value::of(false);
    }
    if (name == "slice") {
        auto const size = static_cast<std::int64_t>(items.size());
        auto const bound = [&](std::size_t i, std::int64_t otherwise) {
            if (x.size() <= i || x[i].is == kind::none) return otherwise;
            if (x[i].is != kind::integer) fail("slices a list at " + std::string(describe(x[i])));
            return x[i].integer;
        };
        std::int64_t const step = bound(3, 1);
        if (step == 0) fail("slices a list with a step of 0");
        bool const forwards = step > 0;
        // Backwards, -1 is the place in front of the first item.
        auto const inside = [&](std::size_t i, std::int64_t otherwise) {
            constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
            std::int64_t const n = bound(i, none);
            if (n == none && (x.size() <= i || x[i].is == kind::none)) return otherwise;
            return std::clamp<std::int64_t>(n < 0 ? n + size : n, forwards ? 0 : -1, forwards ? size : size - 1);
        };
        std::int64_t const pace = std::clamp<std::int64_t>(step, -size - 1, size + 1);
        std::int64_t const stop = inside(2, forwards ? size : -1);
        std::vector<value> out;
        for (std::int64_t i = inside(1, forwards ? 0 : size - 1); forwards ? i < stop : i > stop; i += pace)
            out.push_back(items[static_cast<std::size_t>(i)]);
        return x[0].is == kind::tuple ? heap_.tuple(std::move(out)) : heap_.list(std::move(out));
    }
    if ((name == "sum" || name == "max" || name == "min" || name == "all" || name == "any") && x.size() == 1 &&
        !items.empty() && items[0].is_number()) {
        value out = items[0];
        for (std::size_t i = 1; i != items.size(); ++i)
            out = arithmetic(name == "sum"                    ? "_operator.add"
                             : name == "max" || name == "any" ? "torch.sym_max"
                                                              : "torch.sym_min",
                             {out, items[i]});
        return name == "all" || name == "any" ? convert_number("bool", out) : out;
    }
    return {};
}

std::optional<value> interpreter::call_on_dict(std::string_view name, std::vector<value> const& x) {
    auto& items = x[0].dict->items;
    spend(items.size() + 1);
    if (name == "_set_item" || name == "pop" || name == "setdefault" || name == "Delete" || name == "clear")
        expect_inside(x[0].dict->serial);
    auto const find = [&] {
        return std::find_if(items.begin(), items.end(), [&](auto const& each) { return equal(each.first, x.at(1)); });
    };
    if (name == "len") return value::of(static_cast<std::int64_t>(items.size()));
    if (name == "keys" || name == "values" || name == "items") {
        std::vector<value> out;
        for (auto const& [key, each] : items)
            out.push_back(name == "keys" ? key : name == "values" ? each : heap_.tuple({key, each}));
        return heap_.list(std::move(out));
    }
    if (name == "_set_item" && x.size() == 3) {
        if (auto const found = find(); found != items.end()) found->second = x[2];
        else items.emplace_back(x[1], x[2]);
        return x[0];
    }
    if (name == "__contains__" && x.size() == 2) return value::of(find() != items.end());
    if (name == "__getitem__" && x.size() == 2) return item_of(x[0], x[1]);
    if ((name == "get" || name == "pop" || name == "setdefault") && x.size() >= 2) {
        auto const found = find();
        value out = found != items.end() ? found->second : x.size() > 2 ? x[2] : value{};
        if (name == "pop" && found != items.end()) items.erase(found);
        if (name == "setdefault" && found == items.end()) items.emplace_back(x[1], out);
        return out;
    }
    if (name == "Delete" && x.size() == 2) {
        if (auto const found = find(); found != items.end()) items.erase(found);
        return value{};
    }
    if (name == "copy" || name == "dict") {
        value out = heap_.dict();
        out.dict->items = items;
        return out;
    }
    if (name == "clear") return items.clear(), x[0];
    return {};
}

} // namespace ATON_NAMESPACE::torchscript

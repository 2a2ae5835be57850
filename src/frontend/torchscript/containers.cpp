// SPDX-License-Identifier: MIT
#include "containers.hpp"

#include <algorithm>
#include <limits>

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

std::optional<value> containers::call_on_order(std::string_view name, std::vector<value> const& x) {
    std::vector<value>& items = x[0].list()->items;
    if (name == "sorted" && x.size() == 1) return heap_.list(comparisons_.sorted(items, false));
    if (name == "sort") {
        if (x.size() > 1 && x[1].is() != kind::boolean) at_.fail("sorts a list in an order that is not known");
        items = comparisons_.sorted(items, x.size() > 1 && x[1].is_true());
        return value{};
    }
    if (x.size() != 2 || (name != "index" && name != "count" && name != "remove")) return {};
    std::int64_t count = 0;
    for (std::size_t i = 0; i != items.size(); ++i) {
        value const same = comparisons_.are_equal(items[i], x[1]);
        std::optional<bool> const known = values_.decide(same);
        if (!known) at_.fail_undecidable("whether an item of a list is the one that is looked for", same);
        if (!*known) continue;
        ++count;
        if (name == "index") return value::of(static_cast<std::int64_t>(i));
        if (name == "remove") return items.erase(items.begin() + static_cast<std::ptrdiff_t>(i)), value{};
    }
    if (name == "count") return value::of(count);
    at_.fail("looks for an item that is not in the list, for which torch raises an exception");
}

std::vector<std::size_t> containers::sliced(std::vector<value> const& x, std::size_t length) const {
    auto const size = static_cast<std::int64_t>(length);
    auto const bound = [&](std::size_t i, std::int64_t otherwise) {
        if (x.size() <= i || x[i].is() == kind::none) return otherwise;
        std::optional<std::int64_t> const at = x[i].integer();
        if (!at) at_.fail("slices a list or a string at " + std::string(describe(x[i])));
        return *at;
    };
    std::int64_t const step = bound(3, 1);
    if (step == 0) at_.fail("slices a list or a string with a step of 0");
    bool const forwards = step > 0;
    // Backwards, -1 is the place in front of the first item.
    auto const inside = [&](std::size_t i, std::int64_t otherwise) {
        constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
        std::int64_t const n = bound(i, none);
        if (n == none && (x.size() <= i || x[i].is() == kind::none)) return otherwise;
        return std::clamp<std::int64_t>(n < 0 ? n + size : n, forwards ? 0 : -1, forwards ? size : size - 1);
    };
    std::int64_t const pace = std::clamp<std::int64_t>(step, -size - 1, size + 1);
    std::int64_t const stop = inside(2, forwards ? size : -1);
    std::vector<std::size_t> out;
    for (std::int64_t i = inside(1, forwards ? 0 : size - 1); forwards ? i < stop : i > stop; i += pace)
        out.push_back(static_cast<std::size_t>(i));
    return out;
}

void containers::fail_missing_key(constant const& key) const {
    at_.fail("a dict has no key " + in_quotes(text_of(key)));
}

std::optional<value> containers::call_on_dict(std::string_view name, std::vector<value> const& x) {
    auto& items = x[0].dict()->items;
    at_.spend(items.size() + 1);
    if (name == "_set_item" || name == "pop" || name == "setdefault" || name == "Delete" || name == "clear" ||
        name == "update" || name == "popitem")
        expect_inside(x[0].dict()->serial);
    auto const key = [&]() -> constant const& { return constant_in(at_, x.at(1), "a key of a dict"); };
    auto const find = [&] {
        constant const& wanted = key();
        return std::find_if(items.begin(), items.end(), [&](auto const& each) { return each.first == wanted; });
    };
    if (name == "len") return value::of(static_cast<std::int64_t>(items.size()));
    if (name == "keys" || name == "values" || name == "items") {
        std::vector<value> out;
        for (auto const& [each_key, each] : items)
            out.push_back(name == "keys"     ? value(each_key)
                          : name == "values" ? each
                                             : heap_.tuple({value(each_key), each}));
        return heap_.list(std::move(out));
    }
    if (name == "_set_item" && x.size() == 3) {
        if (auto const found = find(); found != items.end()) found->second = x[2];
        else items.emplace_back(key(), x[2]);
        return x[0];
    }
    if (name == "__contains__" && x.size() == 2) return value::of(find() != items.end());
    if (name == "__getitem__" && x.size() == 2) return item_of(x[0], x[1]);
    if ((name == "get" || name == "pop" || name == "setdefault") && x.size() >= 2) {
        auto const found = find();
        if (name == "pop" && x.size() == 2 && found == items.end()) fail_missing_key(key());
        value out = found != items.end() ? found->second : x.size() > 2 ? x[2] : value{};
        if (name == "pop" && found != items.end()) items.erase(found);
        if (name == "setdefault" && found == items.end()) items.emplace_back(key(), out);
        return out;
    }
    if (name == "Delete" && x.size() == 2) {
        auto const found = find();
        if (found == items.end()) fail_missing_key(key());
        items.erase(found);
        return value{};
    }
    if (name == "update" && x.size() == 2 && x[1].is() == kind::dict) {
        std::vector<std::pair<constant, value>> const more = x[1].dict()->items;
        for (auto const& [each_key, each] : more) (void)call_on_dict("_set_item", {x[0], value(each_key), each});
        return value{};
    }
    if (name == "popitem" && x.size() == 1) {
        if (items.empty()) at_.fail("popitem() of an empty dict");
        value const out = heap_.tuple({value(items.front().first), items.front().second}); // torch's is the first item
        items.erase(items.begin());
        return out;
    }
    if (name == "copy" || name == "dict") {
        value out = heap_.dict();
        out.dict()->items = items;
        return out;
    }
    if (name == "clear") return items.clear(), x[0];
    return {};
}

std::optional<value> containers::call_on_text(std::string_view name, std::vector<value> const& x) {
    if (std::any_of(x.begin(), x.end(), [](value const& v) { return v.is() == kind::open_text; })) {
        if (name == "add" || name == "join" || name == "percentFormat") return made_text(at_, {});
        at_.fail_undecidable("a string", x[0].is() == kind::open_text || x.size() < 2 ? x[0] : x[1]);
    }
    std::string const& text = *x[0].text();
    at_.spend(1 + text.size() / 16);
    if (name == "__getitem__" && x.size() == 2) return item_of(x[0], x[1]);
    if (name == "slice") {
        std::string out;
        for (std::size_t const i : sliced(x, text.size())) out += text[i];
        return made_text(at_, std::move(out));
    }
    if (name == "percentFormat") return format_percent(at_, text, {x.begin() + 1, x.end()});
    if (name != "join" || x.size() != 2 || x[1].is() != kind::list) return {};
    std::string out;
    for (value const& each : x[1].list()->items) {
        if (each.is() == kind::open_text) return made_text(at_, {});
        if (each.text() == nullptr) at_.fail("joins values that are not strings");
        if (&each != x[1].list()->items.data()) out += text;
        out += *each.text();
        if (out.size() > value::max_text) return made_text(at_, out); // refused
    }
    return made_text(at_, std::move(out));
}

value containers::item_of(value const& v, value const& index) {
    if (v.is() == kind::dict) {
        constant const& wanted = constant_in(at_, index, "a key of a dict");
        for (auto const& [key, each] : v.dict()->items)
            if (key == wanted) return each;
        fail_missing_key(wanted);
    }
    if (std::string const* const text = v.text())
        return value::of(kind::text, text->substr(static_cast<std::size_t>(position_in(at_, index, text->size())), 1));
    if (v.is() == kind::rows) return open_lists_.row_of(v, index);
    if (v.is() == kind::parts) {
        if (index.integer() && *index.integer() >= 0) return open_lists_.part_of(v, *index.integer());
        at_.fail("reads an item, counted from the end or at a place that is not a constant, of a list of parts along a "
                 "dynamic dimension");
    }
    if (v.is() != kind::list && v.is() != kind::tuple) at_.fail("reads an item of " + std::string(describe(v)));
    return v.list()->items[static_cast<std::size_t>(position_in(at_, index, v.list()->items.size()))];
}

/// Refuses to change a container or an object from outside of a branch that depends on data.
void containers::expect_inside(std::size_t serial) const {
    if (serial < heap_.fence) at_.fail("changes a list or a dict in a branch or loop that depends on data");
}

std::optional<value> containers::call(std::string_view name, std::vector<value> const& x) {
    if (name == "format" && !x.empty()) return format(at_, x);
    if (name == "__not__" && x.size() == 1 && x[0].acts_as_tensor()) // bool() of a tensor
        return caller_.call_operator("aten::logical_not", {x, {}});
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
    if (name == "mul" && x.size() == 2 && x[0].integer() && x[1].is() == kind::list) return call(name, {x[1], x[0]});
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
    bool const has_number = x.size() > 1 && x[1].is() == kind::integer;
    std::int64_t const number = has_number ? x[1].integer().value_or(0) : 0;
    if (name == "insert" && x.size() == 3 && has_number) {
        auto const size = static_cast<std::int64_t>(items.size());
        std::int64_t const at = std::clamp<std::int64_t>(number < 0 ? number + size : number, 0, size);
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
    if ((name == "mul" || name == "mul_") && x.size() == 2 && has_number) {
        std::vector<value> out;
        for (std::int64_t i = 0; i < number && !items.empty(); ++i) {
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
    for (value const& each : items) out = caller_.call_path(step, {{out, each}, {}});
    return out;
}

} // namespace ATON_NAMESPACE::torchscript

// SPDX-License-Identifier: MIT
// Lists, dicts and strings: their order, parts of them, and keys.
#include "interpreter.hpp"

#include <algorithm>
#include <limits>

#include "frontend/files/text.hpp"
#include "texts.hpp"

namespace ATON_NAMESPACE::torchscript {

using files::in_quotes;

/// sort, sorted, index, count and remove of a list.
std::optional<value> interpreter::call_on_order(std::string_view name, std::vector<value> const& x) {
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

/// The places of x[0][start:stop:step], where x[0] has `size` items.
std::vector<std::size_t> interpreter::sliced(std::vector<value> const& x, std::size_t length) {
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

void interpreter::fail_missing_key(constant const& key) const {
    at_.fail("a dict has no key " + in_quotes(text_of(key)));
}

std::optional<value> interpreter::call_on_dict(std::string_view name, std::vector<value> const& x) {
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

std::optional<value> interpreter::call_on_text(std::string_view name, std::vector<value> const& x) {
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

} // namespace ATON_NAMESPACE::torchscript

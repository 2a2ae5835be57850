// SPDX-License-Identifier: MIT
// Finds a schema that torch registers, or the nearest registered name.
// Cheap enough for constant expressions: a look-up is a binary search that compares each letter about once.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <aton/aten/generated/function_schemas.hpp>
#include <aton/core/nearest.hpp>

namespace ATON_NAMESPACE::aten {

constexpr std::size_t schema_count() { return generated::function_schema_count; }

namespace detail {

/// Where the text of a schema starts; it ends where the next one of its block starts, or with the block.
constexpr char const* table_text(std::size_t index) {
    std::uint32_t const start = generated::function_schema_starts[index];
    return generated::function_schema_blocks[start >> 16U] + (start & 0xFFFFU);
}

} // namespace detail

/// The text of a schema; they are sorted by qualified overload name. `index` < schema_count().
constexpr std::string_view schema_at(std::size_t index) {
    std::uint32_t const start = generated::function_schema_starts[index];
    std::uint32_t const next = generated::function_schema_starts[index + 1];
    std::uint32_t const block = start >> 16U;
    std::uint32_t const end = next >> 16U == block ? next & 0xFFFFU : generated::function_schema_block_ends[block];
    return {detail::table_text(index), end - (start & 0xFFFFU)};
}

namespace detail {

/// The qualified name that a schema of the table starts with.
constexpr std::string_view table_name(std::size_t index) {
    char const* const start = table_text(index);
    std::size_t size = 0;
    while (start[size] != '(') ++size;
    return {start, size};
}

/// The same without the overload.
constexpr std::string_view table_op(std::size_t index) {
    char const* const start = table_text(index);
    std::size_t size = 0;
    while (start[size] != '(' && start[size] != '.') ++size;
    return {start, size};
}

/// The first row whose name is not less than `name`; `exact` is set if it is equal.
/// Both ends of the interval share a prefix with the name, so the shorter of the two is not compared again.
constexpr std::size_t lower_bound(std::string_view name, bool& exact) {
    char const* const key = name.data();
    std::size_t const size = name.size();
    std::size_t first = 0;
    std::size_t last = generated::function_schema_count;
    std::size_t first_shared = 0;
    std::size_t last_shared = 0;
    exact = false;
    while (first != last) {
        std::size_t const middle = (first + last) / 2;
        char const* const row = table_text(middle);
        std::size_t shared = first_shared < last_shared ? first_shared : last_shared;
        while (shared != size && key[shared] == row[shared] && row[shared] != '(') ++shared;
        if (shared == size ? row[shared] != '(' : row[shared] != '(' && key[shared] < row[shared]) {
            last = middle;
            last_shared = shared;
        } else if (shared == size) {
            exact = true;
            return middle;
        } else {
            first = middle + 1;
            first_shared = shared;
        }
    }
    return first;
}

/// edit_distance() of two names without their common prefix and suffix.
constexpr int name_distance(std::string_view a, std::string_view b, int limit) {
    std::size_t const shorter = a.size() < b.size() ? a.size() : b.size();
    char const* const x = a.data();
    char const* const y = b.data();
    std::size_t front = 0;
    while (front != shorter && x[front] == y[front]) ++front;
    std::size_t back = 0;
    while (back != shorter - front && x[a.size() - back - 1] == y[b.size() - back - 1]) ++back;
    std::size_t const left = a.size() - front - back;
    std::size_t const right = b.size() - front - back;
    if (left == 0 || right == 0) return static_cast<int>(left + right);
    return edit_distance(a.substr(front, left), b.substr(front, right), limit);
}

/// How well a registered overload matches a name that was written without an overload, or with one that does not exist; lower is better.
constexpr int overload_cost(std::string_view wanted, std::string_view overload, std::string_view arguments) {
    if (!wanted.empty()) return name_distance(wanted, overload, 1000);
    // aten::add is an operator on two Python numbers; aten::add.Tensor is probably meant.
    bool const on_tensors = arguments.substr(0, 7) == "(Tensor";
    bool const plain = overload.empty() || overload.substr(0, 6) == "Tensor";
    bool const out = overload.size() >= 3 && overload.substr(overload.size() - 3) == "out";
    return (on_tensors ? 0 : 4000) + (plain ? 0 : 1000) + (out ? 2000 : 0) + static_cast<int>(overload.size());
}

/// The overload of an operator that matches best; empty if there is no such operator.
constexpr std::string_view nearest_overload_of(std::string_view op, std::string_view wanted) {
    bool exact = false;
    std::string_view nearest;
    int best = 0;
    for (std::size_t i = lower_bound(op, exact); i != generated::function_schema_count; ++i) {
        std::string_view const each = table_name(i);
        if (each.substr(0, op.size()) != op) break;
        if (each.size() != op.size() && each[op.size()] != '.') break;
        std::string_view const overload = each.size() == op.size() ? std::string_view{} : each.substr(op.size() + 1);
        int const cost = overload_cost(wanted, overload, schema_at(i).substr(each.size()));
        if (!nearest.empty() && cost >= best) continue;
        best = cost;
        nearest = each;
    }
    return nearest;
}

/// One bit for each letter that occurs: names with very different letters need no edit distance.
constexpr std::uint32_t letters_of(std::string_view name) {
    std::uint32_t bits = 0;
    for (char c : name) bits |= std::uint32_t{1} << (static_cast<unsigned char>(c) & 31U);
    return bits;
}

/// Searches for the operator whose name is nearest to `op`, a qualified name without an overload.
class op_search {
public:
    constexpr explicit op_search(std::string_view op) : op_(op), prefix_(op.find("::") + 2), letters_(letters_of(op)) {
        std::size_t const size = op.size() - prefix_;
        best_ = 4 * (2 + static_cast<int>(size < 18 ? size : 18) / 6);
    }

    [[nodiscard]] constexpr std::string_view nearest() const { return nearest_; }

    /// Searches the operators that start with the namespace of `op` and these one or two letters.
    constexpr void search_prefix(std::string_view letters) {
        char start[40]{};
        std::size_t size = prefix_;
        if (size + 2 > sizeof start) return;
        for (std::size_t i = 0; i != size; ++i) start[i] = op_[i];
        for (char c : letters) start[size++] = c;
        bool ignored = false;
        std::size_t i = lower_bound({start, size}, ignored);
        ++start[size - 1];
        std::size_t const last = lower_bound({start, size}, ignored);
        for (std::string_view before; i < last; ++i) {
            std::string_view const row = schema_at(i);
            bool const same_op =
                row.size() > before.size() && row[before.size()] == '.' && row.substr(0, before.size()) == before;
            if (same_op) continue;
            before = table_op(i);
            compare(before);
        }
    }

private:
    constexpr void compare(std::string_view each) {
        int const longer = static_cast<int>(each.size()) - static_cast<int>(op_.size());
        if (4 * (longer < 0 ? -longer : longer) >= best_) return;
        int different = 0;
        for (std::uint32_t bits = letters_of(each) ^ letters_; bits != 0; bits &= bits - 1) ++different;
        if (2 * different >= best_) return; // an edit changes at most two letters
        // Prefer operators that are not in-place if the name has no trailing underscore, and names with the same letters.
        int const in_place = each.back() == '_' && op_.back() != '_' ? 2 : 0;
        int const distance = 4 * name_distance(op_, each, best_ / 4) + in_place + (different == 0 ? 0 : 1);
        if (distance >= best_) return;
        best_ = distance;
        nearest_ = each;
    }

    std::string_view op_;
    std::string_view nearest_{};
    std::size_t prefix_; ///< the size of "aten::"
    std::uint32_t letters_;
    int best_ = 0; ///< the score of nearest_, lower is better; initially the limit
};

/// nearest_overload() in one namespace; `name` is not empty.
constexpr std::string_view nearest_overload_in(std::string_view ns, std::string_view name, std::string_view wanted) {
    char text[128]{};
    std::size_t size = 0;
    if (ns.size() + 2 + name.size() > sizeof text) return {};
    for (std::string_view part : {ns, std::string_view{"::"}, name})
        for (char c : part) text[size++] = c;
    std::string_view const op{text, size};
    if (std::string_view const exact = nearest_overload_of(op, wanted); !exact.empty()) return exact;
    op_search search{op};
    // Names that start like this one, or whose case, leading underscore or first letter is wrong or missing.
    std::size_t const underscore = name[0] == '_' && name.size() > 1 ? 1 : 0;
    char const first = name[underscore];
    char const small[] = {'_', first >= 'A' && first <= 'Z' ? static_cast<char>(first - 'A' + 'a') : first};
    search.search_prefix({small, 2});
    search.search_prefix({small + 1, 1});
    if (small[1] != first) search.search_prefix(name.substr(0, 1));
    if (underscore == 0 && name.size() > 1 && name[1] != first && name[1] != '_')
        search.search_prefix(name.substr(1, 1));
    return search.nearest().empty() ? std::string_view{} : nearest_overload_of(search.nearest(), wanted);
}

} // namespace detail

/// Whether a name ends in ".default", as Python prints the overload that has no name: `torch.ops.aten.elu.default`.
constexpr bool names_default(std::string_view overload) { return overload.ends_with(".default"); }
/// The name without ".default".
constexpr std::string_view without_default(std::string_view overload) {
    return names_default(overload) ? overload.substr(0, overload.size() - std::string_view(".default").size())
                                   : overload;
}

/// The schema of a qualified overload name, "aten::add.Tensor"; "aten::elu" (or "aten::elu.default") is the overload
/// without a name. Empty if torch does not have it.
constexpr std::string_view find_schema(std::string_view qualified_overload) {
    bool exact = false;
    std::size_t const index = detail::lower_bound(without_default(qualified_overload), exact);
    return exact ? schema_at(index) : std::string_view{};
}

/// The registered overload nearest to an unknown one, for "did you mean": another overload of the same operator, or one of the
/// operator with the nearest name, in the same namespace or in aten. Empty if none is near.
constexpr std::string_view nearest_overload(std::string_view qualified) {
    std::size_t const dot = qualified.find('.');
    std::string_view const op = qualified.substr(0, dot);
    std::string_view const wanted = dot == std::string_view::npos ? std::string_view{} : qualified.substr(dot + 1);
    std::size_t const colons = op.find("::");
    bool const bare = colons == std::string_view::npos;
    std::string_view const ns = op.substr(0, bare ? 0 : colons);
    std::string_view const name = op.substr(bare ? 0 : colons + 2);
    if (name.empty()) return {};
    std::string_view const nearest = bare ? std::string_view{} : detail::nearest_overload_in(ns, name, wanted);
    return nearest.empty() && ns != "aten" ? detail::nearest_overload_in("aten", name, wanted) : nearest;
}

} // namespace ATON_NAMESPACE::aten

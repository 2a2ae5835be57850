// SPDX-License-Identifier: MIT
#include "functionalized_views.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <aton/aten/schema_table.hpp>

#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

std::optional<extent> extent_of(program const& p, argument const& a) {
    if (a.kind != argument_kind::number) return {};
    if (auto const n = a.number.integer()) return extent{*n, extent::none};
    bool const is_size = a.number.is_computed() && p.values[a.number.computed].kind == value_kind::sym_int;
    return is_size ? p.values[a.number.computed].symbolic : std::nullopt;
}

expression expression_of(program const& p, extent const& e) {
    if (!e.is_number()) return p.expressions[e.expression];
    expression out;
    out.number = e.number;
    return out;
}

bool are_equal(program const& p, extent const& a, extent const& b) {
    return a == b || (!a.is_number() && !b.is_number() && p.expressions[a.expression] == p.expressions[b.expression]);
}

extent difference(program& p, extent const& a, extent const& b) {
    if (a.is_number() && b.is_number()) return {a.number - b.number, extent::none};
    if (b.is_number() && b.number == 0) return a;
    expression minus;
    minus.kind = expression_kind::mul;
    expression factor;
    factor.number = -1;
    minus.operands = {std::move(factor), expression_of(p, b)};
    expression sum;
    sum.kind = expression_kind::add;
    sum.operands = {expression_of(p, a), std::move(minus)};
    p.expressions.push_back(std::move(sum));
    return {0, static_cast<std::uint32_t>(p.expressions.size() - 1)};
}

/// Appends a view of the current value of `to`.
void add_view(node_emitter& out, node const& cause, functionalized_view& to, std::string_view op,
              std::vector<argument> arguments, value made) {
    arguments.insert(arguments.begin(), tensor_argument("self", to.value));
    to.value = out.fresh(std::move(made));
    to.nodes.push_back(view_node(out.owner(), cause, op, std::move(arguments), to.value));
}

/// Finds selections and slices of a contiguous tensor that give a strided part of it.
class slice_finder {
public:
    slice_finder(node_emitter& out, node const& cause, value_index base) : out_(out), cause_(cause), base_(base) {}

    /// Finds the part of each dimension of the base; returns false if selections and slices cannot express the view.
    bool find(std::vector<extent> const& sizes, std::vector<extent> const& strides, std::int64_t offset) {
        value const& base = out_.owner().values[base_];
        if (offset < 0 || !is_contiguous(base)) return false;
        std::size_t j = 0;
        for (std::size_t k = 0; k != base.sizes.size(); ++k) {
            std::int64_t const stride = base.strides[k].number;
            cut c{offset / stride, {}};
            offset %= stride;
            bool const same_stride = j != sizes.size() && strides[j] == base.strides[k];
            if (same_stride && fits(c.start, sizes[j], base.sizes[k], k == 0)) c.kept = j++;
            else if (base.sizes[k].is_number() ? c.start >= base.sizes[k].number : k != 0) return false;
            cuts_.push_back(c);
        }
        return j == sizes.size() && offset == 0;
    }

    functionalized_view make(argument const& sizes, std::vector<extent> const& extents) {
        functionalized_view made{base_, {}};
        for (std::size_t k = cuts_.size(); k-- > 0;) {
            cut const& c = cuts_[k];
            value now = out_.owner().values[made.value];
            auto const at = static_cast<std::ptrdiff_t>(k);
            argument const dim = number_argument("dim", at);
            if (!c.kept) {
                now.sizes.erase(now.sizes.begin() + at);
                now.strides.erase(now.strides.begin() + at);
                add_view(
                    out_, cause_, made, "aten::select.int", {dim, number_argument("index", c.start)}, std::move(now));
                continue;
            }
            extent const length = extents[*c.kept];
            if (c.start == 0 && are_equal(out_.owner(), length, now.sizes[k])) continue;
            now.sizes[k] = length;
            if (length.is_number())
                add_view(out_,
                         cause_,
                         made,
                         "aten::slice.Tensor",
                         {dim, number_argument("start", c.start), number_argument("end", c.start + length.number)},
                         std::move(now));
            else
                add_view(out_,
                         cause_,
                         made,
                         "aten::narrow",
                         {dim, number_argument("start", c.start), number_argument("length", sizes.numbers[*c.kept])},
                         std::move(now));
        }
        return made;
    }

private:
    struct cut {
        std::int64_t start = 0;
        std::optional<std::size_t>
            kept; ///< the dimension of the view; nullopt: only the element at `start` is selected
    };

    static bool is_contiguous(value const& v) {
        std::int64_t stride = 1;
        for (std::size_t k = v.sizes.size(); k-- > 0;) {
            if (!v.strides[k].is_number() || v.strides[k].number != stride) return false;
            if (k == 0) break;
            bool const fits = v.sizes[k].is_number() && v.sizes[k].number > 0 &&
                              v.sizes[k].number <= (std::int64_t{1} << 48) / stride;
            if (!fits) return false;
            stride *= v.sizes[k].number;
        }
        return v.has_type && v.sizes.size() == v.strides.size();
    }

    [[nodiscard]] bool fits(std::int64_t start, extent const& length, extent const& whole, bool is_first) const {
        if (start == 0 && are_equal(out_.owner(), length, whole)) return true;
        if (length.is_number() && whole.is_number()) return length.number <= whole.number - start;
        constexpr std::int64_t max_size = std::int64_t{1} << 48;
        return is_first && start <= max_size && length.number <= max_size; // the outermost dimension has no end
    }

    node_emitter& out_;
    node const& cause_;
    value_index base_;
    std::vector<cut> cuts_; ///< by dimension of the base
};

} // namespace

node view_node(program& p, node const& cause, std::string_view op, std::vector<argument> arguments, value_index made) {
    node n;
    n.op = std::string(op);
    n.schema = aten::find_schema(op);
    n.name = p.values[made].name;
    n.arguments = std::move(arguments);
    n.results = {result{{made}, false}};
    n.origin = cause.origin;
    return n;
}

std::optional<std::vector<extent>> extents_of(program const& p, argument const& list) {
    if (list.kind != argument_kind::numbers) {
        bool const empty =
            list.kind == argument_kind::tensors && list.tensors.empty(); // torch serializes `[]` in several ways
        return empty ? std::optional(std::vector<extent>()) : std::nullopt;
    }
    std::vector<extent> out;
    for (number const& n : list.numbers) {
        std::optional<extent> const one = extent_of(p, argument::of_number(n));
        if (!one || (one->is_number() && one->number < 0)) return {};
        out.push_back(*one);
    }
    return out;
}

std::optional<functionalized_view> slice_of(node_emitter& out, node const& cause, value_index base,
                                            slice_arguments const& given) {
    program& p = out.owner();
    std::optional<extent> const start = extent_of(p, given.start);
    std::optional<extent> const end = extent_of(p, given.end);
    value part = p.values[base];
    std::int64_t const dim = integer_of(given.dim).value_or(-1);
    bool const has_dim = dim >= 0 && static_cast<std::size_t>(dim) < part.sizes.size();
    if (!start || !end || !has_dim) return {};
    auto const d = static_cast<std::size_t>(dim);
    bool const is_part = !start->is_number() || !end->is_number() ||
                         (start->number >= 0 && start->number <= end->number &&
                          (!part.sizes[d].is_number() || end->number <= part.sizes[d].number));
    if (!is_part) return {};
    part.sizes[d] = difference(p, *end, *start);
    functionalized_view made{base, {}};
    add_view(out,
             cause,
             made,
             "aten::slice.Tensor",
             {renamed(given.dim, "dim"), renamed(given.start, "start"), renamed(given.end, "end")},
             std::move(part));
    return made;
}

std::optional<functionalized_view> strided_of(node_emitter& out, node const& cause, value_index base,
                                              strided_arguments const& given) {
    auto const sizes = extents_of(out.owner(), given.sizes);
    auto const strides = extents_of(out.owner(), given.strides);
    if (!sizes || !strides || sizes->size() != strides->size()) return {};
    if (slice_finder finder(out, cause, base);
        integer_of(given.offset).has_value() && finder.find(*sizes, *strides, *integer_of(given.offset)))
        return finder.make(given.sizes, *sizes);
    value part = out.owner().values[base];
    part.sizes = *sizes;
    part.strides = *strides;
    functionalized_view made{base, {}};
    add_view(out,
             cause,
             made,
             "aten::as_strided",
             {renamed(given.sizes, "size"), renamed(given.strides, "stride"), renamed(given.offset, "storage_offset")},
             std::move(part));
    return made;
}

} // namespace ATON_NAMESPACE::program

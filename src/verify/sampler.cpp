// SPDX-License-Identifier: MIT
// Draws calls: sizes and elements by the theme, arguments by the sampling rule, or else by type and name.
#include <aton/verify/sample.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/runtime/compute.hpp>

#include "random_source.hpp"
#include "rule_reader.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using aten::base_type;
using aten::schema_argument;
using kind = aten::argument_kind;
using runtime::aten_argument;
using runtime::sizes;
using runtime::tensor;

/// Sizes by name, drawn on first use.
class size_table {
public:
    size_table(random_source& random, size_theme theme)
        : random_(random),
          theme_(theme),
          empty_(random.integer(0, 3)) {}

    std::int64_t get(std::string_view name) {
        if (name == "rank_of_more") return static_cast<std::int64_t>(more().size());
        auto const known = known_.find(name);
        if (known != known_.end()) return known->second;
        std::int64_t const size = drawn();
        known_.emplace(name, size);
        return size;
    }
    /// The sizes of `...`.
    sizes const& more() {
        if (has_more_) return more_;
        has_more_ = true;
        std::int64_t const rank =
            theme_ == size_theme::scalar ? 0 : random_.integer(theme_ == size_theme::distinct ? 1 : 0, 2);
        for (std::int64_t i = 0; i != rank; ++i) more_.push_back(drawn());
        return more_;
    }
    /// Forgets sizes with an apostrophe, before the next tensor of a list.
    void forget_marked() {
        std::erase_if(known_, [](auto const& entry) { return entry.first.back() == '\''; });
    }

private:
    std::int64_t drawn() {
        if (theme_ == size_theme::equal) return 3;
        if (theme_ == size_theme::empty && drawn_++ == empty_) return 0;
        if (theme_ == size_theme::ones && random_.chance(0.5)) return 1;
        constexpr std::size_t max_distinct = 6; // keeps products of sizes small
        if (used_.size() == max_distinct) return random_.integer(2, 3);
        std::int64_t size = random_.integer(2, 6);
        auto const used = [&](std::int64_t s) { return std::find(used_.begin(), used_.end(), s) != used_.end(); };
        while (used(size)) size = size % 7 + 2; // 2 ... 8
        used_.push_back(size);
        return size;
    }

    random_source& random_;
    size_theme theme_;
    std::int64_t empty_; ///< the index of the size that is 0
    std::int64_t drawn_ = 0;
    std::map<std::string, std::int64_t, std::less<>> known_;
    sizes more_;
    bool has_more_ = false;
    std::vector<std::int64_t> used_;
};

bool is_placement(base_type t) {
    return t == base_type::layout || t == base_type::device || t == base_type::memory_format ||
           t == base_type::generator;
}

class drawing {
public:
    drawing(std::string_view overload, std::string_view schema, std::string_view rule, theme const& t,
            std::uint64_t seed)
        : schema_(schema),
          rule_(rule),
          theme_(t),
          random_(seed),
          sizes_(random_, t.sizes),
          first_elements_{random_, t.values, {}} {
        sample_.overload = overload;
    }

    /// Draws the elements of tensors from another source; arguments and sizes stay the same.
    void take_elements_from(random_source& other, value_theme values) {
        other_elements_.emplace(other, values, tensor());
    }

    sample run() {
        std::vector<schema_argument> formal;
        schema_argument each;
        for (aten::argument_cursor all{schema_}; all.next(each);) formal.push_back(each);
        // Tensors first: numbers depend on their sizes.
        std::vector<std::optional<aten_argument>> drawn(formal.size());
        for (bool const tensors : {true, false})
            for (std::size_t i = 0; i != formal.size(); ++i)
                if ((formal[i].type.base == base_type::tensor) == tensors) drawn[i] = argument(formal[i]);
        for (std::size_t i = 0; i != formal.size(); ++i) {
            if (!drawn[i]) continue;
            drawn[i]->name = formal[i].name;
            sample_.arguments.push_back(std::move(*drawn[i]));
        }
        return std::move(sample_);
    }

private:
    [[nodiscard]] rule_reader reader(std::string_view part) {
        return {part, [this](std::string_view name) { return sizes_.get(name); }};
    }

    std::optional<aten_argument> argument(schema_argument const& a) {
        std::string_view const part = part_of_rule(rule_, a.name);
        if ((is_placement(a.type.base) && part.empty()) || a.name == "pin_memory") return {};
        bool const may_be_left =
            a.has_default && !part.starts_with('{') && (a.type.base != base_type::tensor || part.empty());
        if (may_be_left && (theme_.defaults || (a.type.base != base_type::tensor && random_.chance(0.25)))) return {};
        if (part == "default") return a.has_default ? std::optional<aten_argument>() : aten_argument::none();
        if (part.empty()) return by_type(a);
        rule_reader r = reader(part);
        aten_argument out = by_rule(a, r);
        if (!r.at_end()) r.refuse("unexpected text");
        return out;
    }

    // By the rule.

    aten_argument by_rule(schema_argument const& a, rule_reader& r) {
        if (r.next_is("(")) return tensor_by_rule(a, r);
        aten_argument out = aten_argument::none();
        if (r.next_is("'")) {
            std::vector<std::string> all = {r.quoted()};
            while (r.take("|")) all.push_back(r.quoted());
            out.kind = kind::text;
            out.text = one_of(all);
        } else if (r.take("axis")) {
            number(out, axis_of(r.word()));
        } else if (r.take("axes")) {
            axes(out, rank_of(r.word()));
        } else if (r.take("[")) {
            list_by_rule(a, r, out);
        } else if (r.take("{")) {
            std::vector<std::int64_t> all = {r.expression()};
            bool const several = r.next_is(",");
            while (r.take(",")) all.push_back(r.expression());
            r.expect("}");
            if (!several && !a.type.list) number(out, all[0]);
            else integers(out, all);
        } else if (a.type.base == base_type::scalar_type) {
            type_by_rule(r, out);
        } else if (a.type.base == base_type::bool_) {
            out.kind = kind::number;
            out.number = random_.chance(0.5);
            if (r.take("true")) out.number = true;
            else if (r.take("false")) out.number = false;
        } else {
            out.kind = kind::number;
            out.number = number_by_rule(a, r);
        }
        if (r.take("?") && random_.chance(0.3)) return aten_argument::none();
        return out;
    }

    /// Whether to draw an extreme number: for float and Scalar, in some calls with special elements.
    [[nodiscard]] bool is_extreme(schema_argument const& a) {
        bool const real = a.type.base == base_type::float_ || a.type.base == base_type::scalar;
        return real && theme_.values == value_theme::special && random_.chance(0.35);
    }

    scalar number_by_rule(schema_argument const& a, rule_reader& r) {
        struct range {
            double min;
            double max;
            bool real;
        };
        std::vector<range> all;
        do {
            bool real = a.type.base == base_type::float_;
            double const min = r.bound(real);
            double const max = r.take("..") ? r.bound(real) : min;
            all.push_back({min, max, real});
        } while (r.take("|"));
        bool const only = r.take("only");
        if (!only && is_extreme(a)) return extreme_number(random_, theme_.type, a.type.base == base_type::scalar);
        range const& from = all.size() == 1 ? all[0] : one_of(all);
        if (from.real) return from.min + (from.max - from.min) * random_.fraction();
        return static_cast<long long>(
            random_.integer(static_cast<std::int64_t>(from.min), static_cast<std::int64_t>(from.max)));
    }

    void list_by_rule(schema_argument const& a, rule_reader& r, aten_argument& out) {
        bool real = a.type.base == base_type::float_;
        double const min = r.bound(real);
        double const max = r.take("..") ? r.bound(real) : min;
        std::int64_t count = a.type.list_size;
        if (r.take(";")) count = r.expression();
        r.expect("]");
        out.kind = kind::numbers;
        for (std::int64_t i = 0; i != count; ++i) {
            if (real) // exact in float32: lists become float32 attributes and tensors
                out.numbers.emplace_back(std::round((min + (max - min) * random_.fraction()) * 64) / 64);
            else
                out.numbers.emplace_back(static_cast<long long>(
                    random_.integer(static_cast<std::int64_t>(min), static_cast<std::int64_t>(max))));
        }
    }

    void type_by_rule(rule_reader& r, aten_argument& out) {
        std::vector<dtype> all;
        do {
            all.push_back(type_named(r, r.word()));
        } while (r.take("|"));
        out.kind = kind::type;
        out.type = one_of(all);
    }

    /// The constraints on a tensor.
    struct tensor_constraints {
        dtype type = dtype::undefined;
        element_range range;
        std::int64_t index = -1;
        bool is_signed = false;
        bool ascends = false; ///< from 0 to `index`
        bool dense = false;   ///< in every theme
        bool regular = false; ///< a matrix with a large diagonal
        bool hides = false;   ///< a mask of which some rows hide everything
        bool near = false;    ///< close to the previous tensor
        bool sorted = false;
        bool distinct = false;
        bool one_sign = false;
        bool small = false; ///< close to 0 in some calls
        bool bytes = false; ///< uint8 tensors ignore the range
        bool optional = false;
        std::int64_t min_count = 1;
        std::int64_t max_count = 0; ///< 0: not a list
    };

    sizes dims(rule_reader& r) {
        sizes out;
        r.expect("(");
        while (!r.take(")")) {
            if (!out.empty() || r.next_is(",")) (void)r.take(",");
            bool const may_be_one = r.take("~");
            auto const shrunk = [&](std::int64_t size) { return may_be_one && random_.chance(0.3) ? 1 : size; };
            if (r.take("..."))
                for (std::int64_t const size : sizes_.more()) out.push_back(shrunk(size));
            else out.push_back(shrunk(r.expression()));
        }
        return out;
    }

    static bool* flag_of(tensor_constraints& w, std::string_view name) {
        if (name == "hides") return &w.hides;
        if (name == "near") return &w.near;
        if (name == "sorted") return &w.sorted;
        if (name == "distinct") return &w.distinct;
        if (name == "one_sign") return &w.one_sign;
        if (name == "bytes") return &w.bytes;
        if (name == "small") return &w.small;
        return nullptr;
    }

    void word_of(rule_reader& r, tensor_constraints& w) {
        std::string_view const name = r.word();
        if (name == "index" || name == "signed_index" || name == "offsets") {
            w.type = dtype::int64;
            w.index = r.size();
            w.is_signed = name == "signed_index";
            w.ascends = name == "offsets";
        } else if (name == "in") {
            bool real = false;
            w.range.min = r.bound(real);
            w.range.bounded = true;
            r.expect("..");
            w.range.max = r.bound(real);
        } else if (name == "dense") {
            w.dense = true;
        } else if (name == "regular") {
            w.regular = true;
            w.range = {-2, 2, true, false, false};
        } else if (name == "moderate") {
            w.range.moderate = true;
        } else if (name == "whole") {
            w.range.whole = true;
        } else if (bool* const said = flag_of(w, name)) {
            *said = true;
        } else {
            std::vector<dtype> all = {type_named(r, name)};
            while (r.take("|")) all.push_back(type_named(r, r.word()));
            w.type = one_of(all);
        }
    }

    /// `own` is the dtype of the theme.
    [[nodiscard]] dtype type_named(rule_reader& r, std::string_view name) const {
        dtype const t = name == "own" ? theme_.type : name == "bool" ? dtype::bool_ : dtype_from_name(name);
        if (t == dtype::undefined) r.refuse("'" + std::string(name) + "' is not a dtype");
        return t;
    }

    tensor_constraints words(rule_reader& r) {
        tensor_constraints w;
        while (!r.at_end() && !r.next_is(",")) {
            if (r.take("?")) w.optional = true;
            else if (r.take("*")) {
                w.min_count = w.max_count = r.expression();
                if (r.take("..")) w.max_count = r.expression();
            } else word_of(r, w);
        }
        return w;
    }

    aten_argument tensor_by_rule(schema_argument const& a, rule_reader& r) {
        rule_reader const start = r;
        sizes of = dims(r);
        tensor_constraints w = words(r);
        aten_argument out = aten_argument::none();
        if (w.optional && random_.chance(0.35)) return out;
        if (!a.type.list) {
            out.kind = kind::tensor;
            out.tensor = filled(of, w);
            note(a.name, out.tensor);
            return out;
        }
        out.kind = kind::tensors;
        std::int64_t const count = random_.integer(w.min_count, std::max(w.min_count, w.max_count));
        for (std::int64_t i = 0; i != count; ++i) {
            if (i != 0) {
                sizes_.forget_marked();
                rule_reader again = start;
                of = dims(again);
            }
            out.tensors.push_back(filled(of, w));
            note(a.name, out.tensors.back());
        }
        while (r.take(",")) {
            of = dims(r);
            w = words(r);
            out.tensors.push_back(filled(of, w));
        }
        return out;
    }

    /// The dtype of a tensor whose rule does not fix one.
    dtype open_type() {
        constexpr std::array all = {
            dtype::float32, dtype::int64, dtype::float64, dtype::int32, dtype::uint8, dtype::bool_, dtype::int16};
        bool const is_first = !std::exchange(has_open_, true);
        return theme_.mixed && !is_first ? all[static_cast<std::size_t>(random_.integer(0, all.size() - 1))]
                                         : theme_.type;
    }

    /// A source of elements.
    struct element_source {
        random_source& random;
        value_theme values;
        tensor last; ///< the last tensor drawn
    };

    tensor filled(sizes const& of, tensor_constraints const& w) {
        dtype const t = w.type == dtype::undefined ? open_type() : w.type;
        tensor x = elements(first_elements_, t, of, w);
        if (other_elements_) {
            x = elements(*other_elements_, t, of, w);
            if (w.index < 0 && other_elements_->random.chance(0.06)) x = with_first_element_only(x);
        }
        return theme_.scattered && !w.dense ? scattered(x) : x;
    }

    static tensor elements(element_source& from, dtype t, sizes const& of, tensor_constraints const& w) {
        element_range range = w.range;
        if (w.index >= 0)
            range = {w.is_signed ? static_cast<double>(-w.index) : 0.0,
                     static_cast<double>(w.index - 1),
                     true,
                     false,
                     false};
        if (w.bytes && t == dtype::uint8) range = {0, 255, true, false, false};
        value_theme const values = w.index >= 0 ? value_theme::ordinary : from.values;
        // In some calls two operands are equal.
        bool const has_last = from.last && from.last.dtype() == t && from.last.sizes() == of;
        bool const again = values == value_theme::ties && w.index < 0 && has_last && from.random.chance(0.3);
        bool const close = w.near && has_last;
        tensor x = close   ? perturbed(from.random, from.last)
                   : again ? from.last
                           : random_tensor(from.random, t, of, values, range);
        if (w.one_sign && is_floating(t) && from.random.chance(0.5)) x = x * scalar(-1);
        if (w.small && is_floating(t) && from.random.chance(0.5))
            x = x * scalar(std::exp2(-static_cast<double>(from.random.integer(4, 30))));
        if (w.sorted) x = sorted_rows(x);
        if (w.distinct) x = distinct_indices(from.random, x, w.index);
        if (w.index < 0) from.last = x;
        if (w.ascends && x.count() != 0) {
            auto* const first = x.data<std::int64_t>();
            std::sort(first, first + x.count());
            first[x.count() - 1] = w.index;
            *first = 0;
        }
        if (w.regular) x = with_large_diagonal(from.random, x);
        return w.hides ? with_hiding_rows(from.random, x) : x;
    }

    /// Every element equals the first: extremes are equal, and the variance is 0.
    static tensor with_first_element_only(tensor const& x) {
        if (x.count() == 0 || !aton::tensor::can_hold(x.dtype())) return x;
        scalar const first = x.to_constant().at(0);
        aton::tensor out{x.dtype(), x.sizes(), {}};
        for (std::int64_t i = 0; i != x.count(); ++i) out.append(first);
        return tensor::from_constant(out);
    }

    /// Adds a dominant diagonal with a random sign per row: the matrices are invertible and have determinants of both signs.
    static tensor with_large_diagonal(random_source& random, tensor const& x) {
        std::int64_t const n = x.sizes().back();
        if (!is_floating(x.dtype()) || n == 0) return x;
        aton::tensor diagonal{x.dtype(), {n, n}, {}};
        for (std::int64_t i = 0; i != n; ++i) {
            double const large = static_cast<double>(2 * n + 1) * (random.chance(0.5) ? 1 : -1);
            for (std::int64_t k = 0; k != n; ++k) diagonal.append(i == k ? large : 0.0);
        }
        return x + tensor::from_constant(diagonal);
    }

    // By the type and the name.

    std::optional<aten_argument> by_type(schema_argument const& a) {
        aten_argument out = aten_argument::none();
        if (a.type.optional && random_.chance(0.35)) return out;
        if (a.type.list) {
            list_by_type(a, out);
            return out;
        }
        out.kind = kind::number;
        switch (a.type.base) {
        case base_type::tensor:
            out.kind = kind::tensor;
            out.tensor = filled(broadcasting(), {});
            note(a.name, out.tensor);
            return out;
        case base_type::int_:
        case base_type::sym_int:
            if (a.name.starts_with("dim") || a.name == "axis") number(out, axis_of(first_));
            else out.number = static_cast<long long>(random_.integer(1, 3));
            return out;
        case base_type::float_:
            if (is_extreme(a)) out.number = extreme_number(random_, theme_.type, false);
            else
                out.number =
                    a.name.starts_with("eps") ? 1e-3 + 1e-2 * random_.fraction() : 0.1 + 2 * random_.fraction();
            return out;
        case base_type::scalar:
            if (is_extreme(a)) out.number = extreme_number(random_, theme_.type, true);
            else if (random_.chance(0.5)) out.number = static_cast<long long>(random_.integer(-3, 3));
            else out.number = std::round((random_.fraction() * 6 - 3) * 16) / 16;
            return out;
        case base_type::bool_: out.number = random_.chance(0.5); return out;
        case base_type::scalar_type: {
            constexpr std::array all = {dtype::float32, dtype::float64, dtype::int64, dtype::float16, dtype::int32};
            out.kind = kind::type;
            out.type = all[static_cast<std::size_t>(random_.integer(0, 4))];
            return out;
        }
        default: return {};
        }
    }

    void list_by_type(schema_argument const& a, aten_argument& out) {
        if (a.type.base == base_type::tensor) {
            out.kind = kind::tensors;
            sizes const of = broadcasting();
            for (std::int64_t i = random_.integer(1, 3); i != 0; --i) out.tensors.push_back(filled(of, {}));
            note(a.name, out.tensors.front());
        } else if (a.name.starts_with("dim") || a.name == "axes" || a.name == "axis") {
            axes(out, rank_of(first_));
        } else {
            out.kind = kind::numbers;
            std::int64_t const count = a.type.list_size > 0 ? a.type.list_size : 2;
            for (std::int64_t i = 0; i != count; ++i)
                out.numbers.emplace_back(static_cast<long long>(random_.integer(1, 3)));
        }
    }

    /// The sizes of a tensor without a rule: drawn for the first one; others have some sizes 1, or a leading axis fewer.
    sizes broadcasting() {
        if (theme_.sizes == size_theme::scalar) return {};
        if (shared_.empty()) {
            for (std::string_view const name : {"first dim", "second dim", "third dim"})
                shared_.push_back(sizes_.get(name));
            return shared_;
        }
        if (theme_.mixed && random_.chance(0.25)) return {}; // 0-d tensors promote weakly
        sizes out = shared_;
        for (std::int64_t& size : out)
            if (random_.chance(0.25)) size = 1;
        if (random_.chance(0.25)) out.erase(out.begin());
        return out;
    }

    // Shared helpers.

    void note(std::string_view name, tensor const& x) {
        if (first_.empty()) first_ = name;
        ranks_.insert_or_assign(name, static_cast<std::int64_t>(x.rank()));
    }
    std::int64_t rank_of(std::string_view tensor) {
        auto const known = ranks_.find(tensor);
        return known == ranks_.end() ? 1 : known->second;
    }
    std::int64_t axis_of(std::string_view tensor) {
        std::int64_t const rank = std::max<std::int64_t>(1, rank_of(tensor));
        return random_.integer(-rank, rank - 1);
    }
    /// Some axes in any order, counted from either end.
    void axes(aten_argument& out, std::int64_t rank) {
        out.kind = kind::numbers;
        std::vector<std::int64_t> all;
        for (std::int64_t i = 0; i != rank; ++i) all.push_back(i);
        for (std::size_t i = 1; i < all.size(); ++i)
            std::swap(all[i], all[static_cast<std::size_t>(random_.integer(0, static_cast<std::int64_t>(i)))]);
        if (!all.empty()) all.resize(static_cast<std::size_t>(random_.integer(1, rank)));
        for (std::int64_t const axis : all)
            out.numbers.emplace_back(static_cast<long long>(random_.chance(0.5) ? axis - rank : axis));
    }
    static void number(aten_argument& out, std::int64_t n) {
        out.kind = kind::number;
        out.number = static_cast<long long>(n);
    }
    static void integers(aten_argument& out, std::vector<std::int64_t> const& all) {
        out.kind = kind::numbers;
        for (std::int64_t const n : all) out.numbers.emplace_back(static_cast<long long>(n));
    }
    template <class T>
    T one_of(std::vector<T> const& all) {
        return all[static_cast<std::size_t>(random_.integer(0, static_cast<std::int64_t>(all.size()) - 1))];
    }

    std::string_view schema_;
    std::string_view rule_;
    theme theme_;
    random_source random_;
    size_table sizes_;
    sample sample_;
    sizes shared_;
    std::string_view first_;
    element_source first_elements_;
    std::optional<element_source> other_elements_; ///< if set, its elements replace the first ones
    bool has_open_ = false;                        ///< a tensor without a fixed dtype was drawn
    std::map<std::string_view, std::int64_t> ranks_;
};

} // namespace

sampling_rule const* find_rule(std::span<sampling_rule const> rules, std::string_view overload) {
    auto const without_aten = [](std::string_view name) {
        constexpr std::string_view aten = "aten::";
        return name.starts_with(aten) ? name.substr(aten.size()) : name;
    };
    overload = without_aten(overload);
    for (std::string_view const name : {overload, overload.substr(0, overload.find('.'))})
        for (sampling_rule const& rule : rules)
            for (std::string_view left = rule.operators; !left.empty();) {
                std::size_t const end = std::min(left.find(' '), left.size());
                if (without_aten(left.substr(0, end)) == name) return &rule;
                left.remove_prefix(std::min(end + 1, left.size()));
            }
    return nullptr;
}

bool names(std::string_view operators, std::string_view overload) {
    sampling_rule const one{operators, {}};
    return find_rule(std::span(&one, 1), overload) != nullptr;
}

sample draw(std::string_view overload, std::string_view schema, sampling_rule const* rule, theme const& t,
            std::uint64_t seed) {
    return drawing(overload, schema, rule == nullptr ? std::string_view() : rule->text, t, seed).run();
}

sample draw_elements(std::string_view overload, std::string_view schema, sampling_rule const* rule, theme const& t,
                     std::uint64_t seed, value_theme values, std::uint64_t other_seed) {
    drawing call(overload, schema, rule == nullptr ? std::string_view() : rule->text, t, seed);
    random_source other(other_seed);
    call.take_elements_from(other, values);
    return call.run();
}

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// Draws the arguments of calls by the sampling rule, or else by type and name.
#include <aton/verify/sample.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>

#include "landmarks.hpp"
#include "random_source.hpp"
#include "reordered_axes.hpp"
#include "rule_reader.hpp"
#include "sampling_profiles.hpp"
#include "size_table.hpp"
#include "tensor_drawing.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using aten::base_type;
using aten::schema_argument;
using kind = aten::argument_kind;
using runtime::aten_argument;

class drawing {
public:
    drawing(std::string_view overload, std::string_view schema, std::string_view rule, sampling_profile const& t,
            std::uint64_t seed)
        : schema_(schema),
          rule_(rule),
          profile_(t),
          random_(seed),
          sizes_(random_, t.sizes),
          tensors_(random_, sizes_, profile_) {
        sample_.overload = overload;
    }

    /// Draws the elements of tensors from another source; arguments and sizes stay the same.
    void take_elements_from(random_source& other, value_profile values) {
        tensors_.take_elements_from(other, values);
        other_ = &other;
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
        keep_only_one();
        unsort();
        reorder_axes(random_, sample_, names_in("reordered"));
        approach_landmarks();
        for (rule_reader r = reader(part_of_rule(rule_, "symbols")); !r.at_end();)
            sample_.symbols.push_back(r.expression());
        return std::move(sample_);
    }

private:
    [[nodiscard]] aten_argument* given(std::string_view name) {
        auto const found = std::ranges::find(sample_.arguments, name, &aten_argument::name);
        return found == sample_.arguments.end() ? nullptr : &*found;
    }
    /// The names in a part that is not about one argument.
    [[nodiscard]] std::vector<std::string_view> names_in(std::string_view part) {
        std::vector<std::string_view> out;
        for (rule_reader r = reader(part_of_rule(rule_, part)); !r.at_end();) {
            out.push_back(r.word());
            if (out.back().empty()) r.refuse("expected the name of an argument");
        }
        return out;
    }
    /// Of the arguments that `only_one` of the rule lists, all but one become None.
    void keep_only_one() {
        std::vector<aten_argument*> all;
        for (std::string_view const name : names_in("only_one"))
            if (aten_argument* const a = given(name)) all.push_back(a);
        if (all.size() < 2) return;
        aten_argument* const kept = one_of(random_, all);
        for (aten_argument* const a : all)
            if (a != kept) *a = aten_argument::none().named(a->name);
    }
    /// Permutes the rows that other tensors sort.
    void unsort() {
        for (auto const& [name, of] : tensors_.unsorters()) {
            aten_argument* const sorter = given(name);
            aten_argument* const rows = given(of);
            if (sorter != nullptr && rows != nullptr && sorter->tensor && rows->tensor)
                unsort_rows(random_, rows->tensor, sorter->tensor);
        }
    }
    /// Moves elements of some tensors close to the numbers of the call.
    void approach_landmarks() {
        std::vector<double> const landmarks = landmarks_of(schema_, sample_.arguments);
        random_source& random = other_ == nullptr ? random_ : *other_;
        for (aten_argument& a : sample_.arguments) {
            tensor_drawing::freedom const* const free = a.tensor ? tensors_.freedom_of(a.name) : nullptr;
            if (landmarks.empty() || free == nullptr || random.chance(0.4)) continue;
            a.tensor = with_landmarks(random, a.tensor, landmarks, free->range);
            if (profile_.scattered && !free->dense) a.tensor = scattered(a.tensor);
        }
    }

    [[nodiscard]] rule_reader reader(std::string_view part) {
        return {part, [this](std::string_view name) { return sizes_.get(name); }};
    }

    std::optional<aten_argument> argument(schema_argument const& a) {
        std::string_view const part = part_of_rule(rule_, a.name);
        if (a.type.base == base_type::device && !a.type.optional && !a.has_default) return aten_argument::of_tag("cpu");
        if ((is_placement(a.type.base) && part.empty()) || a.name == "pin_memory")
            return a.has_default ? std::optional<aten_argument>() : aten_argument::none();
        bool const may_be_left =
            a.has_default && !part.starts_with('{') && (a.type.base != base_type::tensor || part.empty());
        if (may_be_left && (profile_.defaults || (a.type.base != base_type::tensor && random_.chance(0.25)))) return {};
        if (part == "default") return a.has_default ? std::optional<aten_argument>() : aten_argument::none();
        if (part.empty()) return by_type(a);
        rule_reader r = reader(part);
        aten_argument out = by_rule(a, r);
        if (!r.at_end()) r.refuse("unexpected text");
        return out;
    }

    // By the rule.

    aten_argument by_rule(schema_argument const& a, rule_reader& r) {
        if (r.next_is("(")) return tensors_.by_rule(a, r);
        aten_argument out = aten_argument::none();
        if (r.next_is("'")) {
            std::vector<std::string> all = {r.quoted()};
            while (r.take("|")) all.push_back(r.quoted());
            out.kind = kind::text;
            out.text = one_of(random_, all);
        } else if (r.take("axis")) {
            number(out, tensors_.axis_of(r.word()));
        } else if (r.take("axes")) {
            axes(out, tensors_.rank_of(r.word()));
        } else if (r.take("[")) {
            list_by_rule(a, r, out);
        } else if (r.take("{")) {
            std::vector<std::vector<std::int64_t>> all = {expressions_by_rule(r)};
            for (; r.take("|"); all.push_back(expressions_by_rule(r))) r.expect("{");
            std::vector<std::int64_t> const& chosen = all.size() == 1 ? all[0] : one_of(random_, all);
            if (chosen.size() == 1 && !a.type.list) number(out, chosen[0]);
            else integers(out, chosen);
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
        bool const wanted = profile_.extreme >= 0 && is_real(a);
        if (r.take("?") && !wanted && random_.chance(0.4)) return aten_argument::none();
        return out;
    }

    /// An extreme number, for float and Scalar in some calls with special elements.
    [[nodiscard]] std::optional<scalar> extreme(schema_argument const& a) {
        bool const any = a.type.base == base_type::scalar;
        if (!is_real(a) || profile_.values != value_profile::special) return std::nullopt;
        if (profile_.extreme >= 0)
            return random_.chance(0.75) ? std::optional<scalar>(extreme_real(profile_.extreme, profile_.type))
                                        : std::nullopt;
        return random_.chance(0.35) ? std::optional(extreme_number(random_, profile_.type, any)) : std::nullopt;
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
        if (!only)
            if (auto const number = extreme(a)) return *number;
        range const& from = all.size() == 1 ? all[0] : one_of(random_, all);
        if (from.real) return from.min + (from.max - from.min) * random_.fraction();
        return static_cast<long long>(
            random_.integer(static_cast<std::int64_t>(from.min), static_cast<std::int64_t>(from.max)));
    }

    static std::vector<std::int64_t> expressions_by_rule(rule_reader& r) {
        std::vector<std::int64_t> all;
        do all.push_back(r.expression());
        while (r.take(","));
        r.expect("}");
        return all;
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
            all.push_back(r.type_named(r.word(), profile_.type));
        } while (r.take("|"));
        out.kind = kind::type;
        out.type = one_of(random_, all);
    }

    // By the type and the name.

    /// What matters beside bools: True, False, 1 or 0.
    [[nodiscard]] scalar truth() {
        bool const holds = random_.chance(0.5);
        return random_.chance(0.5) ? scalar(holds) : scalar(static_cast<long long>(holds));
    }

    std::optional<aten_argument> by_type(schema_argument const& a) {
        aten_argument out = aten_argument::none();
        if (a.type.optional && random_.chance(0.35)) return out;
        if (a.type.base == base_type::tensor) return tensors_.by_type(a);
        if (a.type.list) {
            list_by_type(a, out);
            return out;
        }
        out.kind = kind::number;
        switch (a.type.base) {
        case base_type::int_:
        case base_type::sym_int:
            if (a.name.starts_with("dim") || a.name == "axis") number(out, tensors_.axis_of(tensors_.first()));
            else out.number = static_cast<long long>(random_.integer(1, 3));
            return out;
        case base_type::float_:
            if (auto const number = extreme(a)) out.number = *number;
            else
                out.number =
                    a.name.starts_with("eps") ? 1e-3 + 1e-2 * random_.fraction() : 0.1 + 2 * random_.fraction();
            return out;
        case base_type::scalar:
            if (auto const number = extreme(a)) out.number = *number;
            else if (profile_.type == dtype::bool_ && random_.chance(0.8)) out.number = truth();
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
        if (a.name.starts_with("dim") || a.name == "axes" || a.name == "axis") {
            axes(out, tensors_.rank_of(tensors_.first()));
        } else if (a.type.base == base_type::bool_) {
            out.kind = kind::numbers; // mostly true: masks of the results that are asked for
            for (std::int64_t i = 0; i != a.type.list_size; ++i) out.numbers.emplace_back(random_.chance(0.75));
        } else {
            out.kind = kind::numbers;
            std::int64_t const count = a.type.list_size > 0 ? a.type.list_size : 2;
            for (std::int64_t i = 0; i != count; ++i)
                out.numbers.emplace_back(static_cast<long long>(random_.integer(1, 3)));
        }
    }

    // Shared helpers.

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

    std::string_view schema_;
    std::string_view rule_;
    sampling_profile profile_;
    random_source random_;
    size_table sizes_;
    sample sample_;
    tensor_drawing tensors_;
    random_source* other_ = nullptr; ///< the other source of elements, if there is one
};

/// The alternative of the rule that the seed chooses.
std::string_view text_for(sampling_rule const* rule, std::uint64_t seed) {
    return rule == nullptr ? std::string_view() : alternative_of_rule(rule->text, random_source(seed).alternative());
}

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

std::string_view reason_for(sampling_rule const& rule, std::string_view argument) {
    return reason_of_rule(rule.text, argument);
}

bool names(std::string_view operators, std::string_view overload) {
    sampling_rule const one{operators, {}};
    return find_rule(std::span(&one, 1), overload) != nullptr;
}

sample draw(std::string_view overload, std::string_view schema, sampling_rule const* rule, sampling_profile const& t,
            std::uint64_t seed) {
    return drawing(overload, schema, text_for(rule, seed), t, seed).run();
}

sample draw_elements(std::string_view overload, std::string_view schema, sampling_rule const* rule,
                     sampling_profile const& t, std::uint64_t seed, value_profile values, std::uint64_t other_seed) {
    drawing call(overload, schema, text_for(rule, seed), t, seed);
    random_source other(other_seed);
    call.take_elements_from(other, values);
    return call.run();
}

} // namespace ATON_NAMESPACE::verify

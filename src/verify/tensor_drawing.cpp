// SPDX-License-Identifier: MIT
// Sizes and constraints of a tensor by its rule, then its elements.
#include "tensor_drawing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace ATON_NAMESPACE::verify {

using aten::schema_argument;
using kind = aten::argument_kind;
using runtime::aten_argument;
using runtime::sizes;
using runtime::tensor;

namespace {

bool* flag_of(tensor_constraints& w, std::string_view name) {
    if (name == "hides") return &w.hides;
    if (name == "near") return &w.near;
    if (name == "sorted") return &w.sorted;
    if (name == "distinct") return &w.distinct;
    if (name == "one_sign") return &w.one_sign;
    if (name == "bytes") return &w.bytes;
    if (name == "bits") return &w.bits;
    if (name == "small") return &w.small;
    if (name == "deficient") return &w.deficient;
    if (name == "prefix") return &w.prefix;
    if (name == "moderate") return &w.range.moderate;
    if (name == "whole") return &w.range.whole;
    if (name == "uneven") return &w.range.uneven;
    return nullptr;
}

/// Whether an element may have any value of the range, whatever the others are.
bool is_free(tensor_constraints const& w) {
    return w.index < 0 && w.falls_from < 0 && w.counts_from < 0 && !w.prefix && !w.regular && !w.permuted &&
           !w.definite && !w.deficient && !w.hides && !w.sorted && !w.distinct && w.unsorts.empty() && !w.one_sign &&
           !w.small && !w.bits && !w.range.uneven;
}

} // namespace

sizes tensor_drawing::dims(rule_reader& r) {
    sizes out;
    r.expect("(");
    while (!r.take(")")) {
        if (!out.empty() || r.next_is(",")) (void)r.take(",");
        bool const may_be_one = r.take("~");
        auto const shrunk = [&](std::int64_t size) { return may_be_one && random_.chance(0.3) ? 1 : size; };
        if (r.take("...")) {
            for (std::int64_t const size : sizes_.more()) out.push_back(shrunk(size));
            continue;
        }
        rule_reader ahead = r;
        std::string_view const name = ahead.word();
        std::int64_t const size = shrunk(r.expression());
        if (!r.take("?") || !sizes_.is_left_out(name)) out.push_back(size);
    }
    return out;
}

void tensor_drawing::word_of(rule_reader& r, tensor_constraints& w) {
    std::string_view const name = r.word();
    if (name == "index" || name == "signed_index" || name == "offsets" || name == "ends") {
        w.type = dtype::int64;
        w.index = r.size();
        w.is_signed = name == "signed_index";
        w.ascends = name == "offsets" || name == "ends";
        w.from_zero = name == "offsets";
    } else if (name == "lengths" || name == "counts") {
        w.type = dtype::int64;
        w.falls_from = r.size();
        w.sum = name == "counts" ? r.size() : -1;
    } else if (name == "counting") {
        w.type = dtype::int64;
        w.counts_from = r.size();
    } else if (name == "in") {
        bool real = false;
        w.range.min = r.bound(real);
        w.range.bounded = true;
        r.expect("..");
        w.range.max = r.bound(real);
    } else if (name == "unsorts") {
        w.type = dtype::int64;
        w.unsorts = r.word();
    } else if (name == "dense") {
        w.dense = true;
    } else if (name == "regular" || name == "permuted" || name == "definite") {
        (name == "regular" ? w.regular : name == "permuted" ? w.permuted : w.definite) = true;
        w.range.min = -2, w.range.max = 2, w.range.bounded = true;
    } else if (bool* const said = flag_of(w, name)) {
        *said = true;
    } else {
        std::vector<dtype> all = {r.type_named(name, profile_.type)};
        while (r.take("|")) all.push_back(r.type_named(r.word(), profile_.type));
        w.type = one_of(random_, all);
    }
}

tensor_constraints tensor_drawing::words(rule_reader& r) {
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

aten_argument tensor_drawing::by_rule(schema_argument const& a, rule_reader& r) {
    rule_reader const start = r;
    sizes of = dims(r);
    tensor_constraints w = words(r);
    aten_argument out = aten_argument::none();
    if (w.optional && !a.type.element_optional && random_.chance(0.35)) return out;
    if (!a.type.list) {
        out.kind = kind::tensor;
        out.tensor = filled(of, w);
        note(a.name, out.tensor);
        has_near_ = has_near_ || w.near;
        if (!w.unsorts.empty()) unsorters_.insert_or_assign(a.name, w.unsorts);
        if (is_free(w)) free_.insert_or_assign(a.name, freedom{w.range, w.dense});
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
    if (w.optional && a.type.element_optional) // at least one remains
        for (std::int64_t i = 0; i + 1 < count; ++i)
            if (random_.chance(0.35)) out.tensors[static_cast<std::size_t>(i)] = {};
    while (r.take(",")) {
        of = dims(r);
        w = words(r);
        out.tensors.push_back(filled(of, w));
    }
    return out;
}

aten_argument tensor_drawing::by_type(schema_argument const& a) {
    aten_argument out = aten_argument::none();
    if (!a.type.list) {
        out.kind = kind::tensor;
        out.tensor = filled(broadcasting(), {});
        note(a.name, out.tensor);
        free_.insert_or_assign(a.name, freedom{});
        return out;
    }
    out.kind = kind::tensors;
    sizes const of = broadcasting();
    for (std::int64_t i = random_.integer(1, 3); i != 0; --i) out.tensors.push_back(filled(of, {}));
    note(a.name, out.tensors.front());
    return out;
}

dtype tensor_drawing::open_type() {
    constexpr std::array all = {
        dtype::float32, dtype::int64, dtype::float64, dtype::int32, dtype::uint8, dtype::bool_, dtype::int16};
    bool const is_first = !std::exchange(has_open_, true);
    return profile_.mixed && !is_first ? all[static_cast<std::size_t>(random_.integer(0, all.size() - 1))]
                                       : profile_.type;
}

tensor tensor_drawing::filled(sizes const& of, tensor_constraints const& w) {
    dtype const t = w.type == dtype::undefined ? open_type() : w.type;
    tensor x = constrained_elements(first_elements_, t, of, w);
    if (other_elements_) {
        x = constrained_elements(*other_elements_, t, of, w);
        if (w.index < 0 && other_elements_->random.chance(0.06)) x = with_first_element_only(x);
    }
    return profile_.scattered && !w.dense ? scattered(x) : x;
}

sizes tensor_drawing::broadcasting() {
    if (profile_.sizes == size_profile::scalar) return {};
    if (shared_.empty()) {
        for (std::string_view const name : {"first dim", "second dim", "third dim"})
            shared_.push_back(sizes_.get(name));
        return shared_;
    }
    if (profile_.mixed && random_.chance(0.25)) return {}; // 0-d tensors promote weakly
    sizes out = shared_;
    for (std::int64_t& size : out)
        if (random_.chance(0.25)) size = 1;
    if (random_.chance(0.25)) out.erase(out.begin());
    return out;
}

void tensor_drawing::note(std::string_view name, tensor const& x) {
    if (first_.empty()) first_ = name;
    ranks_.insert_or_assign(name, static_cast<std::int64_t>(x.rank()));
}

tensor_drawing::freedom const* tensor_drawing::freedom_of(std::string_view tensor) const {
    auto const known = free_.find(tensor);
    return has_near_ || known == free_.end() ? nullptr : &known->second;
}

std::int64_t tensor_drawing::rank_of(std::string_view tensor) const {
    auto const known = ranks_.find(tensor);
    return known == ranks_.end() ? 1 : known->second;
}

std::int64_t tensor_drawing::axis_of(std::string_view tensor) {
    std::int64_t const rank = std::max<std::int64_t>(1, rank_of(tensor));
    return random_.integer(-rank, rank - 1);
}

} // namespace ATON_NAMESPACE::verify

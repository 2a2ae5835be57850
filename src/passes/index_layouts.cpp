// SPDX-License-Identifier: MIT
// What operators that move elements do to linear forms.
#include "index_forms.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "rewriter.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

using form = std::optional<linear_form>;

scalar_form one() { return {1}; }

/// The axes that are not of size 1.
std::vector<std::size_t> wide_axes(size_forms const& sizes) {
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i != sizes.size(); ++i)
        if (sizes[i] != one()) axes.push_back(i);
    return axes;
}

/// Whether `size - least` cannot be negative.
bool is_at_least(std::optional<scalar_form> const& size, std::int64_t least) {
    if (!size) return false;
    std::optional<std::int64_t> const low = minimum(uniform_form(*size, {}));
    return low && *low >= least;
}

/// The size of a slice with step 1.
std::optional<scalar_form> size_of_slice(std::optional<scalar_form> const& size, std::int64_t start, std::int64_t end) {
    if (end < 0) {
        if (end < -max_coefficient || !is_at_least(size, start - end)) return {};
        return add_multiple(*size, scalar_form{start - end}, -1);
    }
    if (end >= start && is_at_least(size, end)) return scalar_form{end - start};
    bool const is_whole = end == INT64_MAX || (size && size->is_number() && size->constant <= end);
    return is_whole && is_at_least(size, start) ? add_multiple(*size, scalar_form{start}, -1) : std::nullopt;
}

} // namespace

/// An operator that only adds and removes axes of size 1, or anything on equal elements.
form index_forms::reshaped(graph_node const& n) {
    linear_form const* const f = of(n.inputs[0]);
    if (f == nullptr) return {};
    linear_form result = uniform_form(f->origin, sizes_of(r_.shape_of(n.outputs[0])));
    std::vector<std::size_t> const before = wide_axes(f->sizes);
    std::vector<std::size_t> const after = wide_axes(result.sizes);
    bool same = before.size() == after.size();
    for (std::size_t i = 0; same && i != before.size(); ++i) {
        std::optional<scalar_form> const& size = f->sizes[before[i]];
        // One unknown axis has the size that is left.
        if (before.size() == 1 && n.op != "Reshape" && !result.sizes[after[i]]) result.sizes[after[i]] = size;
        same = size && size == result.sizes[after[i]];
        result.steps[after[i]] = f->steps[before[i]];
    }
    return same || f->is_uniform() ? form(result) : form();
}

form index_forms::transposed(graph_node const& n) {
    linear_form const* const f = of(n.inputs[0]);
    node_attribute const* const perm = n.attribute("perm");
    std::size_t const rank = f == nullptr ? 0 : f->steps.size();
    if (f == nullptr || (perm != nullptr && perm->ints.size() != rank)) return {};
    linear_form result = *f;
    for (std::size_t i = 0; i != rank; ++i) {
        auto const from = axis_at(perm == nullptr ? -1 - static_cast<std::int64_t>(i) : perm->ints[i], rank);
        if (!from) return {};
        result.steps[i] = f->steps[*from];
        result.sizes[i] = f->sizes[*from];
    }
    return result;
}

form index_forms::sliced(graph_node const& n) {
    linear_form const* const f = of(n.inputs[0]);
    if (f == nullptr) return {};
    tensor const* const starts = r_.constant(input(n, 1));
    tensor const* const ends = r_.constant(input(n, 2));
    tensor const* const axes = r_.constant(input(n, 3));
    tensor const* const steps = r_.constant(input(n, 4));
    auto const is_list = [&](tensor const* t, std::size_t at) {
        return t != nullptr ? is_index_tensor(*t) && t->element_count() == starts->element_count()
                            : input(n, at) == no_value;
    };
    linear_form result = *f;
    if (starts == nullptr || !is_index_tensor(*starts) || !is_list(axes, 3) || !is_list(steps, 4)) {
        result.sizes = sizes_of(r_.shape_of(n.outputs[0]));
        return f->is_uniform() && result.sizes.size() == f->steps.size() ? form(result) : form();
    }
    std::vector<std::int64_t> const from = integers(*starts);
    for (std::size_t i = 0; i != from.size(); ++i) {
        auto const axis = axis_at(axes != nullptr ? integers(*axes)[i] : static_cast<std::int64_t>(i), f->steps.size());
        std::int64_t const step = steps != nullptr ? integers(*steps)[i] : 1;
        if (!axis) return {};
        std::optional<scalar_form> const& size = f->sizes[*axis];
        std::int64_t start = from[i];
        if (start < 0 && size && size->is_number() && size->constant >= -start) start += size->constant;
        bool const in_order = start >= 0 && start <= max_coefficient && step == 1;
        bool const has_end =
            ends != nullptr && is_index_tensor(*ends) && ends->element_count() == starts->element_count();
        result.sizes[*axis] = in_order && has_end ? size_of_slice(size, start, integers(*ends)[i]) : std::nullopt;
        std::int64_t const along = f->steps[*axis];
        if (along == 0) continue;
        std::optional<scalar_form> const origin =
            in_order ? add_multiple(result.origin, scalar_form{start}, along) : std::nullopt;
        if (!origin) return {};
        result.origin = *origin;
    }
    return result;
}

form index_forms::joined(graph_node const& n) {
    linear_form const* const first = of(n.inputs[0]);
    if (first == nullptr || n.inputs.size() > 64) return {};
    auto const axis = axis_at(int_attribute(n, "axis", 0), first->steps.size());
    if (!axis) return {};
    std::optional<std::int64_t> step; // along the axis; parts of size 1 do not say it
    scalar_form offset;               // where the part starts
    bool is_known = true;
    for (std::size_t i = 0; i != n.inputs.size(); ++i) {
        linear_form const* const f = of(n.inputs[i]);
        if (f == nullptr || f->steps.size() != first->steps.size() || f->origin.terms != first->origin.terms) return {};
        for (std::size_t k = 0; k != f->steps.size(); ++k)
            if (k != *axis && f->steps[k] != first->steps[k]) return {};
        std::optional<scalar_form> const& size = f->sizes[*axis];
        std::int64_t const difference = f->origin.constant - first->origin.constant;
        if (!step && size != one()) step = f->steps[*axis];
        if (!step && is_known && offset == one()) step = difference;
        if (size != one() && f->steps[*axis] != *step) return {};
        // Where a part starts must be known, unless all elements along the axis are equal.
        if (i != 0 && (step != 0 || difference != 0)) {
            if (!is_known || !offset.is_number() || difference != step.value_or(0) * offset.constant) return {};
        }
        auto const end = is_known && size ? add_multiple(offset, *size, 1) : std::nullopt;
        is_known = end.has_value();
        if (end) offset = *end;
    }
    linear_form result = *first;
    result.steps[*axis] = step.value_or(0);
    result.sizes[*axis].reset();
    if (is_known) result.sizes[*axis].emplace(std::move(offset));
    return result;
}

/// Sums of one number count in steps of it.
form index_forms::accumulated(graph_node const& n) {
    std::optional<std::int64_t> const each = number(n.inputs[0]);
    std::optional<std::int64_t> const at = number(input(n, 1));
    if (!each || !at || !is_coefficient(*each)) return {};
    linear_form result = uniform_form({}, sizes_of(n.inputs[0]));
    auto const axis = axis_at(*at, result.steps.size());
    if (!axis || (*each != 0 && int_attribute(n, "reverse", 0) != 0)) return {};
    result.origin.constant = int_attribute(n, "exclusive", 0) != 0 ? 0 : *each;
    result.steps[*axis] = *each;
    return result;
}

index_components index_forms::components(graph_node const& n) {
    value_id const indices = input(n, 1);
    linear_form const* const whole = of(indices);
    if (n.op != "GatherND") return {whole == nullptr ? form() : form(*whole)};
    shape const& s = r_.shape_of(indices);
    if (!s.has_rank() || s.rank() == 0 || int_attribute(n, "batch_dims", 0) != 0) return {};
    std::size_t const last = s.rank() - 1;
    auto const without_last = [&](linear_form const* f) -> form {
        if (f == nullptr) return {};
        linear_form out = *f;
        out.steps.pop_back();
        out.sizes.pop_back();
        return out;
    };
    if (s[last].is(1)) return {without_last(whole)};
    graph_node const* const parts = r_.producer(indices, "Concat");
    if (parts == nullptr || axis_at(int_attribute(*parts, "axis", 0), s.rank()) != last) return {};
    index_components out;
    for (value_id id : parts->inputs) {
        if (!r_.shape_of(id)[last].is(1)) return {};
        out.push_back(without_last(of(id)));
    }
    return out;
}

/// A selection from a linear function at linear indices. An index out of range, which a runtime refuses, has no form.
form index_forms::gathered(graph_node const& n) {
    linear_form const* const data = of(n.inputs[0]);
    index_components const parts = data == nullptr ? index_components() : components(n);
    bool const is_nd = n.op == "GatherND";
    auto const axis =
        data == nullptr ? std::nullopt : axis_at(is_nd ? 0 : int_attribute(n, "axis", 0), data->steps.size());
    if (!axis || parts.empty() || *axis + parts.size() > data->steps.size()) return {};
    linear_form result = uniform_form(data->origin, {});
    auto const take = [&](std::size_t i) {
        result.steps.push_back(data->steps[i]);
        result.sizes.push_back(data->sizes[i]);
    };
    for (std::size_t i = 0; i != *axis; ++i) take(i);
    for (form const& part : parts) // the coordinates of the indices, which all parts share
        if (!part) return {};
    result.steps.resize(*axis + parts[0]->steps.size(), 0);
    result.sizes.insert(result.sizes.end(), parts[0]->sizes.begin(), parts[0]->sizes.end());
    for (std::size_t i = *axis + parts.size(); i != data->steps.size(); ++i) take(i);
    for (std::size_t k = 0; k != parts.size(); ++k) {
        linear_form const& part = *parts[k];
        std::optional<scalar_form> const& size = data->sizes[*axis + k];
        std::optional<std::int64_t> const low = minimum(part);
        form const beyond = size ? add_multiple(part, uniform_form(*size, part.sizes), -1) : form();
        std::optional<std::int64_t> const high = beyond ? maximum(*beyond) : std::nullopt;
        if (!low || *low < 0 || !high || *high >= 0 || part.steps.size() != parts[0]->steps.size()) return {};
        linear_form wide = uniform_form(part.origin, result.sizes);
        for (std::size_t i = 0; i != part.steps.size(); ++i) wide.steps[*axis + i] = part.steps[i];
        form const next = add_multiple(result, wide, data->steps[*axis + k]);
        if (!next) return {};
        result = *next;
    }
    return result;
}

} // namespace ATON_NAMESPACE::passes

// SPDX-License-Identifier: MIT
// ONNX operators: sequences and optionals.
#include "call.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

using sequence = std::vector<tensor>;

/// Requires all tensors of a sequence to have the same dtype.
void require_same_type(sequence const& all) {
    for (tensor const& t : all)
        if (t.dtype() != all.front().dtype())
            throw error("a sequence cannot hold both " + std::string(name(all.front().dtype())) + " and " +
                        std::string(name(t.dtype())));
}

/// A position in a sequence from an input, between 0 and `max_position`.
std::ptrdiff_t place(call const& c, std::size_t input, std::int64_t count, std::int64_t max_position) {
    auto const at = c.number(input).to<std::int64_t>();
    if (at < -count || at > max_position)
        throw error("position " + std::to_string(at) + " is out of range for a sequence of length " +
                    std::to_string(count));
    return at < 0 ? at + count : at;
}

results construct(call const& c) {
    sequence out = c.tensors();
    require_same_type(out);
    return value(std::move(out));
}

results empty(call const&) { return value(sequence()); }

results at(call const& c) {
    sequence const& all = c.sequence(0);
    auto const count = static_cast<std::int64_t>(all.size());
    return all[static_cast<std::size_t>(place(c, 1, count, count - 1))];
}

results erase(call const& c) {
    sequence out = c.sequence(0);
    auto const count = static_cast<std::int64_t>(out.size());
    if (count == 0) throw error("the sequence is empty");
    out.erase(out.begin() + (c.has(1) ? place(c, 1, count, count - 1) : count - 1));
    return value(std::move(out));
}

results insert(call const& c) {
    sequence out = c.sequence(0);
    auto const count = static_cast<std::int64_t>(out.size());
    out.insert(out.begin() + (c.has(2) ? place(c, 2, count, count) : count), c.in(1));
    require_same_type(out);
    return value(std::move(out));
}

results length(call const& c) {
    return full(static_cast<std::int64_t>(c.sequence(0).size()), dtype::int64, {}, c.where());
}

results map(call const& c) {
    graph_data const& body = c.graph("body");
    std::size_t const count = c.sequence(0).size();
    std::vector<sequence> out(body.outputs.size());
    for (std::size_t i = 0; i != count; ++i) {
        std::vector<value> inputs;
        for (std::size_t k = 0; k != c.inputs(); ++k) {
            if (!c.any(k).is_sequence()) {
                inputs.push_back(c.any(k));
                continue;
            }
            if (c.sequence(k).size() != count) throw error("the sequences must have the same length");
            inputs.emplace_back(c.sequence(k)[i]);
        }
        std::vector<value> const results = c.run(body, std::move(inputs));
        for (std::size_t k = 0; k != out.size(); ++k) {
            if (!results[k].is_tensor()) throw error("the body must return a tensor as output " + std::to_string(k));
            out[k].push_back(results[k].one());
        }
    }
    std::vector<value> all;
    for (sequence& s : out) all.emplace_back(std::move(s));
    return all;
}

/// The sizes of the parts into which an axis of this size is split.
std::vector<std::int64_t> parts_of(call const& c, std::int64_t size) {
    constexpr std::int64_t limit = 1 << 24; // bounds views, which may have any size
    if (c.has(1) && c.in(1).rank() == 1) return c.integers(1);
    std::int64_t const each = c.has(1) ? c.number(1).to<std::int64_t>() : 1;
    if (each <= 0) throw error("the size of the parts is " + std::to_string(each));
    if (size / each > limit) throw error("a sequence of " + std::to_string(size / each) + " tensors is too long");
    std::vector<std::int64_t> out;
    for (; size > 0; size -= each) out.push_back(std::min(each, size));
    return out;
}

results split_to_sequence(call const& c) {
    tensor const& x = c.in(0);
    std::size_t const axis = axis_in(x, c.i("axis", 0));
    bool const keep = c.has(1) || c.i("keepdims", 1) != 0;
    sequence out;
    std::int64_t start = 0;
    std::vector<std::int64_t> const parts = parts_of(c, x.size(axis));
    for (std::int64_t part : parts) {
        if (part < 0 || part > x.size(axis) - start)
            throw error("the parts do not add up to the axis of " + to_string(x.sizes()));
        tensor const one = x.sliced(axis, start, part);
        out.push_back(keep ? one : one.squeezed(axis));
        start += part;
    }
    if (start != x.size(axis)) throw error("the parts do not add up to the axis of " + to_string(x.sizes()));
    return value(std::move(out));
}

results concat_from_sequence(call const& c) {
    sequence const& all = c.sequence(0);
    std::int64_t const new_axis = c.i("new_axis", 0);
    if (new_axis != 0 && new_axis != 1) throw error("'new_axis' must be 0 or 1");
    return new_axis == 1 ? stack(all, c.i("axis")) : concat(all, c.i("axis"));
}

results has_element(call const& c) { return full(static_cast<bool>(c.any(0)), dtype::bool_, {}, c.where()); }

results get_element(call const& c) {
    if (!c.any(0)) throw error("the optional is empty");
    return c.any(0);
}

results optional(call const& c) { return c.any(0); }

} // namespace

rows sequences() {
    static constexpr row all[] = {
        {"ConcatFromSequence", concat_from_sequence},
        {"Optional", optional},
        {"OptionalGetElement", get_element},
        {"OptionalHasElement", has_element},
        {"SequenceAt", at},
        {"SequenceConstruct", construct},
        {"SequenceEmpty", empty},
        {"SequenceErase", erase},
        {"SequenceInsert", insert},
        {"SequenceLength", length},
        {"SequenceMap", map},
        {"SplitToSequence", split_to_sequence},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels

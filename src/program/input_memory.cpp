// SPDX-License-Identifier: MIT
#include "input_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <aton/core/error.hpp>

#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

/// The bytes from the first to the last element of an input's data.
struct byte_range {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0; ///< exclusive
    std::size_t input = 0;
};

std::vector<byte_range> ranges_of(program const& p) {
    std::vector<byte_range> out;
    for (std::size_t i = 0; i != p.inputs.size(); ++i) {
        stored_tensor const& data = p.inputs[i].data;
        if (p.inputs[i].value == no_value || data.parts.size() != 1 || data.element_count() == 0) continue;
        stored_part const& part = data.parts.front();
        if (part.bytes.data == nullptr || part.strides.size() != part.sizes.size()) continue;
        std::uintptr_t const size = bits(part.type_in_file(data.type)) / 8;
        std::int64_t last = part.offset;
        for (std::size_t d = 0; d != part.sizes.size(); ++d) last += (part.sizes[d] - 1) * part.strides[d];
        auto const start = reinterpret_cast<std::uintptr_t>(part.bytes.data);
        out.push_back({start + static_cast<std::uintptr_t>(part.offset) * size,
                       start + (static_cast<std::uintptr_t>(last) + 1) * size,
                       i});
    }
    std::sort(out.begin(), out.end(), [](byte_range const& a, byte_range const& b) {
        return std::tie(a.first, a.last, a.input) < std::tie(b.first, b.last, b.input);
    });
    return out;
}

bool is_same_data(stored_tensor const& a, stored_tensor const& b) {
    stored_part const& x = a.parts.front();
    stored_part const& y = b.parts.front();
    return a.type == b.type && x.bytes.data == y.bytes.data && x.offset == y.offset && x.sizes == y.sizes &&
           x.strides == y.strides && x.stored_as == y.stored_as;
}

bool is_mutation_of(output const& o, std::string_view target) {
    bool const mutation = o.kind == output_kind::buffer_mutation || o.kind == output_kind::input_mutation ||
                          o.kind == output_kind::parameter_mutation;
    return mutation && o.target == target;
}

} // namespace

input_memory add_inputs(program const& p, alias_state& state) {
    input_memory out;
    for (value_index each : p.main.inputs)
        if (each != no_value) state.add_tensor(each);
    std::vector<byte_range> const ranges = ranges_of(p);
    for (std::size_t i = 0; i != ranges.size();) { // one iteration per group of overlapping ranges
        std::uintptr_t end = ranges[i].last;
        std::size_t const first = i;
        input const& head = p.inputs[ranges[first].input];
        for (++i; i != ranges.size() && ranges[i].first < end; ++i) {
            input const& each = p.inputs[ranges[i].input];
            end = std::max(end, ranges[i].last);
            if (is_same_data(head.data, each.data)) {
                state.add_same(each.value, head.value);
            } else {
                out.overlaps.emplace_back(each.value, head.value);
                out.overlaps.emplace_back(head.value, each.value);
            }
        }
    }
    return out;
}

void check_memory(program const& p, input_memory const& memory, alias_state const& state, value_index written,
                  node const& cause) {
    for (auto const& [one, other] : memory.overlaps)
        if (state.share_memory(one, written))
            throw error(describe(p, cause) + ": writes to " + p.values[one].name + ", which shares memory with " +
                        p.values[other].name + "; copy one of them");
}

void add_mutations(program const& p, alias_state& state, std::vector<argument>& outputs, std::vector<output>& kinds) {
    for (input const& each : p.inputs) {
        if (each.value == no_value || !state.is_known(each.value)) continue;
        alias_state::final_value const last = state.finish(each.value);
        if (!last.is_written) continue;
        output made;
        made.target = each.target;
        switch (each.kind) {
        case input_kind::user: made.kind = output_kind::input_mutation; break;
        case input_kind::buffer:
        case input_kind::constant:
            made.kind = output_kind::buffer_mutation;
            break; // a tensor attribute that is not a buffer
        case input_kind::parameter: made.kind = output_kind::parameter_mutation; break;
        default: throw error(p.file + ": " + each.target + " is written to, which is not a tensor");
        }
        bool const is_said = std::any_of(
            p.outputs.begin(), p.outputs.end(), [&](output const& o) { return is_mutation_of(o, each.target); });
        if (is_said) continue;
        kinds.push_back(std::move(made));
        outputs.push_back(tensor_argument({}, last.value));
    }
}

} // namespace ATON_NAMESPACE::program

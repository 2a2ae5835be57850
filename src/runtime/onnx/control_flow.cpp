// SPDX-License-Identifier: MIT
// ONNX control flow operators: If, Loop and Scan.
#include "call.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

using tensors = std::vector<tensor>;

void require_outputs(graph_data const& body, std::size_t min_count) {
    if (body.outputs.size() < min_count)
        throw error("the body has " + std::to_string(body.outputs.size()) + " outputs, at least " +
                    std::to_string(min_count) + " are expected");
}

bool truth(tensor const& condition) {
    if (condition.dtype() != dtype::bool_) throw error("a condition must be bool");
    return to_host(condition).item().to<bool>();
}

tensor tensor_of(value const& v, std::string const& what) {
    if (!v.is_tensor()) throw error("the body must return a tensor as " + what);
    return v.one();
}

/// The outputs of a body at each iteration, stacked along a new axis. With zero iterations, the type that the graph
/// declares, if any.
class scan_output {
public:
    scan_output(graph_data const& body, std::size_t output)
        : type_(&body.values[body.outputs[output]].type),
          number_(output) {}

    void add(value const& v) {
        tensor t = tensor_of(v, "output " + std::to_string(number_));
        if (!all_.empty() && (t.sizes() != all_.front().sizes() || t.dtype() != all_.front().dtype()))
            throw error("output " + std::to_string(number_) + " of the body is " + to_string(all_.front().sizes()) +
                        " in one iteration and " + to_string(t.sizes()) + " in another");
        all_.push_back(std::move(t));
    }

    /// Throws aton::error if that many tensors do not fit into memory.
    void check_fits_in_memory(std::int64_t trips) const {
        sizes all = all_.front().sizes();
        all.insert(all.begin(), trips);
        (void)all_.front().expanded(all);
    }

    [[nodiscard]] tensor joined(std::int64_t axis, bool backwards, device where) const {
        if (all_.empty()) return empty(axis, where);
        if (!backwards) return stack(all_, axis);
        return stack(tensors(all_.rbegin(), all_.rend()), axis);
    }

private:
    [[nodiscard]] tensor empty(std::int64_t axis, device where) const {
        if (type_->dtype == dtype::undefined)
            throw error("there are zero iterations and output " + std::to_string(number_) + " of the body has no type");
        sizes to; // sizes that the graph does not declare are 0
        for (dim const& d : type_->shape.dims()) to.push_back(d.is_static() ? d.size() : 0);
        to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis_at(axis, to.size() + 1)), 0);
        return full(0, type_->dtype, to, where);
    }

    value_type const* type_;
    std::size_t number_;
    tensors all_;
};

results branch(call const& c) {
    graph_data const& body = c.graph(truth(c.in(0)) ? "then_branch" : "else_branch");
    require_outputs(body, c.outputs());
    return c.run(body, {});
}

results loop(call const& c) {
    graph_data const& body = c.graph("body");
    std::optional<std::int64_t> max_trips;
    if (c.has(0)) max_trips = c.number(0).to<std::int64_t>();
    bool const is_asked = c.has(1);
    bool go_on = !is_asked || truth(c.in(1));
    std::vector<value> carried;
    for (std::size_t i = 2; i < c.inputs(); ++i) carried.push_back(c.any(i));
    std::size_t const states = carried.size();
    require_outputs(body, std::max(states + 1, c.outputs() + 1));
    std::vector<scan_output> scans;
    for (std::size_t i = states + 1; i < body.outputs.size(); ++i) scans.emplace_back(body, i);
    for (std::int64_t i = 0; go_on && (!max_trips || i < *max_trips); ++i) {
        std::vector<value> inputs = {full(i, dtype::int64, {}, c.where()), full(true, dtype::bool_, {}, c.where())};
        std::move(carried.begin(), carried.end(), std::back_inserter(inputs));
        std::vector<value> out = c.run(body, std::move(inputs));
        if (is_asked) go_on = truth(tensor_of(out[0], "condition"));
        carried.assign(std::make_move_iterator(out.begin() + 1),
                       std::make_move_iterator(out.begin() + 1 + static_cast<std::ptrdiff_t>(states)));
        for (std::size_t k = 0; k != scans.size(); ++k) scans[k].add(out[states + 1 + k]);
        if (i == 0 && max_trips && !is_asked)
            for (scan_output const& s : scans) s.check_fits_in_memory(*max_trips);
    }
    for (scan_output const& s : scans) carried.emplace_back(s.joined(0, false, c.where()));
    return carried;
}

/// An attribute with one number per scan input or output; 0 by default.
std::int64_t number_of(std::vector<std::int64_t> const& all, std::size_t i) { return i < all.size() ? all[i] : 0; }

void require_count(std::vector<std::int64_t> const& all, std::size_t count, char const* name) {
    if (!all.empty() && all.size() != count)
        throw error(std::string("'") + name + "' has " + std::to_string(all.size()) + " elements, not " +
                    std::to_string(count));
}

/// A Scan without a batch: its iteration over inputs, and how outputs of the body are stacked.
struct scan_plan {
    graph_data const* body = nullptr;
    std::size_t states = 0;
    std::size_t scanned = 0;
    std::vector<std::int64_t> input_axes;
    std::vector<std::int64_t> input_directions;
    std::vector<std::int64_t> output_axes;
    std::vector<std::int64_t> output_directions;

    [[nodiscard]] std::size_t outputs() const { return body->outputs.size() - states; }
};

scan_plan plan_of(call const& c, std::size_t inputs) {
    scan_plan p;
    p.body = &c.graph("body");
    std::int64_t const scanned = c.i("num_scan_inputs");
    if (scanned < 1 || scanned > static_cast<std::int64_t>(inputs))
        throw error("'num_scan_inputs' is " + std::to_string(scanned) + " of " + std::to_string(inputs) + " inputs");
    p.scanned = static_cast<std::size_t>(scanned);
    p.states = inputs - p.scanned;
    require_outputs(*p.body, std::max(p.states, c.outputs()));
    if (c.opset() < 9) {
        p.input_directions = c.ints("directions");
    } else {
        p.input_axes = c.ints("scan_input_axes");
        p.input_directions = c.ints("scan_input_directions");
        p.output_axes = c.ints("scan_output_axes");
        p.output_directions = c.ints("scan_output_directions");
    }
    require_count(p.input_axes, p.scanned, "scan_input_axes");
    require_count(p.input_directions, p.scanned, "scan_input_directions");
    require_count(p.output_axes, p.outputs(), "scan_output_axes");
    require_count(p.output_directions, p.outputs(), "scan_output_directions");
    return p;
}

/// The length of the scanned axes.
std::int64_t length_of(scan_plan const& p, std::span<value const> inputs) {
    std::int64_t length = -1;
    for (std::size_t k = 0; k != p.scanned; ++k) {
        value const& v = inputs[p.states + k];
        if (!v.is_tensor()) throw error("a scanned input is not a tensor");
        std::int64_t const size = v.one().size(axis_in(v.one(), number_of(p.input_axes, k)));
        if (length >= 0 && size != length)
            throw error("sequences of lengths " + std::to_string(length) + " and " + std::to_string(size) +
                        " cannot be scanned together");
        length = size;
    }
    return length;
}

std::vector<value> scanned(call const& c, scan_plan const& p, std::span<value const> inputs, std::int64_t length) {
    std::vector<value> carried(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(p.states));
    std::vector<scan_output> joined;
    for (std::size_t k = 0; k != p.outputs(); ++k) joined.emplace_back(*p.body, p.states + k);
    for (std::int64_t t = 0; t != length; ++t) {
        std::vector<value> with = std::move(carried);
        for (std::size_t k = 0; k != p.scanned; ++k) {
            tensor const& x = inputs[p.states + k].one();
            std::size_t const axis = axis_in(x, number_of(p.input_axes, k));
            bool const backwards = number_of(p.input_directions, k) != 0;
            with.emplace_back(x.sliced(axis, backwards ? length - 1 - t : t, 1).squeezed(axis));
        }
        std::vector<value> out = c.run(*p.body, std::move(with));
        for (std::size_t k = 0; k != p.outputs(); ++k) joined[k].add(out[p.states + k]);
        out.resize(p.states);
        carried = std::move(out);
    }
    for (std::size_t k = 0; k != p.outputs(); ++k)
        carried.emplace_back(
            joined[k].joined(number_of(p.output_axes, k), number_of(p.output_directions, k) != 0, c.where()));
    return carried;
}

/// Version 8: each input has a leading batch axis, whose sequences may have different lengths; elements after their end
/// are 0.
results batched_scan(call const& c) {
    std::size_t const given = c.inputs() - std::min<std::size_t>(1, c.inputs());
    scan_plan const p = plan_of(c, given);
    auto const batch_of = [&](std::size_t i) {
        tensor const& x = c.in(i + 1);
        return x.size(axis_in(x, 0));
    };
    std::int64_t const batch = batch_of(p.states);
    std::vector<std::int64_t> lengths;
    if (c.has(0)) lengths = c.integers(0);
    if (c.has(0) && static_cast<std::int64_t>(lengths.size()) != batch)
        throw error("a length for each sequence of the batch is expected");
    if (batch == 0) throw error("the batch is empty");
    std::vector<tensors> all(c.outputs());
    for (std::int64_t b = 0; b != batch; ++b) {
        std::vector<value> inputs;
        for (std::size_t i = 0; i != given; ++i) {
            if (batch_of(i) != batch) throw error("the batches of the inputs differ");
            inputs.emplace_back(c.in(i + 1).sliced(0, b, 1).squeezed(0));
        }
        std::int64_t const longest = length_of(p, inputs);
        std::int64_t const length = lengths.empty() ? longest : lengths[static_cast<std::size_t>(b)];
        if (length < 0 || length > longest) throw error("a sequence has length " + std::to_string(length));
        for (std::size_t k = p.states; k != given; ++k) inputs[k] = inputs[k].one().sliced(0, 0, length);
        std::vector<value> const out = scanned(c, p, inputs, length);
        for (std::size_t k = 0; k != all.size(); ++k) {
            tensor t = tensor_of(out[k], "output " + std::to_string(k));
            sizes more(t.rank(), 0);
            if (k >= p.states) more[0] = longest - length;
            all[k].push_back(pad(t, sizes(t.rank(), 0), more, scalar(0)));
        }
    }
    std::vector<value> out;
    for (tensors const& t : all) out.emplace_back(stack(t, 0));
    return out;
}

results scan_inputs(call const& c) {
    if (c.opset() < 9) return batched_scan(c);
    scan_plan const p = plan_of(c, c.inputs());
    std::vector<value> inputs;
    for (std::size_t i = 0; i != c.inputs(); ++i) inputs.push_back(c.any(i));
    return scanned(c, p, inputs, length_of(p, inputs));
}

} // namespace

rows control_flow() {
    static constexpr row all[] = {
        {"If", branch},
        {"Loop", loop},
        {"Scan", scan_inputs},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels

// SPDX-License-Identifier: MIT
// Keeps ONNX Runtime's Attention from giving zeros where a mask adds the lowest number of its dtype to every score of a row: by ONNX, and
// in ATen, such a row gives the mean of the values. Only -infinity hides it.
#include "rewriter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

constexpr std::int64_t max_raised = std::int64_t{1} << 20;

/// The lowest finite number of a dtype, and the one above it.
struct lowest_numbers {
    double lowest = 0;
    double next = 0;
};
std::optional<lowest_numbers> lowest_of(dtype type) {
    if (type == dtype::float32) return lowest_numbers{-0x1.fffffep127, -0x1.fffffcp127};
    if (type == dtype::float64) return lowest_numbers{-0x1.fffffffffffffp1023, -0x1.ffffffffffffep1023};
    if (type == dtype::float16) return lowest_numbers{-65504.0, -65472.0};
    if (type == dtype::bfloat16) return lowest_numbers{-0x1.fep127, -0x1.fcp127};
    return {};
}

/// Masks whose lowest numbers become the next ones, which hide as well where a row has another number.
class raising {
public:
    raising(rewriter& r, graph_node const& attention) : r_(r), attention_(attention) {}

    /// The mask itself if no row of it can be one of lowest numbers.
    value_id operator()(value_id mask) {
        std::optional<lowest_numbers> const numbers = lowest_of(r_.type(mask).dtype);
        if (!numbers) return mask;
        type_ = r_.type(mask).dtype;
        numbers_ = *numbers;
        if (is_raised(mask)) return mask;
        if (tensor const* const t = r_.constant(mask); t != nullptr && t->element_count() <= max_raised)
            return has_lowest(*t) ? r_.add_constant(raised(*t)) : mask;
        if (graph_node const* const choice = r_.producer(mask, "Where")) {
            graph_node made = *choice;
            if (std::optional<bool> const changed = raise_branches(made))
                return *changed ? add(std::move(made), mask) : mask;
        }
        value_id const low = r_.add_constant(number(numbers_.lowest));
        graph_node equal = make_node("Equal", {mask, low}, attention_);
        value_id const is_low = r_.add_node(std::move(equal), {dtype::bool_, r_.shape_of(mask)});
        return add(make_node("Where", {is_low, r_.add_constant(number(numbers_.next)), mask}, attention_), mask);
    }

private:
    [[nodiscard]] tensor number(double n) const {
        tensor t{type_, {}, {}};
        t.append(n);
        return t;
    }
    [[nodiscard]] bool has_lowest(tensor const& t) const {
        for (std::int64_t i = 0; i != t.element_count(); ++i)
            if (t.at(static_cast<std::size_t>(i)).to<double>() == numbers_.lowest) return true;
        return false;
    }
    [[nodiscard]] tensor raised(tensor const& t) const {
        tensor out{t.type, t.sizes, {}};
        for (std::int64_t i = 0; i != t.element_count(); ++i) {
            double const e = t.at(static_cast<std::size_t>(i)).to<double>();
            out.append(e == numbers_.lowest ? numbers_.next : e);
        }
        return out;
    }
    /// What operator() has made: Where(Equal(x, lowest), next, x).
    [[nodiscard]] bool is_raised(value_id mask) const {
        graph_node const* const choice = r_.producer(mask, "Where");
        if (choice == nullptr) return false;
        graph_node const* const test = r_.producer(choice->inputs[0], "Equal");
        tensor const* const low = test == nullptr ? nullptr : r_.constant(test->inputs[1]);
        return low != nullptr && low->element_count() == 1 && low->type == type_ && has_lowest(*low) &&
               test->inputs[0] == choice->inputs[2] && r_.constant(choice->inputs[1]) != nullptr;
    }
    /// Raises the branches of a Where: whether that changes any; nothing if one is not known. Rows that show a number need no change.
    std::optional<bool> raise_branches(graph_node& choice) {
        bool has_low[2] = {};
        for (std::size_t i = 0; i != 2; ++i) {
            tensor const* const t = r_.constant(choice.inputs[i + 1]);
            if (t == nullptr || t->element_count() > max_raised) return {};
            has_low[i] = has_lowest(*t);
        }
        if (!has_low[0] && (!has_low[1] || shows_in_every_line(r_, choice.inputs[0]))) return false;
        for (std::size_t i = 0; i != 2; ++i)
            if (has_low[i]) choice.inputs[i + 1] = r_.add_constant(raised(*r_.constant(choice.inputs[i + 1])));
        return true;
    }
    value_id add(graph_node n, value_id like) {
        n.outputs.clear();
        return r_.add_node(std::move(n), r_.type(like));
    }

    rewriter& r_;
    graph_node const& attention_;
    dtype type_ = dtype::undefined;
    lowest_numbers numbers_;
};

} // namespace

bool raise_attention_mask(rewriter& r, graph_node& n) {
    value_id const mask = input(n, 3);
    if (mask == no_value || !r.options().avoid_runtime_faults) return false;
    if (value_id const by = raising(r, n)(mask); by != mask) r.set_input(n, 3, by);
    return false;
}

} // namespace ATON_NAMESPACE::passes

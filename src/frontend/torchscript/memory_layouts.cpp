// SPDX-License-Identifier: MIT
// Operators that depend on how a tensor lies in memory, for tensors that are known to be contiguous: inputs, what factories and products
// make, and elementwise results of such tensors.
#include "memory_layouts.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

/// Their results are contiguous, whatever their operands are.
constexpr std::string_view factories[] = {"contiguous",
                                          "zeros",
                                          "ones",
                                          "full",
                                          "empty",
                                          "arange",
                                          "linspace",
                                          "eye",
                                          "rand",
                                          "randn",
                                          "scalar_tensor",
                                          "stack",
                                          "mm",
                                          "bmm",
                                          "new_zeros",
                                          "new_ones",
                                          "new_full",
                                          "new_empty"};

/// Their results are contiguous if all operands are, and one of them has the sizes of the result; or they are views of all elements in order.
constexpr std::string_view keeping[] = {
    "add",       "sub",       "mul",        "div",  "neg",     "abs",     "exp",       "log",    "sqrt",
    "relu",      "sigmoid",   "tanh",       "pow",  "clone",   "detach",  "to",        "alias",  "zeros_like",
    "ones_like", "full_like", "empty_like", "view", "reshape", "flatten", "unsqueeze", "squeeze"};

constexpr std::string_view views[] = {"view", "reshape", "flatten", "unsqueeze", "squeeze"};

template <class Names>
bool has(Names const& names, std::string_view op) {
    std::string_view name = op.substr(std::min(op.find("::") + 2, op.size()));
    name = name.substr(0, name.find('.'));
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_contiguous(stored_tensor const& t) {
    if (t.parts.size() != 1) return false;
    std::int64_t expected = 1;
    for (std::size_t i = t.sizes.size(); i-- != 0; expected *= t.sizes[i])
        if (t.sizes[i] != 1 && t.parts[0].strides[i] != expected) return false;
    return t.parts[0].offset == 0;
}

} // namespace

/// Whether a tensor is known to be contiguous, from the start of its memory.
bool memory_layouts::is_known_contiguous(program::value_index v, int depth) const {
    if (depth > 50) return false;
    for (program::input const& each : build_.made().inputs)
        if (each.value == v) return each.kind == program::input_kind::user || is_contiguous(each.data);
    for (program::node const& n : build_.nodes()) {
        bool const makes_it = std::any_of(n.results.begin(), n.results.end(), [&](program::result const& r) {
            return std::find(r.values.begin(), r.values.end(), v) != r.values.end();
        });
        if (!makes_it) continue;
        if (has(factories, n.op)) return true;
        if (!has(keeping, n.op)) return false;
        bool any_whole = has(views, n.op);
        for (program::argument const& a : n.arguments) {
            if (a.kind != program::argument_kind::tensor || a.tensor == program::no_value) continue;
            if (!is_known_contiguous(a.tensor, depth + 1)) return false;
            any_whole = any_whole || types_.type_of(a.tensor).sizes == types_.type_of(v).sizes;
        }
        return any_whole;
    }
    return false;
}

/// The strides of a contiguous tensor.
value memory_layouts::contiguous_strides(program::value_index v) {
    std::size_t const rank = types_.type_of(v).sizes.size();
    std::vector<value> out(rank);
    value stride = value::of(std::int64_t{1});
    for (std::size_t i = rank; i-- != 0;) {
        out[i] = stride;
        stride = values_.arithmetic(
            "_operator.mul",
            {stride, values_.arithmetic("torch.sym_max", {values_.size_value(v, i), value::of(std::int64_t{1})})});
    }
    return heap_.list(std::move(out));
}

/// x.fill_diagonal_(number): writes to the diagonal of a matrix, or of a cube.
value memory_layouts::fill_diagonal(value const& x, value const& number, bool wraps) {
    inferred_type const type = types_.type_of(values_.tensor_of(x));
    std::size_t const rank = type.sizes.size();
    if (!type.has_rank || rank < 2) at_.fail("calls fill_diagonal_() of a tensor with less than 2 dimensions");
    auto const number_at = [&](std::size_t i) {
        return type.sizes[i] && type.sizes[i]->is_number() ? type.sizes[i]->number : -1;
    };
    if (rank == 2 && wraps && (number_at(0) < 0 || number_at(1) < 0 || number_at(0) > number_at(1) + 1))
        at_.fail(
            "calls fill_diagonal_() with wrap=True of a matrix that has, or may have, more rows than columns, which "
            "is not supported");
    for (std::size_t i = 1; i != rank && rank > 2; ++i)
        if (number_at(0) < 0 || number_at(i) != number_at(0))
            at_.fail(
                "calls fill_diagonal_() of a tensor of more than 2 dimensions whose sizes are not the same number");
    value diagonal = x;
    auto const at = [](std::int64_t i) { return value::of(i); };
    for (std::size_t left = rank; left > 1; --left) // the diagonal is the last dimension
        diagonal = caller_.call_operator("aten::diagonal", {{diagonal, at(0), at(0), at(left == rank ? 1 : -1)}, {}});
    (void)caller_.call_operator("aten::fill_", {{diagonal, number}, {}});
    return x;
}

std::optional<value> memory_layouts::call(std::string_view name, call_arguments const& given) {
    std::vector<value> const& x = given.positional;
    if (x.empty() || (x[0].is() != kind::tensor && x[0].is() != kind::weight)) return {};
    if (name == "fill_diagonal_" && x.size() >= 2) return fill_diagonal(x[0], x[1], x.size() > 2 && x[2].is_true());
    constexpr std::string_view questions[] = {
        "is_contiguous", "stride", "storage_offset", "is_non_overlapping_and_dense"};
    bool const asks = std::find(std::begin(questions), std::end(questions), name) != std::end(questions);
    if (!asks && name != "as_strided") return {};
    program::value_index const v = values_.tensor_of(x[0]);
    bool const is_known = types_.type_of(v).has_rank && is_known_contiguous(v, 0);
    if (!is_known)
        at_.fail((asks ? "asks for the memory layout of a tensor (" : "depends on the memory layout of a tensor (") +
                 std::string(name) + "), which archives do not record; call contiguous() first");
    if (name == "as_strided") return {};
    if (name == "storage_offset") return value::of(std::int64_t{0});
    if (name != "stride") return value::of(true);
    value const strides = contiguous_strides(v);
    return x.size() == 2 ? containers_.item_of(strides, x[1]) : strides;
}

} // namespace ATON_NAMESPACE::torchscript

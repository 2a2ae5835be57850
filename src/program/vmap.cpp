// SPDX-License-Identifier: MIT
#include "vmap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>
#include <aton/program/subgraphs.hpp>

#include "batch_dimensions.hpp"
#include "node_arguments.hpp"
#include "vmap_rules.hpp"

namespace ATON_NAMESPACE::program {

namespace {

using namespace vmap_rules;

constexpr std::string_view functorch = "torch._functorch.predispatch.";

bool is_vmap(node const& n) { return n.op.starts_with(functorch); }

class expander : batch_dimensions {
public:
    explicit expander(program& p) : batch_dimensions(p) {}

    void run(graph& g) {
        std::vector<node> old = std::move(g.nodes);
        out_.nodes().clear();
        for (node& each : old) add(std::move(each));
        g.nodes = std::move(out_.nodes());
        out_.nodes() = {};
    }

private:
    void add(node n) {
        if (n.op == std::string(functorch) + "_add_batch_dim") return hide(n);
        if (n.op == std::string(functorch) + "_remove_batch_dim") return show(n);
        if (is_vmap(n)) return;
        levels all;
        for (argument const& each : n.arguments)
            for (value_ref const& v : tensors_of(each))
                if (v) all = joined(all, batch_levels(v));
        if (all.empty() || n.op == "aten::_assert_tensor_metadata") {
            if (all.empty()) out_.append(std::move(n));
            return;
        }
        if (contains(made, base_name(n.op))) return out_.append(std::move(n));
        for (argument const& each : n.arguments)
            if (each.kind == argument_kind::graph || !is_known(each)) refuse(n);
        if (contains(elementwise, base_name(n.op))) return add_elementwise(std::move(n), all);
        if (contains(products, base_name(n.op))) return add_product(n, all);
        if (n.op == "aten::index.Tensor") return add_index(std::move(n), all);
        if (contains(leading, base_name(n.op))) return add_leading(std::move(n), all);
        argument* const self = find_argument(n, "self");
        if (self == nullptr || self->kind != argument_kind::tensor || batch_levels(self->tensor) != all ||
            rank(self->tensor) == 0)
            refuse(n);
        if (n.op == "aten::t" || n.op == "aten::numpy_T") return add_reversal(n, all);
        for (auto const& [op, list] : listed)
            if (n.op == op) return add_listed(std::move(n), list, all);
        for (auto const& [op, reduction] : whole_reductions)
            if (n.op == op) return add_reduction(std::move(n), reduction);
        auto const rule = std::find_if(
            std::begin(dimensional), std::end(dimensional), [&](with_dims const& r) { return r.op == n.op; });
        if (rule == std::end(dimensional)) refuse(n);
        add_dimensional(std::move(n), *rule, all);
    }

    [[noreturn]] void refuse(node const& n) const {
        throw error(describe(program_, n) + ": is not supported inside torch.vmap; call run_decompositions() before "
                                            "torch.export.save, which removes vmap");
    }

    void finish(node n, levels const& all) {
        for (value_index const v : result_values(n))
            if (v != no_value && program_.values[v].kind == value_kind::tensor) add_batch_levels(v, all);
        out_.append(std::move(n));
    }

    std::pair<value_index, value_index> operand_and_result(node const& n, std::size_t arguments) const {
        bool const fits = n.arguments.size() == arguments && n.arguments[0].kind == argument_kind::tensor &&
                          n.results.size() == 1 && n.results[0].values.size() == 1 &&
                          n.results[0].values[0] != no_value && is_known(n.arguments[0]);
        if (!fits) throw error(describe(program_, n) + ": does not have the arguments of torch.vmap");
        return {n.arguments[0].tensor, n.results[0].values[0]};
    }

    void move(node const& n, value_index x, std::int64_t from, std::int64_t to, value_index into) {
        static_cast<void>(
            out_.emit("aten::movedim.int",
                      n,
                      {tensor_argument("self", x), number_argument("source", from), number_argument("destination", to)},
                      into));
    }

    /// _add_batch_dim(x, dim, level)
    void hide(node const& n) {
        auto const [x, into] = operand_and_result(n, 3);
        levels all = batch_levels(x);
        auto const count = static_cast<std::int64_t>(all.size());
        std::int64_t dim = integer_of(n.arguments[1]).value_or(rank(x));
        std::int64_t const level = integer_of(n.arguments[2]).value_or(0);
        if (dim < 0) dim += rank(x);
        if (dim < 0 || dim >= rank(x) || (!all.empty() && all.back() >= level))
            throw error(describe(program_, n) + ": does not have the arguments of torch.vmap");
        sizes_[level] = program_.values[x].sizes[static_cast<std::size_t>(count + dim)];
        all.push_back(level);
        add_batch_levels(into, all);
        move(n, x, count + dim, count, into);
    }

    /// _remove_batch_dim(x, level, size, dim)
    void show(node const& n) {
        auto const [x, into] = operand_and_result(n, 4);
        levels all = batch_levels(x);
        std::int64_t dim = integer_of(n.arguments[3]).value_or(rank(x) + 1);
        if (dim < 0) dim += rank(x) + 1;
        if (dim < 0 || dim > rank(x))
            throw error(describe(program_, n) + ": does not have the arguments of torch.vmap");
        auto const at = std::find(all.begin(), all.end(), integer_of(n.arguments[1]).value_or(0));
        if (at != all.end()) {
            std::int64_t const from = at - all.begin();
            all.erase(at);
            add_batch_levels(into, all);
            return move(n, x, from, static_cast<std::int64_t>(all.size()) + dim, into);
        }
        // It does not depend on the dimension, along which it is repeated.
        if (n.arguments[2].kind != argument_kind::number) throw error(describe(program_, n) + ": does not have a size");
        std::int64_t const place = static_cast<std::int64_t>(all.size()) + dim;
        std::vector<number> sizes(program_.values[x].sizes.size() + 1, number(-1));
        sizes[static_cast<std::size_t>(place)] = n.arguments[2].number;
        value_index const wider = unsqueezed(x, place, all, n);
        add_batch_levels(into, all);
        static_cast<void>(
            out_.emit("aten::expand",
                      n,
                      {tensor_argument("self", wider), argument::of_numbers(std::move(sizes)).named("size")},
                      into));
    }

    void add_elementwise(node n, levels const& all) {
        std::int64_t dims = 0;
        for (argument const& each : n.arguments)
            for (value_ref const& v : tensors_of(each))
                if (v) dims = std::max(dims, rank(v));
        for (argument& each : n.arguments)
            for (value_ref& v : tensors_of(each))
                if (v) v = aligned(v, all, dims, n);
        finish(std::move(n), all);
    }

    /// Indices of the first dimensions broadcast, and the other dimensions of the tensor follow them.
    void add_index(node n, levels const& all) {
        argument const* const self = find_argument(n, "self");
        argument* const indices = find_argument(n, "indices");
        if (self == nullptr || self->kind != argument_kind::tensor || !batch_levels(self->tensor).empty() ||
            indices == nullptr)
            refuse(n);
        std::int64_t dims = 0;
        for (value_ref const& v : tensors_of(*indices)) {
            if (!v || program_.values[v].type == dtype::bool_) refuse(n);
            dims = std::max(dims, rank(v));
        }
        for (value_ref& v : tensors_of(*indices)) v = aligned(v, all, dims, n);
        finish(std::move(n), all);
    }

    /// A product of matrices or vectors, as one of matrices.
    void add_product(node const& n, levels const& all) {
        std::vector<value_index> factors;
        for (argument const& each : n.arguments)
            if (each.kind == argument_kind::tensor) factors.push_back(each.tensor);
        if (factors.size() != 2 || factors.size() != n.arguments.size() || n.results.size() != 1 ||
            n.results[0].values.size() != 1)
            refuse(n);
        value_index const into = n.results[0].values[0];
        // matmul takes a vector that is the same everywhere as it is.
        for (std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            value_index const other = factors[1 - i];
            if (rank(factors[i]) != 1 || !batch_levels(factors[i]).empty() || batch_levels(other) != all) continue;
            bool const first = i == 0 && rank(other) != 1;
            add_batch_levels(into, all);
            return static_cast<void>(out_.emit("aten::matmul",
                                               n,
                                               {tensor_argument("self", first ? factors[i] : other),
                                                tensor_argument("other", first ? other : factors[i])},
                                               into));
        }
        if (add_pairs(n, factors, all)) return;
        bool vector[2];
        for (std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            vector[i] = rank(factors[i]) == 1;
            levels const own = batch_levels(factors[i]);
            auto const count = static_cast<std::int64_t>(own.size());
            if (vector[i]) factors[i] = unsqueezed(factors[i], count + (i == 0 ? 0 : 1), own, n);
        }
        std::int64_t const dims = std::max(rank(factors[0]), rank(factors[1]));
        for (value_index& each : factors) each = aligned(each, all, dims, n);
        add_batch_levels(into, all);
        std::vector<argument> const both{tensor_argument("self", factors[0]), tensor_argument("other", factors[1])};
        if (!vector[0] && !vector[1]) return static_cast<void>(out_.emit("aten::matmul", n, both, into));
        // The sizes of 1 that stand for a vector go.
        std::vector<extent> sizes = program_.values[into].sizes;
        std::vector<std::int64_t> ones;
        extent const one{1, extent::none};
        if (vector[0]) sizes.insert(sizes.end() - (vector[1] ? 0 : 1), one), ones.push_back(-2);
        if (vector[1]) sizes.push_back(one), ones.push_back(-1);
        value_index const y = out_.emit("aten::matmul", n, both, fresh(into, sizes, all));
        out_.emit("aten::squeeze.dims", n, {tensor_argument("self", y), integers_argument("dim", ones)}, into);
    }

    /// The products of all pairs of vectors, each of which has a batch dimension of its own, as one product of matrices.
    bool add_pairs(node const& n, std::vector<value_index> factors, levels const& all) {
        for (value_index const each : factors)
            if (rank(each) != 1 || batch_levels(each).size() != 1) return false;
        if (all.size() != 2) return false;
        if (batch_levels(factors[0]) > batch_levels(factors[1])) std::swap(factors[0], factors[1]);
        std::vector<extent> sizes = program_.values[factors[1]].sizes;
        std::swap(sizes[0], sizes[1]);
        value_index const columns = out_.emit("aten::t",
                                              n,
                                              {tensor_argument("self", factors[1])},
                                              fresh(factors[1], std::move(sizes), batch_levels(factors[1])));
        value_index const into = n.results[0].values[0];
        add_batch_levels(into, all);
        out_.emit("aten::matmul", n, {tensor_argument("self", factors[0]), tensor_argument("other", columns)}, into);
        return true;
    }

    void add_leading(node n, levels const& all) {
        for (argument const& each : n.arguments)
            for (value_ref const& v : tensors_of(each)) {
                bool const may_be_hidden = each.name == "input" || each.name == "indices";
                if (v && (may_be_hidden ? batch_levels(v) != all : !batch_levels(v).empty())) refuse(n);
            }
        finish(std::move(n), all);
    }

    void add_listed(node n, std::string_view name, levels const& all) {
        value_index const self = find_argument(n, "self")->tensor;
        argument* const list = find_argument(n, name);
        if (list == nullptr || list->kind != argument_kind::numbers) refuse(n);
        bool const is_permutation = n.op == "aten::permute";
        bool const keeps_rank = is_permutation || n.op == "aten::expand";
        if (keeps_rank && static_cast<std::int64_t>(list->numbers.size()) != rank(self)) refuse(n);
        std::vector<number> numbers;
        for (std::size_t i = 0; i != all.size(); ++i)
            numbers.push_back(is_permutation ? number(static_cast<std::int64_t>(i))
                              : keeps_rank   ? number(-1)
                                             : size_of(self, i, n));
        for (number const& each : list->numbers) {
            bool const is_shifted = is_permutation && each.integer().value_or(-1) >= 0;
            numbers.push_back(is_shifted ? number(*each.integer() + static_cast<std::int64_t>(all.size())) : each);
        }
        list->numbers = std::move(numbers);
        finish(std::move(n), all);
    }

    /// The dimensions that are not batch dimensions, in reverse.
    void add_reversal(node const& n, levels const& all) {
        value_index const self = find_argument(n, "self")->tensor;
        if (n.results.size() != 1 || n.results[0].values.size() != 1) refuse(n);
        auto const count = static_cast<std::int64_t>(all.size());
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i != count; ++i) order.push_back(i);
        for (std::int64_t i = rank(self); i-- > 0;) order.push_back(count + i);
        value_index const into = n.results[0].values[0];
        add_batch_levels(into, all);
        static_cast<void>(
            out_.emit("aten::permute", n, {tensor_argument("self", self), integers_argument("dims", order)}, into));
    }

    void add_reduction(node n, std::string_view reduction) {
        value_index const self = find_argument(n, "self")->tensor;
        levels const all = batch_levels(self);
        std::vector<std::int64_t> dims;
        for (std::int64_t i = 0; i != rank(self); ++i) dims.push_back(i - rank(self));
        n.op = std::string(reduction);
        n.schema = aten::find_schema(reduction);
        n.arguments.insert(n.arguments.begin() + 1, integers_argument("dim", dims));
        finish(std::move(n), all);
    }

    void add_dimensional(node n, with_dims const& rule, levels const& all) {
        auto const count = static_cast<std::int64_t>(all.size());
        auto const shift = [&](number& dim) {
            if (!dim.integer()) refuse(n);
            if (*dim.integer() >= 0) dim = number(*dim.integer() + count);
        };
        if (rule.starts_at_0 && find_argument(n, rule.first) == nullptr)
            n.arguments.push_back(number_argument(rule.first, 0));
        for (std::string_view const name : {rule.first, rule.second}) {
            argument* const dims = name.empty() ? nullptr : find_argument(n, name);
            if (dims == nullptr) {
                if (!name.empty() && n.op != "aten::sort" && n.op != "aten::topk")
                    refuse(n); // whose default is the last one
                continue;
            }
            if (dims->kind != argument_kind::number && (dims->kind != argument_kind::numbers || dims->numbers.empty()))
                refuse(n);
            if (dims->kind == argument_kind::number) shift(dims->number);
            for (number& each : dims->numbers) shift(each);
        }
        finish(std::move(n), all);
    }
};

} // namespace

void expand_vmap(program& p) {
    auto const has_any = [](graph const& g) { return std::any_of(g.nodes.begin(), g.nodes.end(), is_vmap); };
    if (!has_any(p.main) && std::none_of(p.subgraphs.begin(), p.subgraphs.end(), has_any)) return;
    expander in(p);
    for_each_graph(p, [&](graph& g) {
        if (has_any(g)) in.run(g);
    });
}

} // namespace ATON_NAMESPACE::program

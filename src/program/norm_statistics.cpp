// SPDX-License-Identifier: MIT
#include "norm_statistics.hpp"

#include <string>
#include <utility>
#include <vector>

#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

bool is_given(node const& n, std::string_view name) {
    argument const* const a = find_argument(n, name);
    return a != nullptr && a->kind == argument_kind::tensor;
}

value_index value_of(node const& n, std::string_view name) { return find_argument(n, name)->tensor; }

double momentum_of(node_emitter& out, node const& n) {
    argument const* const a = find_argument(n, "momentum");
    if (a != nullptr && a->kind == argument_kind::number && !a->number.is_computed())
        return a->number.constant.to<double>();
    throw error(describe(out.owner(), n) + ": its momentum is not a constant; use a number");
}

/// batch_norm and native_batch_norm: torch has an operator that also returns the new statistics.
running_statistics emit_batch_norm(node_emitter& out, node n) {
    running_statistics made{out.fresh(value_of(n, "running_mean")), out.fresh(value_of(n, "running_var"))};
    std::vector<result> results = n.results;
    while (results.size() < 3) { // the statistics of this batch
        value_index const like = results.size() == 1 ? made.mean : made.variance;
        results.push_back(result{{out.fresh(like)}, false});
    }
    results.push_back(result{{made.mean}, false});
    results.push_back(result{{made.variance}, false});
    n.op = "aten::_native_batch_norm_legit_functional";
    n.schema = aten::find_schema(n.op);
    n.results = std::move(results);
    std::erase_if(n.arguments, [](argument const& a) { return a.name == "cudnn_enabled"; });
    out.append(std::move(n));
    return made;
}

value_index emit_cast(node_emitter& out, node const& cause, value_index v, dtype to) {
    if (out.owner().values[v].type == to) return v;
    value_index const made = out.fresh(v);
    out.owner().values[made].type = to;
    return out.emit("aten::_to_copy", cause, {tensor_argument("self", v), type_argument("dtype", to)}, made);
}

/// old + momentum * (new - old)
value_index emit_average(node_emitter& out, node const& cause, value_index old, value_index now, double momentum) {
    value_index const made = out.fresh(old);
    now = emit_cast(out, cause, now, out.owner().values[old].type);
    return out.emit("aten::lerp.Scalar",
                    cause,
                    {tensor_argument("self", old), tensor_argument("end", now), number_argument("weight", momentum)},
                    made);
}

/// The statistics of instance_norm: the means over the batch of each instance's mean and unbiased variance.
running_statistics emit_instance_norm(node_emitter& out, node n) {
    if (!is_given(n, "input")) throw error(describe(out.owner(), n) + ": does not have an input");
    value_index const input = value_of(n, "input");
    value_index const old_mean = value_of(n, "running_mean");
    value_index const old_variance = value_of(n, "running_var");
    double const momentum = momentum_of(out, n);
    std::size_t const rank = out.owner().values[input].sizes.size();
    if (rank < 3) throw error(describe(out.owner(), n) + ": updates running statistics of an input of unknown rank");
    dtype const type = out.owner().values[input].type;
    std::vector<std::int64_t> spatial;
    for (std::size_t i = 2; i != rank; ++i) spatial.push_back(static_cast<std::int64_t>(i));
    std::vector<std::int64_t> all = spatial;
    all.insert(all.begin(), 0);

    auto const fresh_typed = [&](value_index like) {
        value_index const made = out.fresh(like);
        out.owner().values[made].type = type;
        return made;
    };
    value_index const mean = out.emit("aten::mean.dim",
                                      n,
                                      {tensor_argument("self", input), integers_argument("dim", std::move(all))},
                                      fresh_typed(old_mean));
    value per_instance = out.owner().values[old_variance];
    per_instance.type = type;
    per_instance.sizes = {out.owner().values[input].sizes[0], out.owner().values[input].sizes[1]};
    per_instance.strides = {out.owner().values[input].sizes[1], extent{1, extent::none}};
    value_index const variances = out.emit("aten::var.correction",
                                           n,
                                           {tensor_argument("self", input),
                                            integers_argument("dim", std::move(spatial)),
                                            number_argument("correction", 1)},
                                           out.fresh(std::move(per_instance)));
    value_index const variance = out.emit("aten::mean.dim",
                                          n,
                                          {tensor_argument("self", variances), integers_argument("dim", {0})},
                                          fresh_typed(old_variance));
    running_statistics made;
    made.mean = emit_average(out, n, old_mean, mean, momentum);
    made.variance = emit_average(out, n, old_variance, variance, momentum);
    for (char const* name : {"running_mean", "running_var"}) *find_argument(n, name) = tensor_argument(name, no_value);
    out.append(std::move(n));
    return made;
}

} // namespace

bool updates_statistics(node const& n) {
    if (!is_given(n, "running_mean") || !is_given(n, "running_var")) return false;
    if (n.op == "aten::instance_norm") return boolean_of(n, "use_input_stats", false);
    bool const by_flag = n.op == "aten::batch_norm" || n.op == "aten::native_batch_norm" ||
                         n.op == "aten::_batch_norm_impl_index" || n.op == "aten::cudnn_batch_norm" ||
                         n.op == "aten::miopen_batch_norm";
    return by_flag && boolean_of(n, "training", false);
}

running_statistics emit_with_statistics(node_emitter& out, node n) {
    if (n.op == "aten::instance_norm") return emit_instance_norm(out, std::move(n));
    if (n.op == "aten::batch_norm" || n.op == "aten::native_batch_norm") return emit_batch_norm(out, std::move(n));
    throw error(
        describe(out.owner(), n) +
        ": updates its running statistics as a side effect; use batch_norm instead, or call eval() before export");
}

} // namespace ATON_NAMESPACE::program

// SPDX-License-Identifier: MIT
// Compares a module with a model on Aton's runtime.
#include <aton/torch.hpp>

#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include <aton/core/error.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/torch_reference.hpp>

#include "recorder.hpp"

namespace ATON_NAMESPACE::torch::detail {

namespace {

/// Complex tensors are reals with a trailing axis of 2 in models.
runtime::value in_reals(at::Tensor const& t) {
    at::Tensor const host = t.detach().cpu();
    return verify::torch_detail::from_torch(host.is_complex() ? at::view_as_real(host.resolve_conj()) : host);
}

/// What the module computes. It is recorded, so that the memory to which it writes gets its old values back.
std::vector<at::Tensor> outputs_of(callee const& f, inputs const& x) {
    at::NoGradGuard const no_gradients;
    weight_names const names = weights_of(f.module);
    return recorder(names, "check", false, true).run(f, copies(x), {}).outputs;
}

} // namespace

void check(callee const& f, inputs const& x, std::string const& model) {
    aton::model read = read_model(model);
    load_external(read, model);
    runtime::onnx_model const loaded(std::move(read.graph));
    graph_data const& g = loaded.graph();
    std::vector<runtime::value> given;
    for (at::Tensor const& each : x) given.push_back(in_reals(each));
    std::vector<at::Tensor> const expected = outputs_of(f, x);
    std::vector<runtime::value> const got = loaded.run(given);
    if (got.size() < expected.size())
        throw error(model + ": has " + std::to_string(got.size()) + " outputs, but the module returns " +
                    std::to_string(expected.size()) + " tensors");
    std::int64_t const terms = 1000 + 100 * static_cast<std::int64_t>(g.nodes.size());
    for (std::size_t i = 0; i != expected.size(); ++i) {
        verify::comparison const c = verify::compare(got[i], in_reals(expected[i]), terms);
        if (!c.same()) throw error(model + ": output '" + g.values[g.outputs[i]].name + "': " + to_string(c));
    }
}

} // namespace ATON_NAMESPACE::torch::detail

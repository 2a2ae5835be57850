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

#include "memory.hpp"
#include "recorder.hpp"

namespace ATON_NAMESPACE::torch::detail {

namespace {

using verify::torch_detail::from_torch;

/// What the module computes, and its memory as it was before.
std::vector<runtime::tensor> outputs_of(callee const& f, inputs x) {
    at::NoGradGuard const no_gradients;
    saved_memory saved;
    for (auto const& [id, w] : weights_of(f.module)) saved.save(w.tensor);
    for (at::Tensor& each : x) each = each.clone();
    std::vector<runtime::tensor> out;
    try {
        for (output const& each : f.call(x))
            if (each.value.defined()) out.push_back(from_torch(each.value.cpu()));
    } catch (c10::Error const& e) {
        saved.restore();
        throw error("the module fails: " + first_line(e.what_without_backtrace()));
    } catch (...) {
        saved.restore();
        throw;
    }
    saved.restore();
    return out;
}

} // namespace

void check(callee const& f, inputs const& x, std::string const& model) {
    aton::model read = read_model(model);
    load_external(read, model);
    runtime::onnx_model const loaded(std::move(read.graph));
    graph_data const& g = loaded.graph();
    std::vector<runtime::value> given;
    for (at::Tensor const& each : x) given.emplace_back(from_torch(each.cpu()));
    std::vector<runtime::tensor> const expected = outputs_of(f, x);
    std::vector<runtime::value> const got = loaded.run(given);
    if (got.size() < expected.size())
        throw error(model + ": has " + std::to_string(got.size()) + " outputs, but the module returns " +
                    std::to_string(expected.size()) + " tensors");
    std::int64_t const terms = 1000 + 100 * static_cast<std::int64_t>(g.nodes.size());
    for (std::size_t i = 0; i != expected.size(); ++i) {
        verify::comparison const c = verify::compare(got[i], runtime::value(expected[i]), terms);
        if (!c.same()) throw error(model + ": output '" + g.values[g.outputs[i]].name + "': " + to_string(c));
    }
}

} // namespace ATON_NAMESPACE::torch::detail

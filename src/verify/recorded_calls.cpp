// SPDX-License-Identifier: MIT
// Converts recorded calls to samples.
#include <aton/verify/recorded_calls.hpp>

#include <optional>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/frontend/calls/read_calls.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

runtime::tensor to_tensor(std::optional<aton::tensor> const& t) {
    return t ? runtime::tensor::from_constant(*t) : runtime::tensor();
}

runtime::value to_value(calls::argument const& a) {
    if (a.kind != aten::argument_kind::tensors) return to_tensor(a.tensor);
    std::vector<runtime::tensor> all;
    for (std::optional<aton::tensor> const& each : a.tensors) all.push_back(to_tensor(each));
    return all;
}

} // namespace

std::vector<recorded_call> read_calls(std::string const& folder) {
    std::vector<recorded_call> out;
    for (calls::recorded_call& c : calls::read_calls(folder)) {
        recorded_call& to = out.emplace_back();
        try {
            for (calls::argument const& a : c.arguments)
                to.call.arguments.push_back(aten::transform(a, to_tensor, [](scalar const& s) { return s; }));
            for (calls::argument const& r : c.results) to.results.push_back(to_value(r));
        } catch (error const& e) {
            throw error(c.place + ": " + e.what());
        }
        to.schema = std::move(c.schema);
        to.call.overload = std::move(c.overload);
        to.call.constants = std::move(c.constants);
        to.place = std::move(c.place);
        to.values = c.values;
    }
    return out;
}

} // namespace ATON_NAMESPACE::verify

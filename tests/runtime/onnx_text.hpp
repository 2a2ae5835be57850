// SPDX-License-Identifier: MIT
// Parses and runs models in text form, for tests of the interpreter.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <aton/core/error.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>

#include "layouts.hpp"

namespace aton::tests {

using aton::runtime::onnx_model;
using aton::runtime::tensor;
using aton::runtime::value;

inline ::onnx::ModelProto proto_of(std::string const& text) {
    ::onnx::ModelProto model;
    auto const status = ::onnx::OnnxParser::Parse(model, text);
    REQUIRE_MESSAGE(status.IsOK(), status.ErrorMessage());
    return model;
}

inline aton::graph_data graph_of(std::string const& text) {
    return aton::parse_model(proto_of(text).SerializeAsString()).graph;
}

/// A model without functions.
inline aton::graph_data simple(std::string const& graph, int opset = 18) {
    return graph_of("<ir_version: 9, opset_import: [\"\" : " + std::to_string(opset) + "]>\n" + graph);
}

inline std::vector<value> run(aton::graph_data graph, std::vector<value> const& inputs = {}) {
    return onnx_model(std::move(graph)).run(inputs);
}

inline tensor integer(std::int64_t number) { return tensor::of_scalar(number, dtype::int64); }
inline tensor truth(bool yes) { return tensor::of_scalar(yes, dtype::bool_); }

inline std::vector<float> numbers_of(value const& v) {
    tensor const t = v.one().contiguous();
    REQUIRE(t.dtype() == dtype::float32);
    return {t.data<float>(), t.data<float>() + t.count()};
}

using numbers = std::vector<float>;

/// The error of a model that does not run; empty if it runs.
inline std::string refusal(aton::graph_data graph, std::vector<value> const& inputs = {}) {
    try {
        (void)run(std::move(graph), inputs);
    } catch (aton::error const& e) {
        CHECK(std::string(e.what()).find('\n') == std::string::npos);
        return e.what();
    }
    return {};
}

inline bool has(std::string const& text, std::string const& part) {
    if (text.find(part) != std::string::npos) return true;
    MESSAGE(text);
    return false;
}

} // namespace aton::tests

// SPDX-License-Identifier: MIT
// The domains of operators that runtimes and converters define, beside those of ONNX: a domain of somebody else's must not look like one.
// Internal header.
#pragma once

#include <string_view>

#include <aton/core/nearest.hpp>

namespace ATON_NAMESPACE::onnx {

struct runtime_domain {
    std::string_view name;
    std::string_view owner;
    int version = 0; ///< the only one that the owner knows; 0: any
};
inline constexpr runtime_domain runtime_domains[] = {{"com.microsoft", "ONNX Runtime", 1},
                                                     {"com.microsoft.nchwc", "ONNX Runtime", 1},
                                                     {"com.ms.internal.nhwc", "ONNX Runtime", 0},
                                                     {"ai.onnx.contrib", "ONNX Runtime's extensions", 1},
                                                     {"org.pytorch.aten", "PyTorch", 1},
                                                     {"org.openvinotoolkit", "OpenVINO", 0},
                                                     {"trt.plugins", "TensorRT", 0}};

/// The domain with this name, or null.
constexpr runtime_domain const* find_runtime_domain(std::string_view name) {
    for (runtime_domain const& each : runtime_domains)
        if (each.name == name) return &each;
    return nullptr;
}

/// The domain of a runtime that a name misspells: it differs in case, or in one or two letters. Empty if there is none.
constexpr std::string_view misspelled_domain(std::string_view name) {
    if (find_runtime_domain(name) != nullptr) return {};
    for (runtime_domain const& each : runtime_domains)
        if (edit_distance(name, each.name, 2) <= 2) return each.name;
    return {};
}

} // namespace ATON_NAMESPACE::onnx

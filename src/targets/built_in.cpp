// SPDX-License-Identifier: MIT
#include <aton/targets/built_in.hpp>

#include <string>

#include <aton/core/error.hpp>
#include <aton/core/nearest.hpp>
#include <aton/targets/npu.hpp>
#include <aton/targets/onnx_runtime.hpp>
#include <aton/targets/onnx_runtime_genai.hpp>
#include <aton/targets/tensorrt.hpp>

namespace ATON_NAMESPACE::targets {

std::span<target const* const> built_in_targets() noexcept {
    static constexpr target const* all[] = {&onnx_runtime, &onnx_runtime_genai, &tensorrt, &npu};
    return all;
}

target const* find_target(std::string_view name) {
    if (name == "onnx") return nullptr;
    nearest near(name);
    near.offer("onnx");
    for (target const* t : built_in_targets()) {
        if (t->name == name) return t;
        near.offer(t->name);
    }
    std::string const similar(near.found());
    throw error("no target has the name " + std::string(name) +
                (similar.empty() ? "; choose onnx, onnxruntime, onnxruntime-genai, tensorrt or npu"
                                 : "; did you mean " + similar + "?"));
}

} // namespace ATON_NAMESPACE::targets

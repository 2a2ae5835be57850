// SPDX-License-Identifier: MIT
// Prints the table of integer kernels, one line for each operator and dtype: "Mod int64 in_float64 truncating".
#include <cstdio>
#include <string>

#include <aton/onnx/integer_kernels.hpp>

namespace {

char const* text(aton::onnx::integer_arithmetic how) {
    using enum aton::onnx::integer_arithmetic;
    return how == in_float64 ? "in_float64" : how == in_float32 ? "in_float32" : "by_signed_halves";
}

char const* text(aton::onnx::integer_calls calls) {
    using enum aton::onnx::integer_calls;
    return calls == all          ? "all"
           : calls == truncating ? "truncating"
           : calls == lone_sums  ? "lone_sums"
                                 : "interpolating";
}

} // namespace

int main() {
    for (aton::onnx::integer_kernel const& k : aton::onnx::onnx_runtime_integer_kernels)
        for (unsigned t = 1; t != 32; ++t)
            if (auto const type = static_cast<aton::dtype>(t); k.types.contains(type))
                std::printf("%s %s %s %s\n",
                            std::string(k.op).c_str(),
                            std::string(aton::name(type)).c_str(),
                            text(k.how),
                            text(k.calls));
    return 0;
}

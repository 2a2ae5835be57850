// SPDX-License-Identifier: MIT
// Prints the operators of <aton/domains/com_microsoft.hpp>, one part per line; com_microsoft_test.py compares them with ONNX Runtime's.
#include <cstdio>
#include <string>
#include <string_view>

#include <aton/domains/com_microsoft.hpp>

namespace {

using namespace aton;

void print(char const* what, onnx::formal const& f) {
    std::string types;
    for (unsigned t = 1; t != onnx_dtype_count; ++t)
        if (f.types.contains(static_cast<dtype>(t))) types += " " + std::string(onnx_name(static_cast<dtype>(t)));
    std::string_view const kind = f.kind == onnx::option::variadic   ? "Variadic"
                                  : f.kind == onnx::option::optional ? "Optional"
                                                                     : "Single";
    std::printf("%s %s %s%s\n", what, std::string(f.name).c_str(), std::string(kind).c_str(), types.c_str());
}

} // namespace

int main() {
    for (dsl::detail::declared_operator const& o : operators_of(domains::com_microsoft)) {
        onnx::declared_schema const& s = o.schema;
        std::printf("op %s %d\n", std::string(s.name()).c_str(), s.since());
        for (int i = 0; i != s.input_count(); ++i) print("input", s.input(i));
        for (int i = 0; i != s.output_count(); ++i) print("output", s.output(i));
        for (int i = 0; i != s.attribute_count(); ++i)
            std::printf("attribute %s %d %s %s\n",
                        std::string(s.attr(i).name).c_str(),
                        static_cast<int>(s.attr(i).type),
                        s.attr(i).required ? "required" : "optional",
                        std::string(s.attr(i).default_text).c_str());
    }
    return 0;
}

// rule: attribute_optional
// error: onnx::MaxPool (opset 12): required attribute kernel_shape (ints) is a std::optional, which may be empty; give the value
// twin: (kernel) => (*kernel)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    std::optional<std::vector<int>> kernel;
    (void)g.op<"MaxPool">(x, attr::kernel_shape_i(kernel));
}

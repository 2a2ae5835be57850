// rule: attribute_missing
// error: onnx::Cast (opset 9): required attribute to (an int) is missing
// twin: (x) => (x, attr::to_i(dtype::float16))
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<9> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Cast">(x);
}

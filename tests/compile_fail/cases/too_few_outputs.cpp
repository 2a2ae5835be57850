// rule: too_few_outputs
// error: onnx::TopK (opset 11): has at least 2 outputs; ask for them with outputs<2>
// twin: (x, y) => (x, y, outputs<2>)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<11> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"TopK">(x, y);
}

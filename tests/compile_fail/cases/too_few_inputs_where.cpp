// rule: too_few_inputs
// error: onnx::Where (opset 9): input Y is missing, 2 given
// twin: (x, y) => (x, y, y)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<9> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Where">(x, y);
}

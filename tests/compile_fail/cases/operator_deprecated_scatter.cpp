// rule: operator_deprecated
// error: onnx::Scatter (opset 11): deprecated; end the range of the graph at opset 10
// twin: graph<9> => graph<9, 10>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<9> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Scatter">(x, y, y);
}

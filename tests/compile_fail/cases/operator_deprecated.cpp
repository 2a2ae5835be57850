// rule: operator_deprecated
// error: onnx::Upsample (opset 10): deprecated; end the range of the graph at opset 9
// twin: graph<9, 10> => graph<9, 9>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<9, 10> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Upsample">(x, y);
}

// rule: meaning_changed
// error: onnx::Softmax (opset 13): the meaning changed:
// twin: graph<11> => graph<11, 12>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<11> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Softmax">(x, attr::axis_i(1));
}

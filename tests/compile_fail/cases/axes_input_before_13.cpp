// rule: too_many_inputs
// error: onnx::Unsqueeze (opset 11): 2 inputs given, at most 1 allowed
// twin: graph<11> => graph<13>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<11> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Unsqueeze">(x, g.ints({0}));
}

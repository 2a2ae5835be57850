// rule: no_such_operator
// error: onnx::Eluu (opset 9): no such operator; did you mean Elu?
// twin: Eluu => Elu
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<9> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Eluu">(x);
}

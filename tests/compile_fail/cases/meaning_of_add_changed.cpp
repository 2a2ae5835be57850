// rule: meaning_changed
// error: onnx::Add (opset 7): the meaning changed:
// twin: graph<6> => graph<7>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<6> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Add">(x, y);
}

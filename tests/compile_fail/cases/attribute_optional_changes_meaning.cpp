// rule: meaning_changed
// error: onnx::MaxPool (opset 22): the meaning changed
// twin: graph<13> g, [[maybe_unused]] value x => graph<13, 21> g, [[maybe_unused]] value x
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    (void)g.op<"MaxPool">(x, attr::kernel_shape_i({3, 3}), attr::ceil_mode_i(n));
}

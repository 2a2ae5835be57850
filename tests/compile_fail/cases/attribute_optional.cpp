// rule: attribute_optional
// error: onnx::Concat (opset 13): required attribute axis (an int) is a std::optional, which may be empty; give the value
// twin: attr::axis_i(n) => attr::axis_i(n.value_or(0))
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    (void)g.op<"Concat">(x, y, attr::axis_i(n));
}

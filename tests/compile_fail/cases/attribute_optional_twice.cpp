// rule: attribute_twice
// error: onnx::Softmax (opset 13): attribute axis is given twice
// twin: , attr::axis_i(1) => 
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    (void)g.op<"Softmax">(x, attr::axis_i(n), attr::axis_i(1));
}

// rule: attribute_type
// error: onnx::Softmax (opset 13): attribute axis is an int, given ints
// twin: std::optional<std::vector<int>> => std::optional<int>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    std::optional<std::vector<int>> axis;
    (void)g.op<"Softmax">(x, attr::axis_i(axis));
}

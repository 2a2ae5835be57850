// rule: number_without_type
// error: onnx::Add (opset 13): input A is a number whose type no other input determines; use g.scalar(number, dtype)
// twin: (1, 2) => (1, x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Add">(1, 2);
}

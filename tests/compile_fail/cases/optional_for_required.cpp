// rule: input_required
// error: onnx::Add (opset 13): input B is required; it cannot be an optional value or absent
// twin: (x, o) => (x, *o)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Add">(x, o);
}

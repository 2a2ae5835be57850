// rule: no_common_type
// error: onnx::Add (opset 14): input B is bool, allowed here: int64
// twin: g.op<"Not">(x) => g.op<"Size">(x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<14> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Add">(g.op<"Shape">(x), g.op<"Not">(x));
}

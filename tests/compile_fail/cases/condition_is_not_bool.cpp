// rule: no_common_type
// error: onnx::Where (opset 9): input condition is int64, allowed here: bool
// twin: "Shape" => "IsNaN"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<9> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Where">(g.op<"Shape">(x), x, y);
}

// rule: no_common_type
// error: onnx::Erf (opset 13): input input is bool
// twin: "Not" => "Neg"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Erf">(g.op<"Not">(x));
}

// rule: no_common_type
// error: onnx::Clip (opset 13): input min is bool
// twin: "IsNaN" => "Neg"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    std::optional const low = g.op<"IsNaN">(y);
    (void)g.op<"Clip">(x, low);
}

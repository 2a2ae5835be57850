// rule: no_such_attribute
// error: onnx::Elu (opset 6): no attribute alpa; did you mean alpha?
// twin: "alpa" => "alpha"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<6> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Elu">(x, attr_f<"alpa">(0.5));
}

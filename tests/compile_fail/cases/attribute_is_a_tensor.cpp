// rule: attribute_type
// error: onnx::ConstantOfShape (opset 9): attribute value is a tensor, given a float
// twin: attr_f<"value">(1.0) => attr::value_t(aton::scalar_tensor(1.0, dtype::float32))
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<9> g, value shape) {
    return g.op<"ConstantOfShape">(shape, attr_f<"value">(1.0));
}

// rule: attribute_value
// error: a tensor attribute takes a tensor or a list of tensors
// twin: attr::value_t(3.0) => attr::value_t(aton::scalar_tensor(3, dtype::float32))
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<9> g, value x) { return g.op<"ConstantOfShape">(x, attr::value_t(3.0)); }

// rule: typed_value
// error: typed_value
// twin: typed_value<tensors(dtype::float32)> => value
#include <aton/aton.hpp>
using namespace aton::dsl;
inline typed_value<tensors(dtype::float32)> build(graph<13> g, value x) {
    return g.op<"Relu">(x);
}

// rule: attribute_value
// error: a float attribute takes a number, a scalar or a list of numbers
// twin: dtype::float32 => 0.5
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<6> g, value x) {
    return g.op<"Elu">(x, attr::alpha_f(dtype::float32));
}

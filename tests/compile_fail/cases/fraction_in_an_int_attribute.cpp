// rule: attribute_value
// error: an int attribute takes an integer, a dtype or a list of integers
// twin: 1.5 => 1
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<13> g, value x) {
    return g.op<"Softmax">(x, attr::axis_i(1.5));
}

// rule: attribute_value
// error: an int attribute takes an integer, a dtype or a list of integers
// twin: attr::axis_i(y) => attr::axis_i(1)
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<13> g, value x, [[maybe_unused]] value y) { return g.op<"Softmax">(x, attr::axis_i(y)); }

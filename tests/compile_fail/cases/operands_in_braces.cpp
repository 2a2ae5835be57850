// rule: misuse
// error: an operand in braces has no type: write g.ints({...}), g.constant({...}, dtype) or std::vector<value>{...}
// twin: {x, y} => x, y
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<14> g, value x, value y) { return g.op<"Concat">({x, y}, attr::axis_i(0)); }

// rule: misuse
// error: an operand in braces has no type: write g.ints({...}), g.constant({...}, dtype) or std::vector<value>{...}
// twin: {1, -1} => g.ints({1, -1})
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<14> g, value x) { return g.op<"Reshape">(x, {1, -1}); }

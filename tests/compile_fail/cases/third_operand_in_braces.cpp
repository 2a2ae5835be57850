// rule: misuse
// error: an operand in braces has no type: write g.ints({...}), g.constant({...}, dtype) or std::vector<value>{...}
// twin: {3, 4} => g.ints({3, 4})
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<14> g, value x) { return g.op<"Slice">(x, g.ints({0, 1}), {3, 4}); }

// rule: misuse
// error: + does not take values: write g.op<"Add">(x, y)
// twin: x + y => g.op<"Add">(x, y)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f([[maybe_unused]] graph<14> g, value x, value y) { return x + y; }

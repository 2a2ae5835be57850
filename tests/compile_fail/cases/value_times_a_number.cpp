// rule: misuse
// error: * does not take values: write g.op<"Mul">(x, y)
// twin: 2.5 * x => g.op<"Mul">(x, 2.5)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f([[maybe_unused]] graph<14> g, value x) { return 2.5 * x; }

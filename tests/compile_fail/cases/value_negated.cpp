// rule: misuse
// error: - does not take values: write g.op<"Neg">(x)
// twin: return -x => return g.op<"Neg">(x)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f([[maybe_unused]] graph<14> g, value x) { return -x; }

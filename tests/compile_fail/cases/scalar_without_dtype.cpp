// rule: misuse
// error: g.scalar takes a dtype: write g.scalar(n, dtype::float32), or g.scalar_like(n, x)
// twin: g.scalar(1.5) => g.scalar_like(1.5, x)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<14> g, value x) { return g.op<"Add">(x, g.scalar(1.5)); }

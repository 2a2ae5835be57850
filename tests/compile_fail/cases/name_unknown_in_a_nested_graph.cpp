// rule: error_of_cpp
// error: no_such_name
// twin: no_such_name => y
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<13> g, value x) {
    return g.op<"Loop">(3, absent, x, attr::body_g([](graph<13> b, value, value c, value y) { return std::tuple(c, b.op<"Add">(y, no_such_name)); }));
}

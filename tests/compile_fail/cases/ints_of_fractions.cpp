// rule: ints
// error: g.ints takes a list of integers or of sizes
// twin: <double> => <unsigned char>
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value build(graph<13> g, [[maybe_unused]] value x) { return g.ints(std::vector<double>{1, 2}); }

// rule: ints
// error: g.ints takes a list of integers or of sizes
// twin: <bool> => <int>
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value build(graph<13> g, [[maybe_unused]] value x) { return g.ints(std::vector<bool>{1, 0}); }

// rule: no_such_operator
// error: g.op: the operator is a template argument; write it in angle brackets before the parentheses
// twin: op("Neg", x) => op<"Neg">(x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, value x) {
    (void)g.op("Neg", x);
}

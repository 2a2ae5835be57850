// rule: unused_result
// error: the node is unused; write (void)g.op<...>(...) if that is intended
// twin: g.op<"Relu">(x); => (void)g.op<"Relu">(x);
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<14> g, value x) {
    g.op<"Relu">(x);
    return x;
}

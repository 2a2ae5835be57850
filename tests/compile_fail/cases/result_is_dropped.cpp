// rule: unused_result
// error: nothing uses the node; write (void)g.op<...>(...) where that is meant
// twin: g.op<"Relu">(x); => (void)g.op<"Relu">(x);
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<14> g, value x) {
    g.op<"Relu">(x);
    return x;
}

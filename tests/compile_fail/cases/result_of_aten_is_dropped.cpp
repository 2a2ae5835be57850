// rule: unused_result
// error: nothing uses the node; write (void)g.at<...>(...) where that is meant
// twin: g.at<"relu">(x); => x = g.at<"relu">(x);
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<14> g, value x) {
    g.at<"relu">(x);
    return x;
}

// rule: unused_result
// error: the node is unused; write (void)g.at<...>(...) if that is intended
// twin: g.at<"relu">(x); => x = g.at<"relu">(x);
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<14> g, value x) {
    g.at<"relu">(x);
    return x;
}

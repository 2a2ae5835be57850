// rule: attribute_value
// error: an int attribute takes a list of integers
// twin: {1.5, 2.5} => {1, 2}
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<11> g, value x, value w) {
    return g.op<"Conv">(x, w, attr::strides_i({1.5, 2.5}));
}

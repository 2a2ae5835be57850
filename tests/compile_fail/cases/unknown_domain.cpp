// rule: no_such_domain
// error: my.domain::Relu (opset 13): the graph does not name this domain; declare it with domain<...> and add it: graph<13, my_domain>
// twin: my.domain::Relu => Relu
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"my.domain::Relu">(x);
}

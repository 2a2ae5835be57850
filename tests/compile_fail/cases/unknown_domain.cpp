// rule: no_such_domain
// error: my.domain::Relu (opset 13): the graph names no such domain; declare it with domain<...> and write graph<13, it>
// twin: my.domain::Relu => Relu
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"my.domain::Relu">(x);
}

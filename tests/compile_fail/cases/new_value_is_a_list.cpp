// rule: new_value_kind
// error: my::step_: value 2 is the new value of states, Tensor(a!)[]; return a std::vector<value>
// twin: std::tuple(y, y) => std::tuple(y, std::vector<value>{y})
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"my::step_(Tensor x, Tensor(a!)[] states) -> Tensor">([](graph<13> g, value x, std::span<value const> states) {
        value const y = g.op<"Add">(x, states[0]);
        return std::tuple(y, y);
    }));

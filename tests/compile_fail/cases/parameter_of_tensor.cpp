// rule: parameter_type
// error: aten::relu: argument self is Tensor, but the parameter takes Tensor?; write value
// twin: optional_value self => value self
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu(self)">([](graph<13> g, optional_value self) {
        static_cast<void>(g);
        return *optional_value(self);
    }));

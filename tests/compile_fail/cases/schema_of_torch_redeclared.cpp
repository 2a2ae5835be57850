// rule: schema_differs
// error: aten::relu: torch declares a different schema; write only the argument names: aten::relu(...)
// twin: Tensor x) => Tensor self)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu(Tensor x) -> Tensor">([](graph<13> g, value self) {
        static_cast<void>(g);
        return self;
    }));

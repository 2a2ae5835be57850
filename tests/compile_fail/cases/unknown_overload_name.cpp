// rule: no_such_aten_operator
// error: aten::add.Tensr: no such ATen operator; did you mean aten::add.Tensor?
// twin: add.Tensr => add.Tensor
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::add.Tensr(self, other)">([](graph<13> g, value self, value) {
        static_cast<void>(g);
        return self;
    }));

// rule: result_kind
// error: aten::relu: result 1 is Tensor; return a value
// twin: std::vector<value>{self}; => self;
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu(self)">([](graph<13> g, value self) {
        static_cast<void>(g);
        return std::vector<value>{self};
    }));

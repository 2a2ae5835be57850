// rule: parameter_type
// error: aten::amax: argument keepdim is bool, but the parameter takes int or a constant SymInt; write bool
// twin: std::int64_t keepdim => bool keepdim
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::amax(self, keepdim)">([](graph<13> g, value self, std::int64_t keepdim) {
        static_cast<void>(g);
        static_cast<void>(keepdim);
        return self;
    }));

// rule: malformed_signature
// error: my_ops::foo(Tensor x -> Tensor: expected
// twin: x -> => x) ->
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"my_ops::foo(Tensor x -> Tensor">([](graph<13> g, value self) {
        static_cast<void>(g);
        return self;
    }));

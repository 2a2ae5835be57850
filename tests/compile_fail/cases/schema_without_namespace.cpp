// rule: schema_without_namespace
// error: foo: the schema needs a namespace, as in my_ops::foo
// twin: "foo( => "my_ops::foo(
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"foo(Tensor x) -> Tensor">([](graph<13> g, value self) {
        static_cast<void>(g);
        return self;
    }));

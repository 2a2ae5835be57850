// rule: parameter_count
// error: aten::neg: the signature names 1 argument, but the body takes 2 after the graph
// twin: complex_value z, double => complex_value z
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto row = symbolic<"aten::neg(self)">([](graph<13> g, value x) { return g.op<"Neg">(x); })
                         .for_complex([](graph<13> g, complex_value z, double) {
                             return g.complex(g.op<"Neg">(g.real(z)), g.op<"Neg">(g.imag(z)));
                         });

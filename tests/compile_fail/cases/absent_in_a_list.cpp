// rule: misuse
// error: absent is not a value: write optional_value where a value may be absent
// twin: x, absent => x, x
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<14> g, value x) { return g.op<"Concat">(std::vector<value>{x, absent}, attr::axis_i(0)); }

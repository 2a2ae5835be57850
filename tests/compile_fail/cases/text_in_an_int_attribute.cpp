// rule: attribute_value
// error: an int attribute takes an integer, a dtype or a list of integers
// twin: "true" => true
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<13> g, value x) { return g.op<"ReduceMean">(x, attr::keepdims_i("true")); }

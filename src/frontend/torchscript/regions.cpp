// SPDX-License-Identifier: MIT
#include "regions.hpp"

#include <set>

namespace ATON_NAMESPACE::torchscript {

void collect_free(std::vector<program::node> const& nodes, std::vector<program::argument> const& outputs,
                  std::vector<program::value_index>& free) {
    std::set<program::value_index> known(free.begin(), free.end());
    auto const use = [&](program::argument const& a) {
        program::for_each_value(a, [&](program::value_index v) {
            if (known.insert(v).second) free.push_back(v);
        });
    };
    for (program::node const& n : nodes)
        for (program::result const& r : n.results) known.insert(r.values.begin(), r.values.end());
    for (program::node const& n : nodes)
        for (program::argument const& a : n.arguments) use(a);
    for (program::argument const& a : outputs) use(a);
}

void replace_values(std::vector<program::argument>& arguments, replacements const& by) {
    for (program::argument& a : arguments)
        program::for_each_value(a, [&](program::value_index& v) {
            if (auto const found = by.find(v); found != by.end()) v = found->second;
        });
}
void replace_values(std::vector<program::node>& nodes, replacements const& by) {
    for (program::node& n : nodes) replace_values(n.arguments, by);
}

} // namespace ATON_NAMESPACE::torchscript

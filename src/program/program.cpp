// SPDX-License-Identifier: MIT
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

std::string describe(program const& p, node const& n) {
    std::string out = p.file;
    if (!out.empty()) out += ": ";
    out += n.op;
    origin const unknown;
    origin const& from = n.origin < p.origins.size() ? p.origins[n.origin] : unknown;
    std::string place = n.name.empty() ? "" : "node " + n.name;
    if (!from.source.empty()) (place += place.empty() ? "at " : ", at ") += from.source;
    else if (!from.module.empty()) (place += place.empty() ? "in " : ", in ") += from.module;
    if (!place.empty()) out.append(" (").append(place).append(")");
    return out;
}

std::vector<value_index> result_values(node const& n) {
    std::vector<value_index> out;
    for (result const& r : n.results) {
        if (r.values.empty() && !r.is_list) out.push_back(no_value);
        out.insert(out.end(), r.values.begin(), r.values.end());
    }
    return out;
}

} // namespace ATON_NAMESPACE::program

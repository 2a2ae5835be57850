// SPDX-License-Identifier: MIT
#include "row_schema.hpp"

#include <algorithm>

#include <aton/aten/function_schema.hpp>
#include <aton/core/counted.hpp>
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::program {

namespace {

using names = std::vector<std::string>;

bool contains(names const& all, std::string_view name) { return std::find(all.begin(), all.end(), name) != all.end(); }

std::string joined(names const& all) {
    std::string out;
    for (std::string const& each : all) out += (out.empty() ? "" : ", ") + (each.empty() ? "an unnamed one" : each);
    return out.empty() ? "none" : out;
}

[[noreturn]] void refuse(program const& p, node const& call, std::string const& what) {
    throw error(describe(p, call) + ": " + what);
}

} // namespace

void require_names(program const& p, node const& call, names const& given, std::string_view schema) {
    names formals;
    bool fits = true;
    aten::schema_argument each;
    for (aten::argument_cursor arguments(schema); arguments.next(each);) {
        formals.emplace_back(each.name);
        fits = fits && (each.has_default || each.type.optional || contains(given, each.name));
    }
    fits = fits && std::all_of(given.begin(), given.end(), [&](auto const& name) { return contains(formals, name); });
    if (fits) return;
    refuse(p,
           call,
           "its row has the arguments " + joined(formals) + ", but the program calls it with " + joined(given) +
               "; write the operator's own schema in the row");
}

void require_writes(program const& p, node const& call, names const& read, names const& written,
                    std::string_view schema) {
    names given = read;
    given.insert(given.end(), written.begin(), written.end());
    require_names(p, call, given, schema);
    aten::schema_argument each;
    for (aten::argument_cursor arguments(schema); arguments.next(each);) {
        if (!each.type.mutates && contains(written, each.name))
            refuse(p,
                   call,
                   "writes to its argument " + std::string(each.name) +
                       ", which its row only reads; mark it with ! in the schema of the row, and return its new value");
        if (each.type.mutates && contains(read, each.name))
            refuse(p,
                   call,
                   "only reads its argument " + std::string(each.name) +
                       ", which its row marks as written; remove the ! from the schema of the row");
    }
}

void require_write_count(program const& p, node const& call, std::size_t written, std::string_view schema) {
    names marked;
    aten::schema_argument each;
    for (aten::argument_cursor arguments(schema); arguments.next(each);)
        if (each.type.mutates) marked.emplace_back(each.name);
    if (marked.size() == written) return;
    refuse(p,
           call,
           "writes to " + counted(written, "argument") + ", but its row marks " + std::to_string(marked.size()) +
               " as written (" + joined(marked) + "); write the operator's own schema in the row");
}

void require_result_count(program const& p, node const& call, std::size_t results, std::string_view schema) {
    auto const declared = static_cast<std::size_t>(aten::return_count(schema));
    if (declared == results) return;
    refuse(p,
           call,
           "has " + counted(results, "result") + ", but its row has " + std::to_string(declared) +
               "; write the operator's own schema in the row");
}

} // namespace ATON_NAMESPACE::program

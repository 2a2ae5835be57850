// SPDX-License-Identifier: MIT
// `aton record-check`: whether files of recorded calls can be read, and which operators they have.
#include "record_check_command.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/counted.hpp>
#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/frontend/calls/read_calls.hpp>

#include "commands.hpp"
#include "model_files.hpp"

namespace aton::tool {

namespace {

struct recorded_operator {
    std::string schema;
    std::string place; ///< of the first call
    std::size_t calls = 0;
    std::size_t by_types = 0; ///< of these, those whose results are compared by dtype and sizes only
};

struct checked_file {
    std::map<std::string, recorded_operator> operators; ///< by overload
    std::size_t calls = 0;
    std::vector<std::string> problems;
};

checked_file check_file(std::string const& path) {
    checked_file out;
    auto const visit = [&](calls::recorded_call const& c) {
        recorded_operator& op =
            out.operators.try_emplace(c.overload, recorded_operator{c.schema, c.place}).first->second;
        if (op.schema != c.schema)
            out.problems.push_back(c.place + ": " + c.overload + " has another schema than at " + op.place +
                                   "; record the calls of one version of the operator");
        ++op.calls;
        ++out.calls;
        if (!c.values) ++op.by_types;
    };
    calls::visit_calls(path, visit, [&](error const& fault) { out.problems.emplace_back(fault.what()); });
    if (out.calls == 0 && out.problems.empty()) out.problems.push_back(path + ": has no calls");
    return out;
}

std::string as_text(std::string const& path, checked_file const& file) {
    std::string out =
        plain(path) + ": " + counted(file.calls, "call") + " of " + counted(file.operators.size(), "operator");
    if (!file.problems.empty()) out += ", " + counted(file.problems.size(), "problem");
    out += '\n';
    for (auto const& [overload, op] : file.operators) {
        out += "    " + plain(overload) + ": " + counted(op.calls, "call");
        if (op.by_types != 0) out += ", " + std::to_string(op.by_types) + " compared by dtype and sizes only";
        out += '\n';
    }
    return out;
}

void write_json(json_writer& out, std::string const& path, checked_file const& file) {
    out.new_line("  ").begin_object().field("file", path).name("operators").begin_array();
    for (auto const& [overload, op] : file.operators)
        out.begin_object()
            .field("overload", overload)
            .field("schema", op.schema)
            .field("calls", op.calls)
            .field("compared_by_types", op.by_types)
            .end_object();
    out.end_array().name("problems").array(file.problems).end_object();
}

} // namespace

int check_records(std::vector<std::string> const& paths, std::string const& format) {
    auto const wanted = [](std::string const& path) { return path.ends_with(".jsonl"); };
    bool const is_json = format == "json";
    int status = 0;
    json_writer out;
    out.begin_array();
    for (model_file const& file : find_files(paths, wanted, ".jsonl file with recorded calls")) {
        checked_file checked;
        try {
            if (!file.fault.empty()) throw error(file.fault);
            checked = check_file(file.path);
        } catch (error const& e) {
            checked.problems.emplace_back(e.what());
        }
        for (std::string const& each : checked.problems) complain(each);
        if (!checked.problems.empty()) status = 1;
        write_json(out, file.path, checked);
        if (!is_json && (checked.calls != 0 || checked.problems.empty())) print_out(as_text(file.path, checked));
    }
    if (is_json) print_out(out.new_line().end_array().text() + '\n');
    return status;
}

} // namespace aton::tool

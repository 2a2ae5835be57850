// SPDX-License-Identifier: MIT
// Helpers of all commands: console output and plugins.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "progress.hpp"
#include "signals.hpp"
#include "system/console.hpp"
#include "system/process.hpp"

namespace aton::tool {

namespace {

thread_local std::size_t warning_count = 0; ///< only the thread that runs a command warns

} // namespace

int guarded(int (*run)(int, char**), int argc, char** argv) {
    system::prepare_streams();
    handle_signals();
    report_crashes();
    return run_reported(run, argc, system::arguments(argc, argv));
}

int run_reported(int (*run)(int, char**), int argc, char** argv) {
    int status = 1;
    warning_count = 0;
    try {
        status = run(argc, argv);
    } catch (std::bad_alloc const&) {
        complain("out of memory");
    } catch (std::exception const& e) {
        complain(e.what());
    } catch (...) {
        complain("unknown error");
    }
    if (std::size_t const shown = std::min(warning_count, max_warnings); shown != warning_count)
        print_note("aton: warnings that are not shown: " + std::to_string(warning_count - shown) + '\n');
    return status;
}

void warn(std::string const& file, std::string const& text) {
    if (++warning_count > max_warnings) return;
    print_note(clipped("aton: warning: " + plain(file) + ": " + plain(text), max_message) + '\n');
}

void complain(std::string_view what) {
    std::string const line = clipped("aton: " + std::string(what), max_message);
    if (thread_console != nullptr) thread_console->fail(line);
    print_note(line + '\n');
}

void complain(std::string_view what, std::vector<unconvertible> const& operators) {
    if (thread_console != nullptr && !operators.empty()) thread_console->refuse(operators);
    complain(what);
}

void print_note(std::string_view text) {
    if (thread_console != nullptr) return thread_console->note(text);
    progress::pause const no_bar;
    std::fwrite(text.data(), 1, text.size(), stderr);
}

void print_out(std::string_view text) {
    if (thread_console != nullptr) return thread_console->print(text);
    progress::pause const no_bar;
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
    if (errno == EPIPE) end_by_closed_pipe();
    throw error("cannot write to standard output: " + std::string(std::strerror(errno)));
}

int exec_sibling(std::string const& program, char** argv) {
    if (thread_console != nullptr)
        throw error(program + ": the library cannot become another program; run the command aton for this");
    std::filesystem::path const path = system::sibling_path(program);
    restore_signals();
    if (!path.empty()) system::become(path, argv);
    throw error("cannot run " + program + ": " + std::strerror(errno) +
                "; it is built next to aton with -DATON_BUILD_RUNTIME=ON");
}

std::string plain(std::string text) { return clipped(std::move(text), std::string::npos); }

std::vector<plugin> load_plugins(std::vector<std::string> const& paths) {
    std::vector<plugin> plugins;
    plugins.reserve(paths.size());
    if (!paths.empty()) limit_rows();
    for (std::string const& path : paths) plugins.push_back(load_plugin(path));
    check_tables(tables_of(plugins));
    return plugins;
}

std::vector<dsl::table_view> tables_of(std::vector<plugin> const& plugins) {
    std::vector<dsl::table_view> tables;
    for (plugin const& each : plugins)
        for (dsl::table_view const& table : each.tables()) tables.push_back(table);
    return tables;
}

} // namespace aton::tool

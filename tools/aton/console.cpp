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

#include <fcntl.h>
#include <unistd.h>

#include "commands.hpp"
#include "progress.hpp"
#include "signals.hpp"

namespace aton::tool {

namespace {

std::size_t warning_count = 0;

int run_guarded(int (*run)(int, char**), int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (std::bad_alloc const&) {
        complain("out of memory");
    } catch (std::exception const& e) {
        complain(e.what());
    } catch (...) {
        complain("unknown error");
    }
    return 1;
}

/// Opens a descriptor for each of stdin, stdout and stderr that is closed, so that none of them becomes that of a file. Using it fails.
void occupy_standard_streams() {
    for (int const each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(each, F_GETFD) < 0) (void)::open("/dev/null", each == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

} // namespace

int guarded(int (*run)(int, char**), int argc, char** argv) {
    occupy_standard_streams();
    handle_signals();
    report_crashes();
    int const status = run_guarded(run, argc, argv);
    if (std::size_t const shown = std::min(warning_count, max_warnings); shown != warning_count)
        complain("warnings that are not shown: " + std::to_string(warning_count - shown));
    return status;
}

void warn(std::string const& file, std::string const& text) {
    if (++warning_count <= max_warnings) complain("warning: " + plain(file) + ": " + plain(text));
}

void complain(std::string_view what) {
    progress::pause const no_bar;
    std::string const line = clipped("aton: " + std::string(what), max_message);
    std::fprintf(stderr, "%s\n", line.c_str());
}

void print_out(std::string_view text) {
    progress::pause const no_bar;
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
    if (errno == EPIPE) end_by_closed_pipe();
    throw error("cannot write to standard output: " + std::string(std::strerror(errno)));
}

int exec_sibling(std::string const& program, char** argv) {
    std::error_code fault;
    std::filesystem::path const self = std::filesystem::read_symlink("/proc/self/exe", fault);
    std::string const path = (self.parent_path() / program).string();
    restore_signals();
    if (!fault) ::execv(path.c_str(), argv);
    throw error("cannot run " + program + ": " + std::strerror(errno) +
                "; it is built next to aton with -DATON_BUILD_RUNTIME=ON");
}

std::string plain(std::string text) { return clipped(std::move(text), std::string::npos); }

std::vector<plugin> load_plugins(std::vector<std::string> const& paths) {
    std::vector<plugin> plugins;
    plugins.reserve(paths.size());
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

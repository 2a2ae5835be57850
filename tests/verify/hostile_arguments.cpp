// SPDX-License-Identifier: MIT
// Archives that call every mapped overload with arguments that no torch program has: each must be exported to a model that ONNX's checker
// accepts, or refused with one short line, within 5 s and 512 MiB.
//
//   verify_hostile_arguments [--only PART] [--rounds N] [--first K] [--seed S] [--seconds N] [--jobs N] [--command ATON] [--keep FILE]
//
// --command: runs `ATON export` for each archive instead of aton::export_file. --keep: also writes the archive to FILE.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aton/core/error.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/onnx/registry.hpp>

#include "../changed_bytes.hpp"
#include "../runtime/hostile_run.hpp"
#include "hostile_program.hpp"
#include "mapped_rows.hpp"

namespace {

using namespace aton::tests;

constexpr int opsets[] = {13, 18, 23, aton::onnx::newest_opset, 7, 9, 11};

constexpr hostile_limits limits{5, std::size_t{4} << 30, std::size_t{512} << 20, 500, false};

/// Temporary files of this process.
class scratch {
public:
    scratch() = default;
    scratch(scratch const&) = delete;
    scratch& operator=(scratch const&) = delete;
    ~scratch() {
        (void)std::remove(archive.c_str());
        (void)std::remove(model.c_str());
    }
    std::string archive = folder() + ".pt2";
    std::string model = folder() + ".onnx";

private:
    static std::string folder() {
        char const* const given = std::getenv("TMPDIR");
        return std::string(given == nullptr ? "/tmp" : given) + "/aton_hostile." + std::to_string(::getpid());
    }
};

/// Runs `aton export`. Throws aton::error with its message if it refuses, std::runtime_error if it crashes or exceeds a limit.
void run_command(std::string const& command, scratch const& files, aton::export_options const& options) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("cannot create a pipe");
    pid_t const process = ::fork();
    if (process == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
        ::close(ends[0]);
        ::alarm(static_cast<unsigned>(limits.seconds)); // survives exec
        std::string const number = std::to_string(options.opset);
        bool const falls_back = options.operators == aton::operator_mode::aten_fallback;
        ::execl(command.c_str(),
                command.c_str(),
                "export",
                files.archive.c_str(),
                "-o",
                files.model.c_str(),
                "--opset",
                number.c_str(),
                "--operators",
                falls_back ? "aten-fallback" : "standard",
                options.optimize ? nullptr : "--no-optimize",
                nullptr);
        ::_exit(127);
    }
    ::close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);)
        if (n > 0) said.append(buffer, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    rusage used{};
    while (::wait4(process, &status, 0, &used) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
        throw std::runtime_error("the command was killed: " + std::string(::strsignal(WTERMSIG(status))));
    if (used.ru_maxrss > static_cast<long>(limits.resident >> 10U))
        throw std::runtime_error("the command used " + std::to_string(used.ru_maxrss >> 10) + " MiB");
    if (WEXITSTATUS(status) == 0) return;
    if (WEXITSTATUS(status) != 1)
        throw std::runtime_error("the command exited with " + std::to_string(WEXITSTATUS(status)));
    while (said.ends_with('\n')) said.pop_back();
    throw aton::error(said);
}

/// Exports and checks. A model that was written but is not accepted is a finding.
void export_one(std::string const& archive, std::string const& command, std::mt19937_64& rng, int opset, bool shown) {
    scratch const files;
    aton::write_file(archive, files.archive);
    aton::export_options options;
    options.opset = opset;
    options.optimize = up_to(rng, 5) != 0;
    if (up_to(rng, 9) == 0) options.operators = aton::operator_mode::aten_fallback;
    try {
        if (!command.empty()) run_command(command, files, options);
        else (void)aton::export_file(files.archive, files.model, options);
    } catch (aton::error const& e) {
        if (shown) std::cout << "refused: " << e.what() << '\n';
        throw;
    }
    try {
        aton::check_model(files.model);
    } catch (aton::error const& e) {
        std::string const said = e.what();
        throw std::runtime_error("ONNX's checker rejects the written model: " + said.substr(0, 600));
    }
}

int run(hostile_options const& options, std::string const& command, std::string const& keep) {
    std::vector<aton::dsl::entry const*> const rows = all_rows();
    hostile_tally const tally = hostile_run(
        "verify_hostile_arguments",
        rows.size(),
        options,
        [&](std::size_t i) { return std::string(rows[i]->overload); },
        [&](std::size_t i, std::uint64_t seed) {
            std::mt19937_64 rng(seed);
            std::string const archive = hostile_program(rows[i]->overload, rows[i]->schema, rng);
            if (!keep.empty()) aton::write_file(archive, keep);
            export_one(archive, command, rng, opsets[seed % std::size(opsets)], options.jobs == 0);
        },
        limits);
    return tally.found == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    try {
        std::string command;
        std::string keep;
        std::vector<char*> rest{words[0]};
        for (int i = 1; i < count; ++i) {
            std::string_view const word = words[i];
            if (word == "--command" && i + 1 < count) command = words[++i];
            else if (word == "--keep" && i + 1 < count) keep = words[++i];
            else rest.push_back(words[i]);
        }
        return run(read_hostile_options(static_cast<int>(rest.size()), rest.data(), 1), command, keep);
    } catch (std::exception const& e) {
        std::cerr << "verify_hostile_arguments: " << e.what() << '\n';
        return 2;
    }
}

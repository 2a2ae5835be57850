// SPDX-License-Identifier: MIT
// abandon_writes() in a process that is writing: no temporary file stays, and files that were there before do.
#include <aton/model_io/weights.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <aton/aton.hpp>

#include "weights_fixture.hpp"

namespace abandon_writes_test {

using namespace aton;
using namespace aton::tests;
using fixture = weights_fixture;

namespace {

/// Writes in a process of its own, which abandons its writes after `blocks` reports of progress. Returns the exit status: 7 if it did, and
/// 8 if the write went on.
int status_of_write(fixture const& f, graph_data const& g, weight_mode mode, int blocks) {
    ::pid_t const child = ::fork();
    if (child == 0) {
        weight_options options = f.options(mode);
        int reports = 0;
        options.progress = [&](std::uint64_t, std::uint64_t) {
            if (++reports != blocks) return;
            std::thread([] {
                abandon_writes();
                std::this_thread::sleep_for(
                    std::chrono::milliseconds(100)); // the other thread must not create or rename a file now
                ::_exit(7);
            }).detach();
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        };
        (void)write_model(g, f.path, options);
        ::_exit(8);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST_CASE("writes that are abandoned leave nothing, and old files stay") {
    fixture const f(20 << 20);
    weights_graph g;
    g.add(stored(dtype::float32, f.mapped.all(), {1000, 5000}, {5000, 1}));
    for (weight_mode mode : {weight_mode::embed, weight_mode::external})
        for (int const blocks : {1, 3, 5}) { // the last one is at the end
            CAPTURE(blocks);
            std::ofstream(f.path) << "older model";
            std::ofstream(f.path + ".data") << "older weights";
            CHECK(status_of_write(f, g.data, mode, blocks) == 7);
            CHECK(slurp(f.path) == "older model");
            CHECK(slurp(f.path + ".data") == "older weights");
            CHECK(f.folder.count() == 3);
        }
}

} // namespace abandon_writes_test

// SPDX-License-Identifier: MIT
// Weights of gigabytes: written with a few megabytes of memory, and beyond protobuf's limit. The source is a sparse file.
#include <aton/model_io/weights.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>

#include "stored_fixture.hpp"

using namespace aton;

namespace {

/// Anonymous memory of this process in KiB.
std::int64_t anonymous_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (std::int64_t n = 0; word == "RssAnon:" && status >> n) return n;
    return -1;
}

/// In the folder of the test, which is on a disk; the temporary folder may be in memory.
struct fixture {
    temporary_folder folder{std::filesystem::canonical("/proc/self/exe").parent_path()};
    std::string source = folder.file("weights.bin");
    std::string path = folder.file("model.onnx");

    /// Zeros without disk blocks, with "end" as the last bytes.
    explicit fixture(std::uint64_t size) {
        std::ofstream out(source, std::ios::binary);
        out.seekp(static_cast<std::streamoff>(size - 3));
        out << "end";
    }
};

std::string tail(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    in.seekg(-3, std::ios::end);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

TEST_CASE("a weight of 1 GiB takes less than 20 MiB of memory in every mode and layout") {
    fixture const f(std::uint64_t{1} << 30);
    mapped_file const mapped(f.source);
    std::int64_t const n = std::int64_t{1} << 14;
    for (weight_mode mode : {weight_mode::embed, weight_mode::external, weight_mode::reference})
        for (bool turned : {false, true}) {
            CAPTURE(static_cast<int>(mode));
            CAPTURE(turned);
            weights_graph g;
            std::vector<std::int64_t> const sizes{n, n};
            std::vector<std::int64_t> const plain{n, 1};
            std::vector<std::int64_t> const columns{1, n};
            g.add(stored(dtype::float32, mapped.all(), sizes, turned ? columns : plain));
            std::int64_t const before = anonymous_memory();
            std::int64_t most = before;
            int calls = 0;
            weight_options const options{mode, {f.source}, {}, [&](std::uint64_t, std::uint64_t) {
                                             most = std::max(most, anonymous_memory());
                                             ++calls;
                                         }};
            weight_report const report = write_model(g.data, f.path, options);
            CHECK(report.bytes == std::uint64_t{1} << 30);
            CHECK(report.rewritten == (turned && mode != weight_mode::reference ? report.bytes : 0));
            CHECK(calls == (mode == weight_mode::reference ? 0 : 256));
            CHECK(before > 0);
            CHECK(std::max(most, anonymous_memory()) - before < 20 * 1024);
        }
}

TEST_CASE("2.3 GiB go into a second file, or stay in place") {
    std::int64_t const n = 300'000'001;
    fixture const f(static_cast<std::uint64_t>(n) * 8 + 640);
    mapped_file const mapped(f.source);
    weights_graph g;
    g.add(stored(dtype::float32, mapped.all(), {3, 50}, {50, 1}, 7));
    g.add(stored(dtype::float64, mapped.all(), {n}, {1}, 80));
    CHECK(write_model(g.data, f.path, {weight_mode::external, {f.source}, {}, {}}).bytes == 8 * std::uint64_t(n) + 600);
    model const m = read_model(f.path);
    REQUIRE(m.external.size() == 1);
    CHECK(m.external[0].offset == 0);
    CHECK(m.external[0].length == 8 * n);
    CHECK(std::filesystem::file_size(f.path + ".data") == 8 * std::uint64_t(n));
    CHECK(tail(f.path + ".data") == "end");
    CHECK_NOTHROW(check_model(f.path));

    (void)write_model(g.data, f.path, {weight_mode::reference, {f.source}, {}, {}});
    model const referring = read_model(f.path);
    REQUIRE(referring.external.size() == 2);
    CHECK(referring.external[1].location == "weights.bin");
    CHECK(referring.external[1].offset == 640);
    CHECK(referring.external[1].length == 8 * n);
    CHECK_NOTHROW(check_model(f.path));
    CHECK_THROWS_WITH_AS((void)write_model(g.data, f.path, {weight_mode::embed, {f.source}, {}, {}}),
                         doctest::Contains("2147483647"),
                         error);
}

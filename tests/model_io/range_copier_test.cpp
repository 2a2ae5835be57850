// SPDX-License-Identifier: MIT
// Copying from file to file if the kernel refuses, copies partially, is interrupted or fails halfway. This program's versions of the
// system calls replace those of the C library.
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/model_io/weights.hpp>

#include "stored_fixture.hpp"

namespace range_copier_test {

using namespace aton;

namespace {

/// The injected fault of one system call.
struct fault {
    int refusal = 0;            ///< errno of every call after `after`
    std::int64_t after = 0;     ///< number of successful calls
    std::size_t max = SIZE_MAX; ///< maximum bytes of one call
    bool interrupted = false;   ///< every other call
    bool ends = false;          ///< returns 0, as at the end of a file
    std::int64_t calls = 0;
    std::int64_t done = 0; ///< bytes

    template <class Call>
    ::ssize_t operator()(std::size_t size, Call const& call) {
        ++calls;
        if (interrupted && calls % 2 == 1) return fail(EINTR);
        if (refusal != 0 && calls > after) return fail(refusal);
        if (ends) return 0;
        ::ssize_t const n = call(std::min(size, max));
        if (n > 0) done += n;
        return n;
    }
    static ::ssize_t fail(int reason) {
        errno = reason;
        return -1;
    }
};

struct kernel_faults {
    fault copy_file_range, into_pipe, out_of_pipe, sendfile;
};
kernel_faults faults; // NOLINT(*-avoid-non-const-global-variables)

} // namespace

extern "C" {
::ssize_t copy_file_range(int in, ::off64_t* in_at, int out, ::off64_t* out_at, std::size_t size, unsigned flags) {
    return faults.copy_file_range(
        size, [&](std::size_t n) { return ::syscall(SYS_copy_file_range, in, in_at, out, out_at, n, flags); });
}
::ssize_t splice(int in, ::off64_t* in_at, int out, ::off64_t* out_at, std::size_t size, unsigned flags) {
    fault& f = in_at != nullptr ? faults.into_pipe : faults.out_of_pipe;
    return f(size, [&](std::size_t n) { return ::syscall(SYS_splice, in, in_at, out, out_at, n, flags); });
}
::ssize_t sendfile64(int out, int in, ::off64_t* at, std::size_t size) noexcept {
    return faults.sendfile(size, [&](std::size_t n) { return ::syscall(SYS_sendfile, out, in, at, n); });
}
}

namespace {

/// In the folder of the test, which is on a disk; the temporary folder may be in memory.
struct fixture {
    temporary_folder folder{std::filesystem::canonical("/proc/self/exe").parent_path()};
    std::string source = folder.file("weights.bin");
    std::string path = folder.file("model.onnx");
    std::string content = noise(5 << 20);

    fixture() {
        faults = {};
        write_source();
    }
    void write_source() const { std::ofstream(source, std::ios::binary) << content; }

    /// The weights of a written model, as they are in the file, and their expected values.
    [[nodiscard]] bool is_right(std::uint64_t position) const {
        mapped_file const mapped(source);
        weights_graph g;
        std::int64_t const n = 500'003;
        g.add(stored(dtype::float32, mapped.span(position, 4 * n), {n}, {1}));
        g.add(stored(dtype::float32, mapped.span(position + 64, 400'000), {1000, 100}, {100, 1}));
        g.add(stored(dtype::float32, mapped.span(position, 4 * n), {600, 800}, {1, 600}));
        g.add(stored(dtype::uint8, mapped.span(position + 1, 70'000), {70'000}, {1}));
        for (weight_mode mode : {weight_mode::embed, weight_mode::external}) {
            (void)write_model(g.data, path, {mode, {source}, {}, {}});
            std::string const got = slurp(mode == weight_mode::embed ? path : path + ".data");
            for (stored_tensor const& t : g.tensors)
                if (got.find(expected(t)) == std::string::npos) return false;
        }
        return folder.count() == 3;
    }
};

constexpr std::uint64_t unaligned = 3077; // an offset in its page that no weight in the model's file has

} // namespace

TEST_CASE("without faults, weights are not read into memory") {
    fixture const f;
    CHECK(f.is_right(unaligned));
    CHECK(faults.out_of_pipe.done > 2 * 500'003 * 4);
    CHECK(faults.sendfile.calls == 0);
    faults = {};
    CHECK(f.is_right(0)); // external: both at the start of a page
    CHECK(faults.copy_file_range.done > 490'000 * 4);
}

TEST_CASE("a method that the kernel or a file system refuses is replaced by the next one, and not tried again") {
    fixture const f;
    for (int const reason : {ENOSYS, EXDEV, EINVAL, EOPNOTSUPP, EPERM, EBADF, EIO, ENOMEM})
        for (int ways = 1; ways != 4; ++ways)
            for (std::int64_t const after : {0, 1}) {
                CAPTURE(reason);
                CAPTURE(ways);
                CAPTURE(after);
                faults = {};
                faults.copy_file_range = {.refusal = reason, .after = after};
                if (ways > 1) faults.into_pipe = {.refusal = reason, .after = after};
                if (ways > 2) faults.sendfile = {.refusal = reason, .after = after};
                CHECK(f.is_right(0));
                CHECK(faults.copy_file_range.calls <= 2 * (after + 1)); // one per written file
                CHECK(f.is_right(unaligned));
                if (after != 0) continue;
                CHECK(faults.copy_file_range.done == 0);
                CHECK((faults.out_of_pipe.done > 0) == (ways < 2));
                CHECK((faults.sendfile.done > 0) == (ways == 2));
            }
}

TEST_CASE("a call that copies nothing, as on some file systems, is not the end of the file") {
    fixture const f;
    faults.copy_file_range.ends = faults.into_pipe.ends = faults.sendfile.ends = true;
    CHECK(f.is_right(0));
    CHECK(f.is_right(unaligned));
}

TEST_CASE("partial copies and interruptions") {
    fixture const f;
    for (std::size_t const most : {std::size_t{4097}, std::size_t{65536}, SIZE_MAX})
        for (bool const interrupted : {false, true}) {
            CAPTURE(most);
            CAPTURE(interrupted);
            fault const slow{.max = most, .interrupted = interrupted};
            faults = {slow, slow, slow, slow};
            CHECK(f.is_right(0));
            CHECK(f.is_right(unaligned));
            faults = {slow, slow, slow, slow};
            faults.into_pipe.refusal = EINVAL;
            CHECK(f.is_right(unaligned));
        }
}

TEST_CASE("bytes that remain in a pipe are read from the file again") {
    fixture const f;
    for (std::int64_t const after : {0, 1, 5}) {
        CAPTURE(after);
        faults = {};
        faults.out_of_pipe = {.refusal = EINVAL, .after = after, .max = 100'000};
        CHECK(f.is_right(unaligned));
        faults = {};
        faults.out_of_pipe.ends = true;
        CHECK(f.is_right(unaligned));
    }
}

TEST_CASE("a truncated source is an error and not a signal, and the old output stays") {
    fixture const f;
    for (bool const turned : {false, true})
        for (int ways = 0; ways != 4; ++ways)
            for (weight_mode mode : {weight_mode::embed, weight_mode::external}) {
                CAPTURE(turned);
                CAPTURE(ways);
                faults = {};
                if (ways > 0) faults.copy_file_range.refusal = ENOSYS;
                if (ways > 1) faults.into_pipe.refusal = ENOSYS;
                if (ways > 2) faults.sendfile.refusal = ENOSYS;
                f.write_source();
                mapped_file const mapped(f.source);
                weights_graph g;
                std::vector<std::int64_t> const strides =
                    turned ? std::vector<std::int64_t>{1, 1000} : std::vector<std::int64_t>{1000, 1};
                g.add(stored(dtype::float32, mapped.all(), {1000, 1000}, strides));
                std::filesystem::remove(f.path + ".data");
                std::ofstream(f.path) << "older model";
                std::filesystem::resize_file(f.source, 1 << 20);
                std::string said;
                try {
                    (void)write_model(g.data, f.path, {mode, {f.source}, {}, {}});
                } catch (error const& e) {
                    said = e.what();
                }
                CHECK(said.find("was truncated while it was read") != std::string::npos);
                CHECK(slurp(f.path) == "older model");
                CHECK(f.folder.count() == 2);
            }
}

} // namespace range_copier_test

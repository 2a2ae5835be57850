// SPDX-License-Identifier: MIT
// What progress writes, to a pipe in place of stderr.
#include "progress.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

using namespace aton::tool;
using std::chrono::milliseconds;

namespace {

/// A pipe, and what was written to it.
class pipe_text {
public:
    pipe_text() {
        REQUIRE(::pipe2(ends_, O_CLOEXEC) == 0);
        ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    }
    ~pipe_text() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    [[nodiscard]] int file() const { return ends_[1]; }
    [[nodiscard]] std::string take() const {
        std::string out(1 << 16, '\0');
        ::ssize_t const n = ::read(ends_[0], out.data(), out.size());
        out.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
        return out;
    }
    /// Waits for text that has `part`.
    [[nodiscard]] std::string until(std::string const& part) const {
        std::string all;
        for (int i = 0; i != 1000 && all.find(part) == std::string::npos; ++i) {
            std::this_thread::sleep_for(milliseconds(5));
            all += take();
        }
        return all;
    }

private:
    int ends_[2]{};
};

progress_style log_style(int file, milliseconds first) { return {true, false, file, first, first, milliseconds(1000)}; }
progress_style bar_style(int file) { return {true, true, file, milliseconds(1), milliseconds(1), milliseconds(1)}; }

} // namespace

TEST_CASE("short work writes nothing") {
    pipe_text const to;
    for (bool const is_terminal : {false, true}) {
        progress shown({true, is_terminal, to.file(), milliseconds(10000), milliseconds(1), milliseconds(1)});
        shown.stage("model.pt2: reading");
        shown.step(3, 4, "mappings");
    }
    CHECK(to.take().empty());
}

TEST_CASE("nothing is shown on request") {
    pipe_text const to;
    {
        progress shown({false, true, to.file(), milliseconds(0), milliseconds(1), milliseconds(1)});
        shown.step(3, 4, "mappings");
        std::this_thread::sleep_for(milliseconds(20));
    }
    CHECK(to.take().empty());
}

TEST_CASE("a log has lines, fewer and fewer of them") {
    pipe_text const to;
    progress shown(log_style(to.file(), milliseconds(50)));
    shown.stage("model.pt2: writing");
    shown.step_bytes(221'000'000, 498'000'000);
    CHECK(to.until("\n") == "aton: model.pt2: writing: 221.0 MB of 498.0 MB, 0 s\n");
    shown.step(17, 1256, "mappings");
    CHECK(to.until("\n") == "aton: model.pt2: writing: 17 of 1256 mappings, 0 s\n");
    shown.stage("bad\nname\033[31m");
    CHECK(to.until("\n") == "aton: bad name [31m: 0 s\n"); // after 50, 100 and 200 ms
    std::this_thread::sleep_for(milliseconds(100));
    CHECK(to.take().empty());
}

TEST_CASE("a bar is at most as long as a line, and is removed") {
    pipe_text const to; // of unknown width: 80 columns
    {
        progress shown(bar_style(to.file()));
        shown.step(1, 4, "files");
        std::string text = to.until("files");
        CHECK(text.find("[#######                       ]  25 %, 1 of 4 files, 0 s") != std::string::npos);
        shown.stage(std::string(300, 'x') + "ä.pt2");
        text = to.until("xä.pt2 0 s");
        CHECK(text.find("xä.pt2 0 s\033[K") != std::string::npos);
        shown.step(4, 4, "files");
        text = to.until("100 %");
        std::size_t const start = text.rfind('\r', text.find("100 %"));
        REQUIRE(start != std::string::npos);
        std::size_t const end = text.find("\033[K", start);
        CHECK(end - start - 1 == 80); // 79 characters, one of which has two bytes
        CHECK(text.substr(start, end - start).find("ä.pt2 [#") != std::string::npos);
        shown.step(9, 4, "files"); // more than all
        CHECK(to.until("100 %").find("4 of 4") != std::string::npos);
    }
    CHECK(to.take().ends_with("\r\033[K"));
}

TEST_CASE("a bar makes way for what is printed") {
    pipe_text const to;
    progress shown(bar_style(to.file()));
    shown.step(1, 4, "files");
    (void)to.until("files");
    {
        progress::pause const no_bar;
        CHECK(to.take().ends_with("\r\033[K"));
        std::this_thread::sleep_for(milliseconds(20));
        CHECK(to.take().empty());
    }
    CHECK(to.until("files").find("1 of 4 files") != std::string::npos);
}

TEST_CASE("one of several objects is shown") {
    pipe_text const to;
    progress shown(bar_style(to.file()));
    progress other(bar_style(to.file()));
    other.stage("other");
    shown.stage("shown");
    CHECK(to.until("shown").find("other") == std::string::npos);
}

TEST_CASE("numbers are short") {
    CHECK(size_text(999) == "999 bytes");
    CHECK(size_text(1000) == "1.00 kB");
    CHECK(size_text(12'345'678) == "12.3 MB");
    CHECK(size_text(7'000'000'000) == "7.00 GB");
    CHECK(time_text(std::chrono::microseconds(66'800)) == "66.8 ms");
    CHECK(time_text(std::chrono::milliseconds(1250)) == "1.25 s");
}

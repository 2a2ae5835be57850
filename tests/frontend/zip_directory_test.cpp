// SPDX-License-Identifier: MIT
// The reader of ZIP directories: archives of torch.export.save and other writers, and archives with one false field each.
#include "frontend/files/zip_directory.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "zip_writer.hpp"

namespace zip_directory_test {

using aton::files::zip_directory;
using namespace aton::tests;
using namespace std::string_literals;

namespace {

constexpr std::string_view contents = "six + seven is 13";

zip_writer sample(zip_options options = {}) {
    zip_writer out(std::move(options));
    out.add("m/first", contents).add("m/empty", "").add("m/.hidden/last.bin", std::string(200, '\3'));
    return out;
}

std::string error_message(std::string const& bytes) {
    try {
        zip_directory const d(bytes, "a.zip");
    } catch (aton::error const& e) {
        std::string what = e.what();
        CHECK(what.starts_with("a.zip: "));
        CHECK(what.find('\n') == std::string::npos);
        return what;
    }
    return {};
}

void check_contents(std::string const& bytes) {
    zip_directory const d(bytes, "a.zip");
    REQUIRE(d.members().size() == 3);
    CHECK(d.root() == "m/");
    CHECK(d.stored(*d.find("m/first")) == contents);
    CHECK(d.stored(*d.find("m/empty")).empty());
    CHECK(d.stored(*d.find("m/.hidden/last.bin")) == std::string(200, '\3'));
    CHECK(d.find("m/firs") == nullptr);
    CHECK(d.find("m/first\0"s) == nullptr);
    CHECK(d.find("") == nullptr);
}

} // namespace

TEST_CASE("archives in every legal way of writing them") {
    for (bool const follow : {false, true})
        for (bool const fields : {false, true})
            for (bool const end64 : {false, true})
                for (std::size_t const alignment : {1U, 64U, 17U}) {
                    zip_options o;
                    o.sizes_follow = follow;
                    o.zip64_fields = fields;
                    o.zip64_end = end64;
                    o.alignment = alignment;
                    check_contents(sample(o).finish());
                    o.only_zip64_end = end64;
                    o.comment = "with a comment, PK\5\6 in it";
                    o.entry_extra = "UT\5\0\1\2\3\4\5"s;
                    o.entry_comment = "about this one";
                    check_contents(sample(o).finish());
                }
}

TEST_CASE("a root is the folder of the first member") {
    CHECK(zip_directory(zip_writer().add("a", "").finish(), "z").root().empty());
    std::string const bytes = zip_writer().add("x y/z/a", "").add("b/c", "").finish();
    CHECK(zip_directory(bytes, "z").root() == "x y/");
}

TEST_CASE("members that are compressed or encrypted are refused by name when they are asked for, not before") {
    zip_writer w;
    w.add("m/plain", contents).add("m/squeezed", "\3\1", 8).add("m/secret", "x", 0, 1).add("m/aes", "x", 99, 1);
    std::string const bytes = w.finish();
    zip_directory const d(bytes, "a.zip");
    CHECK(d.stored(*d.find("m/plain")) == contents);
    CHECK_THROWS_WITH_AS((void)d.stored(*d.find("m/squeezed")),
                         doctest::Contains("a.zip: member 'm/squeezed' is compressed (method 8)"),
                         aton::error);
    CHECK_THROWS_WITH_AS(
        (void)d.stored(*d.find("m/secret")), doctest::Contains("'m/secret' is encrypted"), aton::error);
    CHECK_THROWS_WITH_AS((void)d.stored(*d.find("m/aes")), doctest::Contains("'m/aes' is encrypted"), aton::error);
}

TEST_CASE("archives with one false number") {
    struct falsified {
        char const* field;
        std::function<void(std::string&, zip_writer const&)> falsify;
        char const* expected;
    };
    auto const first = [](zip_writer const& w) { return w.of("m/first"); };
    std::vector<falsified> const cases = {
        // The end of the archive.
        {"other disk", [](auto& b, auto& w) { patch(b, w.end + 4, 2, 1); }, "multi-part"},
        {"directory on another disk", [](auto& b, auto& w) { patch(b, w.end + 6, 2, 3); }, "multi-part"},
        {"members on this disk", [](auto& b, auto& w) { patch(b, w.end + 8, 2, 2); }, "multi-part"},
        {"number of members", [](auto& b, auto& w) { patch(b, w.end + 8, 4, 0x00040004); }, "contradicts"},
        {"directory size", [](auto& b, auto& w) { patch(b, w.end + 12, 4, 46); }, "contradicts"},
        {"directory offset", [](auto& b, auto& w) { patch(b, w.end + 16, 4, 0); }, "contradicts"},
        {"comment that is not there", [](auto& b, auto& w) { patch(b, w.end + 20, 2, 1); }, "without an end record"},
        {"no signature", [](auto& b, auto& w) { b[w.end] = 'Q'; }, "without an end record"},
        {"bytes after the end", [](auto& b, auto&) { b += '\0'; }, "without an end record"},
        // The ZIP64 end of the archive.
        {"no locator", [](auto& b, auto& w) { b[w.locator] = 'Q'; }, "not where the end"},
        {"locator's disk", [](auto& b, auto& w) { patch(b, w.locator + 4, 4, 7); }, "multi-part"},
        {"locator's disks", [](auto& b, auto& w) { patch(b, w.locator + 16, 4, 2); }, "multi-part"},
        {"locator far away", [](auto& b, auto& w) { patch(b, w.locator + 8, 8, ~0ULL); }, "contradicts"},
        {"locator just too far", [](auto& b, auto& w) { patch(b, w.locator + 8, 8, w.end64 + 1); }, "contradicts"},
        {"locator at the start", [](auto& b, auto& w) { patch(b, w.locator + 8, 8, 0); }, "contradicts"},
        {"ZIP64 length", [](auto& b, auto& w) { patch(b, w.end64 + 4, 8, 45); }, "contradicts"},
        {"ZIP64 length of everything", [](auto& b, auto& w) { patch(b, w.end64 + 4, 8, ~0ULL - 11); }, "contradicts"},
        {"ZIP64 disk", [](auto& b, auto& w) { patch(b, w.end64 + 16, 4, 1); }, "contradicts"},
        {"ZIP64 disk of the directory", [](auto& b, auto& w) { patch(b, w.end64 + 20, 4, 1); }, "contradicts"},
        {"ZIP64 members here", [](auto& b, auto& w) { patch(b, w.end64 + 24, 8, 2); }, "contradicts"},
        {"ZIP64 members", [](auto& b, auto& w) { patch(b, w.end64 + 32, 8, 2); }, "contradicts"},
        {"ZIP64 size", [](auto& b, auto& w) { patch(b, w.end64 + 40, 8, 1ULL << 63U); }, "contradicts"},
        {"ZIP64 offset", [](auto& b, auto& w) { patch(b, w.end64 + 48, 8, 1ULL << 63U); }, "contradicts"},
        // The directory.
        {"no entry", [](auto& b, auto& w) { b[w.directory] = 'Q'; }, "entry 0 of the ZIP directory is damaged"},
        {"no second entry", [](auto& b, auto& w) { b[w.of("m/empty").entry] = 'Q'; }, "entry 1 of the ZIP directory"},
        {"name longer than the directory",
         [&](auto& b, auto& w) { patch(b, first(w).entry + 28, 2, 0xffff); },
         "entry 0"},
        {"extra longer than the directory",
         [&](auto& b, auto& w) { patch(b, first(w).entry + 30, 2, 0xfff0); },
         "entry 0"},
        {"comment longer than the directory",
         [&](auto& b, auto& w) { patch(b, first(w).entry + 32, 2, 0xffff); },
         "entry 0"},
        {"comment that swallows an entry",
         [&](auto& b, auto& w) {
             patch(b, first(w).entry + 32, 2, w.of("m/.hidden/last.bin").entry - w.of("m/empty").entry);
         },
         "fewer members than the end record says"},
        {"member on another disk",
         [&](auto& b, auto& w) { patch(b, first(w).entry + 34, 2, 1); },
         "is in another part"},
        {"size without ZIP64",
         [&](auto& b, auto& w) { patch(b, first(w).entry + 24, 4, 0xffffffff); },
         "no ZIP64 field"},
        {"offset without ZIP64",
         [&](auto& b, auto& w) { patch(b, first(w).entry + 42, 4, 0xffffffff); },
         "no ZIP64 field"},
        {"disk without ZIP64", [&](auto& b, auto& w) { patch(b, first(w).entry + 34, 2, 0xffff); }, "no ZIP64 field"},
        {"two sizes",
         [&](auto& b, auto& w) { patch(b, first(w).entry + 24, 4, 18); },
         "compressed and uncompressed sizes differ"},
        {"sizes up to the directory",
         [&](auto& b, auto& w) {
             patch(b, first(w).entry + 20, 4, w.directory - first(w).data);
             patch(b, first(w).entry + 24, 4, w.directory - first(w).data);
         },
         "overlap"},
        {"sizes beyond the directory",
         [&](auto& b, auto& w) {
             patch(b, w.of("m/.hidden/last.bin").entry + 20, 4, w.directory);
             patch(b, w.of("m/.hidden/last.bin").entry + 24, 4, w.directory);
         },
         "'m/.hidden/last.bin' is outside the file"},
        {"offset beyond the directory",
         [](auto& b, auto& w) { patch(b, w.of("m/.hidden/last.bin").entry + 42, 4, w.directory - 29); },
         "'m/.hidden/last.bin' is outside"},
        {"offset of another member",
         [&](auto& b, auto& w) { patch(b, first(w).entry + 42, 4, w.of("m/empty").header); },
         "another name"},
        {"offset into its name",
         [&](auto& b, auto& w) { patch(b, first(w).entry + 42, 4, 5); },
         "does not start where"},
        // Local headers.
        {"no local header", [&](auto& b, auto& w) { b[first(w).header] = 'Q'; }, "does not start where"},
        {"local name", [&](auto& b, auto& w) { b[first(w).header + 31] = 'M'; }, "another name"},
        {"local name length", [&](auto& b, auto& w) { patch(b, first(w).header + 26, 2, 6); }, "another name"},
        {"local extra length",
         [&](auto& b, auto& w) { patch(b, first(w).header + 28, 2, 0xffff); },
         "outside the file"},
        {"local method",
         [&](auto& b, auto& w) { patch(b, first(w).header + 8, 2, 8); },
         "another compression or encryption in its local header"},
        {"local encryption",
         [&](auto& b, auto& w) { patch(b, first(w).header + 6, 2, 0x0809); },
         "another compression or encryption in its local header"},
        {"local size", [](auto& b, auto& w) { patch(b, w.of("m/empty").header + 18, 4, 1); }, "another size"},
    };
    for (falsified const& l : cases) {
        CAPTURE(l.field);
        zip_writer w = sample();
        std::string bytes = w.finish();
        l.falsify(bytes, w);
        CHECK_MESSAGE(error_message(bytes).find(l.expected) != std::string::npos, error_message(bytes));
    }
}

TEST_CASE("wrong member counts, without a ZIP64 end record that contradicts them") {
    zip_options o;
    o.zip64_end = false;
    o.entry_comment = "so that four could fit where three are";
    for (unsigned const count : {2U, 4U, 0xffffU}) {
        zip_writer w = sample(o);
        std::string bytes = w.finish();
        patch(bytes, w.end + 8, 2, count);
        patch(bytes, w.end + 10, 2, count);
        CHECK(error_message(bytes).find(count == 2   ? "more members than the end record says"
                                        : count == 4 ? "fewer members than the end record says"
                                                     : "too small for its number") != std::string::npos);
    }
    zip_options wide;
    wide.only_zip64_end = true;
    zip_writer w = sample(wide);
    std::string bytes = w.finish();
    patch(bytes, w.end64 + 24, 8, ~0ULL);
    patch(bytes, w.end64 + 32, 8, ~0ULL);
    CHECK(error_message(bytes).find("too small for its number") != std::string::npos);
}

TEST_CASE("a directory without members, or at another offset") {
    CHECK(error_message(zip_writer().finish()).find("without members") != std::string::npos);
    zip_options o;
    o.zip64_end = false;
    zip_writer w = sample(o);
    std::string const bytes = w.finish();
    for (std::uint64_t const offset : {std::uint64_t{0},
                                       std::uint64_t{w.directory - 1},
                                       std::uint64_t{w.directory + 1},
                                       std::uint64_t{0xfffffffe}}) {
        std::string bent = bytes;
        patch(bent, w.end + 16, 4, offset);
        CHECK(error_message(bent).find("not where the end") != std::string::npos);
    }
    CHECK(error_message("prepended" + bytes).find("not where the end") != std::string::npos);
}

TEST_CASE("ZIP64 fields that are short, truncated or far away") {
    zip_options o;
    o.zip64_fields = true;
    zip_writer w = sample(o);
    std::string const bytes = w.finish();
    std::size_t const extra = w.of("m/first").entry + 46 + 7;
    auto const with = [&](std::size_t at, int width, std::uint64_t number) {
        std::string bent = bytes;
        patch(bent, at, width, number);
        return error_message(bent);
    };
    CHECK(with(extra + 2, 2, 16).find("no ZIP64 field") != std::string::npos);
    CHECK(with(extra + 2, 2, 25).find("damaged extra field") != std::string::npos);
    CHECK(with(extra, 2, 2).find("no ZIP64 field") != std::string::npos);
    CHECK(with(extra + 4, 8, 18).find("compressed and uncompressed sizes differ") != std::string::npos);
    CHECK(with(extra + 20, 8, ~0ULL).find("outside the file") != std::string::npos);
    CHECK(with(extra + 20, 8, ~0ULL - 20).find("outside the file") != std::string::npos);
    for (std::size_t const size : {~std::size_t{0}, ~std::size_t{0} - 100, std::size_t{1} << 63U, bytes.size()}) {
        std::string bent = bytes;
        patch(bent, extra + 4, 8, size);
        patch(bent, extra + 12, 8, size);
        CHECK(error_message(bent).find("'m/first' is outside the file") != std::string::npos);
    }
}

TEST_CASE("overlapping members: one inside another, one record under two names") {
    zip_writer inner;
    inner.add("m/b", "payload");
    std::string const outside = inner.finish().substr(0, inner.directory);
    zip_writer w;
    w.add("m/a", outside);
    w.claim("m/b", w.of("m/a").data, 7);
    CHECK(error_message(w.finish()) == "a.zip: members 'm/a' and 'm/b' overlap");
    zip_writer twice;
    twice.add("m/a", "payload");
    twice.claim("m/a", 0, 7);
    CHECK(error_message(twice.finish()) == "a.zip: members 'm/a' and 'm/a' overlap");
    CHECK(error_message(zip_writer().add("m/a", "1").add("m/b", "2").add("m/a", "3").finish()) ==
          "a.zip: duplicate member 'm/a'");
}

TEST_CASE("names that leave the archive or that no file can have") {
    for (std::string const& name : {"../a"s, "m/../a"s, "m/.."s, ".."s, "/etc/passwd"s, "m\\a"s, "m/a\0b"s, ""s}) {
        CAPTURE(name);
        std::string const what = error_message(zip_writer().add("m/ok", "1").add(name, "2").finish());
        CHECK(what.find("name") != std::string::npos);
    }
    for (std::string const& name : {"..."s, "m/..a"s, "m/a.."s, "m/"s, "m/\xc3\xa9"s, std::string(65535, 'n')})
        CHECK(error_message(zip_writer().add("m/ok", "1").add(name, "").finish()).empty());
    CHECK(error_message(zip_writer().add("m/\n\x1b[31m", "1").add("m/\n\x1b[31m", "2").finish()) ==
          R"(a.zip: duplicate member 'm/\x0a\x1b[31m')");
}

TEST_CASE("many members") {
    zip_options o;
    o.alignment = 1;
    zip_writer w(o);
    for (int i = 0; i != 60'000; ++i) w.add("m/" + std::to_string(i), "");
    std::string const bytes = w.finish();
    zip_directory const d(bytes, "a.zip");
    CHECK(d.members().size() == 60'000);
    CHECK(d.find("m/59999") != nullptr);
    CHECK(d.find("m/60000") == nullptr);
}

TEST_CASE("an archive truncated at every byte") {
    std::string const bytes = sample().finish();
    REQUIRE(error_message(bytes).empty());
    for (std::size_t n = 0; n != bytes.size(); ++n) {
        CAPTURE(n);
        CHECK_FALSE(error_message(bytes.substr(0, n)).empty());
    }
}

} // namespace zip_directory_test

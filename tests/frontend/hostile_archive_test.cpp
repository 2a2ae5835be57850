// SPDX-License-Identifier: MIT
// Damaged or malicious archives of torch.export.save: each is refused in exactly one line.
// ATON_FUZZ_ROUNDS (default 3000) is the number of mutated archives.
#include <aton/frontend/pt2/archive.hpp>

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "pickle_writer.hpp"
#include "samples.hpp"

namespace hostile_archive_test {

using namespace aton::tests;
using namespace std::string_literals;
using aton::pt2::archive;
using aton::pt2::tensor_role;

namespace {

/// The error message for the only weight; empty if it can be read.
std::string weight_error(std::string_view bytes, std::string_view name = "w") {
    try {
        archive const a = archive::from_memory(bytes, "hostile.pt2");
        (void)dense_bytes(a.tensor("", tensor_role::weight, name));
    } catch (aton::error const& e) {
        check_message(e.what());
        return e.what();
    }
    return {};
}

void check_weight_refused(std::string_view bytes, std::string_view expected) {
    std::string const what = weight_error(bytes);
    CHECK_MESSAGE(what.find(expected) != std::string::npos, what << " should have: " << expected);
}

void check_refused(std::string_view bytes, std::string_view expected) {
    std::string const what = error_message(bytes);
    CHECK_MESSAGE(what.find(expected) != std::string::npos, what << " should have: " << expected);
}

/// The container of torch 2.7 around a pickle and a record of 48 bytes.
std::string old_archive(std::string_view pickle, std::string_view version = "8.7",
                        zip_options const& inner_options = {}) {
    zip_writer inner(inner_options);
    std::string numbers;
    for (std::uint64_t i = 0; i != 12; ++i) append_number(numbers, 200 + i, 4);
    inner.add("archive/data.pkl", pickle).add("archive/byteorder", "little").add("archive/data/0", numbers);
    inner.add("archive/data/void", "").add("archive/data/packed", "12345678", 8);
    zip_options o;
    o.alignment = 1;
    o.zip64_end = false;
    zip_writer out(o);
    out.add("serialized_exported_program.json", "{\"old\": 1}").add("serialized_state_dict.pt", inner.finish());
    out.add("serialized_constants.pt", "").add("version", version);
    return out.finish();
}

} // namespace

TEST_CASE("schema versions of the old container") {
    std::string const pickle = pickled::proto + pickled::empty_dict + pickled::stop;
    for (char const* const version : {"5.3", "7.3", "8.2", "8.7\n", "8.99"}) {
        std::string const bytes = old_archive(pickle, version);
        archive const a = archive::from_memory(bytes, "a.pt2");
        CHECK(a.models() == std::vector<std::string>{"model"});
        CHECK(a.program_json("") == "{\"old\": 1}");
    }
    for (char const* const version : {"4.1", "9.0", "8", "80.1", "8.", "", "x.y"})
        check_refused(old_archive(pickle, version), "has schema version '");
}

TEST_CASE("weights of the old container that do not fit their storage") {
    using namespace pickled;
    auto const with = [](std::string const& what) { return old_archive(entry("w", what)); };
    std::string const ints = storage("IntStorage", "0", 12);
    CHECK(weight_error(with(tensor(ints, 11, {}, {}))).empty());
    CHECK(weight_error(with(tensor(ints, 0, {3, 4}, {1, 3}))).empty());
    CHECK(weight_error(with(tensor(storage("ByteStorage", "0", 5), 4, {1}, {1}))).empty());
    check_weight_refused(with(tensor(storage("ByteStorage", "0", 5), 5, {1}, {1})),
                         "element 5 is outside its record 'archive/data/0' of 5 bytes");
    check_weight_refused(with(tensor(ints, 12, {}, {})), "element 12 is outside");
    check_weight_refused(with(tensor(ints, 0, {13}, {1})), "element 12 is outside");
    check_weight_refused(with(tensor(ints, -1, {2}, {1})), "storage offset -1 is negative");
    check_weight_refused(with(tensor(storage("IntStorage", "0", 13), 0, {2}, {1})),
                         "its storage has 52 bytes, but its record 'archive/data/0' has only 48");
    check_weight_refused(with(tensor(storage("IntStorage", "1", 12), 0, {2}, {1})),
                         "'archive/data/1' is missing: saved without data");
    check_weight_refused(with(tensor(storage("IntStorage", "../0", 12), 0, {2}, {1})), "is missing");
    check_weight_refused(with(tensor(storage("IntStorage", "void", 12), 0, {2}, {1})), "is empty: saved without data");
    check_weight_refused(with(tensor(storage("ByteStorage", "packed", 8), 0, {2}, {1})),
                         "'archive/data/packed' is compressed");
    CHECK(weight_error(with(tensor(storage("IntStorage", "void", 0), 0, {2, 0}, {1, 1}))).empty());
    check_weight_refused(old_archive(""), "the pickle is truncated at byte 0");
    check_weight_refused(with(call("os", "system", tuple({text("true")}))),
                         "member 'serialized_state_dict.pt': the pickle at byte");
}

TEST_CASE("a torch.save file inside an archive that is not one") {
    auto const with = [](std::string_view saved) {
        zip_writer out;
        out.add("serialized_exported_program.json", "{}").add("serialized_state_dict.pt", saved).add("version", "8.2");
        return out.finish();
    };
    check_weight_refused(with("\x80\2}."s), "is not a ZIP file of torch.save");
    check_weight_refused(with("PK\3\4"s), "without an end record");
    check_weight_refused(with(zip_writer().add("archive/data/0", "1").finish()), "has no data.pkl");
    check_weight_refused(
        with(zip_writer().add("archive/data.pkl", "\x80\2}.").add("archive/byteorder", "big").finish()),
        "is big-endian");
    check_weight_refused(with(zip_writer().add("archive/data.pkl", "\3\1", 8).finish()),
                         "'archive/data.pkl' is compressed");
    check_weight_refused(with(zip_writer().add("../data.pkl", "").finish()),
                         "'serialized_state_dict.pt': member '../data.pkl' has '..'");
    check_weight_refused(with(""), "no weight or constant 'w'");
    zip_writer packed;
    packed.add("serialized_exported_program.json", "{}").add("serialized_state_dict.pt", "xx", 8).add("version", "8.2");
    check_weight_refused(packed.finish(), "'serialized_state_dict.pt' is compressed");
}

TEST_CASE("sizes, strides and offsets, right and wrong") {
    struct one {
        char const *sizes, *strides, *offset, *expected; // empty: accepted
    };
    for (one const& o : {one{"2,3", "3,1", "0", ""},
                         {"3,2", "1,3", "0", ""},
                         {"", "", "5", ""},
                         {"5,2,2", "0,1,2", "1", ""},
                         {"1,6", "9223372036854775807,1", "0", ""},
                         {"0", "1", "9", ""},
                         {"4,0,7", "1,1,1", "1000", ""},
                         {"7", "1", "0", "element 6 is outside its record 'm/data/weights/weight_0' of 24 bytes"},
                         {"", "", "6", "element 6 is outside"},
                         {"2", "6", "0", "element 6 is outside"},
                         {"2,2", "4,1", "1", "element 6 is outside"},
                         {"2,3", "3", "0", "2 sizes, but 1 strides"},
                         {"-1", "1", "0", "size -1 is negative"},
                         {"2,-3", "1,1", "0", "size -3 is negative"},
                         {"2", "-1", "1", "stride -1 is negative"},
                         {"0", "-1", "0", "stride -1 is negative"},
                         {"2", "1", "-1", "storage offset -1 is negative"},
                         {"4294967296,4294967296", "0,0", "0", "more than 2^63 bytes"},
                         {"2305843009213693952", "0", "0", "more than 2^63 bytes"},
                         {"4294967296,4294967296,0", "0,0,0", "0", "more than 2^63 bytes"},
                         {"0,4294967296,4294967296", "0,0,0", "0", "more than 2^63 bytes"},
                         {"3", "9223372036854775807", "0", "span more than 2^63"},
                         {"2,2", "9223372036854775807,1", "0", "span more than 2^63"},
                         {"2", "9223372036854775807", "9223372036854775807", "span more than 2^63"},
                         {"2", "9223372036854775807", "0", "element 9223372036854775807 is outside"},
                         {"1024,1024,1024", "0,0,0", "0", "expands 24 bytes to more than 1 GiB"}}) {
        CAPTURE(o.sizes);
        CAPTURE(o.strides);
        std::string const what = weight_error(archive_with_weight(tensor_meta(o.sizes, o.strides, o.offset)));
        if (*o.expected == '\0') CHECK_MESSAGE(what.empty(), what);
        else CHECK_MESSAGE(what.find(o.expected) != std::string::npos, what);
    }
    std::string ones = "1";
    std::string many = "1";
    for (int i = 1; i != 65; ++i) many += ",1";
    for (int i = 1; i != 64; ++i) ones += ",1";
    CHECK(weight_error(archive_with_weight(tensor_meta(ones, ones))).empty());
    check_weight_refused(archive_with_weight(tensor_meta(many, many)), "more than 64 dimensions");
}

TEST_CASE("dtypes and layouts of the export schema") {
    std::map<int, aton::dtype> const known = {{1, aton::dtype::uint8},
                                              {2, aton::dtype::int8},
                                              {3, aton::dtype::int16},
                                              {4, aton::dtype::int32},
                                              {5, aton::dtype::int64},
                                              {6, aton::dtype::float16},
                                              {7, aton::dtype::float32},
                                              {8, aton::dtype::float64},
                                              {9, aton::dtype::complex32},
                                              {10, aton::dtype::complex64},
                                              {11, aton::dtype::complex128},
                                              {12, aton::dtype::bool_},
                                              {13, aton::dtype::bfloat16},
                                              {28, aton::dtype::uint16},
                                              {29, aton::dtype::float8_e4m3fn},
                                              {30, aton::dtype::float8_e5m2},
                                              {31, aton::dtype::float8_e4m3fnuz},
                                              {32, aton::dtype::float8_e5m2fnuz},
                                              {33, aton::dtype::float8_e8m0},
                                              {34, aton::dtype::uint32},
                                              {35, aton::dtype::uint64}};
    for (int code = -2; code != 60; ++code) {
        CAPTURE(code);
        std::string const bytes = archive_with_weight(tensor_meta("1", "1", "0", code));
        auto const found = known.find(code);
        CHECK(aton::pt2::dtype_of_scalar_type(code) == (found == known.end() ? aton::dtype::undefined : found->second));
        if (found == known.end()) check_weight_refused(bytes, "has dtype number " + std::to_string(code));
        else CHECK(archive::from_memory(bytes, "a").tensor("", tensor_role::weight, "w").type == found->second);
    }
    for (char const* const layout : {"0Unknown", "1SparseCoo", "2SparseCsr", "6_mkldnn"})
        check_weight_refused(archive_with_weight(tensor_meta("1", "1", "0", 7, layout[0] - '0')),
                             "has layout "s + (layout + 1));
    for (int const layout : {-1, 8})
        check_weight_refused(archive_with_weight(tensor_meta("1", "1", "0", 7, layout)),
                             "has layout " + std::to_string(layout));
}

TEST_CASE("records that are missing, empty, compressed, or not for tensors") {
    std::string const six = tensor_meta("6", "1");
    auto const with_entry = [](std::string const& entry) {
        return archive_with_config(R"({"config": {)" + entry + "}}");
    };
    CHECK(weight_error(with_entry(config_entry("w", "weight_0", six))).empty());
    check_weight_refused(with_entry(config_entry("w", "weight_9", six)),
                         "is in record 'm/data/weights/weight_9', which is not in the archive");
    check_weight_refused(with_entry(config_entry("w", "../../models/model.json", six)), "which is not in the archive");
    check_weight_refused(with_entry(config_entry("w", "", six)), "which is not in the archive");
    CHECK(weight_error(with_entry(config_entry("w", "weight_1", tensor_meta("0", "1")))).empty());
    check_weight_refused(with_entry(R"("w": {"path_name": "weight_0", "use_pickle": true, "tensor_meta": null})"),
                         "tensor 'w': is pickled");
    check_weight_refused(with_entry(R"("w": {"path_name": "weight_0", "use_pickle": false, "tensor_meta": null})"),
                         "it is an object, not a tensor");
    check_weight_refused(with_entry(config_entry("v", "weight_0", six)), "no weight or constant 'w'");
    zip_writer packed;
    packed.add("m/data/weights/weight_0", "123456", 8);
    packed.add("m/data/weights/model_weights_config.json",
               R"({"config": {)" + config_entry("w", "weight_0", six) + "}}");
    add_frame(packed);
    check_weight_refused(packed.finish(), "member 'm/data/weights/weight_0' is compressed");
}

TEST_CASE("weights without numbers share a record, and are told apart") {
    std::string const bytes =
        archive_with_config(R"({"config": {)" + config_entry("a", "weight_1", tensor_meta("6,5", "5,1")) + ", " +
                            config_entry("b", "weight_1", tensor_meta("6,5", "5,1")) + ", " +
                            config_entry("empty", "weight_1", tensor_meta("0,5", "5,1")) + ", " +
                            config_entry("w", "weight_0", tensor_meta("6", "1")) + "}}");
    archive const file = archive::from_memory(bytes, "graph_only.pt2");
    aton::stored_tensor const a = file.tensor("", tensor_role::weight, "a");
    aton::stored_tensor const b = file.tensor("", tensor_role::weight, "b");
    CHECK(a.is_absent());
    CHECK(b.is_absent());
    CHECK(a.sizes == std::vector<std::int64_t>{6, 5});
    CHECK(a.parts[0].bytes.position != b.parts[0].bytes.position);
    CHECK(a.parts[0].bytes.position == file.tensor("", tensor_role::weight, "a").parts[0].bytes.position);
    CHECK_FALSE(file.tensor("", tensor_role::weight, "empty").is_absent());
    CHECK_FALSE(file.tensor("", tensor_role::weight, "w").is_absent());
    // The strides must fit in memory all the same.
    check_weight_refused(
        archive_with_config(R"({"config": {)" +
                            config_entry("w", "weight_1", tensor_meta("4294967296,4294967296", "1,1")) + "}}"),
        "multiply to more than 2^63 bytes");
}

TEST_CASE("invalid configs") {
    for (char const* const text :
         {"", "{", "[]", "null", "{}", R"({"config": []})", R"({"config": null})", "\xff\xfe", R"({"config": {}}x)"})
        check_weight_refused(archive_with_config(text), "member 'm/data/weights/model_weights_config.json': ");
    check_weight_refused(archive_with_config(std::string(5000, '[')), "is not valid JSON");
    check_weight_refused(archive_with_config(R"({"config": {"v": {}, "w": {}, "v": {}}})"),
                         "has a duplicate tensor 'v'");
    check_weight_refused(archive_with_config(std::string((16U << 20U) + 1, ' ')), "is longer than 16 MiB");
    std::string const meta = tensor_meta("2,3", "3,1");
    auto const without = [&](std::string_view what, std::string_view instead) {
        std::string entry = config_entry("w", "weight_0", meta);
        std::size_t const at = entry.find(what);
        REQUIRE(at != std::string::npos);
        return archive_with_config(R"({"config": {)" + entry.replace(at, what.size(), instead) + "}}");
    };
    check_weight_refused(archive_with_config(R"({"config": {"w": 3}})"), "has no \"use_pickle\"");
    check_weight_refused(without("\"use_pickle\"", "\"used\""), "has no \"use_pickle\"");
    check_weight_refused(without("\"path_name\"", "\"path\""), "has no \"path_name\"");
    check_weight_refused(without("\"weight_0\"", "7"), "has no \"path_name\"");
    check_weight_refused(without("\"layout\"", "\"laid\""), "has no integer \"layout\"");
    check_weight_refused(without(R"("layout": 7)", R"("layout": 7.5)"), "has no integer \"layout\"");
    check_weight_refused(without("\"dtype\"", "\"type\""), "has no integer \"dtype\"");
    check_weight_refused(without("\"sizes\"", "\"size\""), "has no list \"sizes\"");
    check_weight_refused(without(R"("strides": [)", R"("strides": [7, )"), R"(has no integer "strides" as "as_int")");
    check_weight_refused(without(R"({"as_int": 3})", R"({"as_expr": {"expr_str": "s0"}})"),
                         R"(has no integer "sizes" as "as_int")");
    check_weight_refused(without(R"({"as_int": 3})", R"({"as_int": 18446744073709551615})"),
                         R"(has no integer "sizes" as "as_int")");
    check_weight_refused(without(R"({"as_int": 0})", "null"), R"(has no integer "storage_offset" as "as_int")");
}

TEST_CASE("samples truncated at every byte") {
    for (char const* const file : {"legacy_27.pt2", "tied.pt2", "legacy_dtypes.pt2"}) {
        std::string const bytes = read_file(sample_path(file));
        REQUIRE(survives(bytes));
        for (std::size_t n = 0; n != bytes.size(); ++n) {
            CAPTURE(n);
            CHECK_FALSE(survives(std::string_view(bytes).substr(0, n)));
        }
    }
}

TEST_CASE("samples with bytes changed") {
    int const rounds = fuzz_rounds(3000);
    std::mt19937_64 rng(4);
    for (std::string const& bytes :
         {read_file(sample_path("tied.pt2")),
          read_file(sample_path("legacy_28.pt2")),
          read_file(sample_path("legacy_dtypes.pt2")),
          archive_with_weight(tensor_meta("2,3", "3,1")),
          old_archive(
              pickled::entry("w", pickled::tensor(pickled::storage("IntStorage", "0", 12), 1, {2, 3}, {1, 4})))}) {
        int opened = 0;
        for (int i = 0; i != rounds; ++i) {
            // Half of them keep their length: offsets stay valid, so that the data behind them is reached.
            std::string bent = bytes;
            if (i % 2 == 0) bent = mutated(std::move(bent), rng);
            else
                for (int n = up_to(rng, 4); n >= 0; --n)
                    bent[up_to(rng, bent.size() - 1)] = static_cast<char>(up_to(rng, 255));
            opened += survives(bent) ? 1 : 0;
        }
        CHECK(opened > rounds / 10);
    }
}

} // namespace hostile_archive_test

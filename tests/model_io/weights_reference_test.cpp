// SPDX-License-Identifier: MIT
// Models that refer to the weights in the program's file: offsets, weights that are elsewhere, and the folder of the model.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include <aton/aton.hpp>

#include "weights_fixture.hpp"

namespace weights_reference_test {

using namespace aton;
using namespace aton::tests;
using fixture = weights_fixture;

TEST_CASE("reference: offsets are those of the file, and a Transpose undoes a permutation") {
    fixture const f;
    file_span const all = f.mapped.all();
    weights_graph g;
    g.add(stored(dtype::float32, f.mapped.span(1024, 90'000), {30, 40}, {40, 1}, 7), "plain");
    g.add(stored(dtype::float32, all, {6, 5, 3, 4}, {60, 1, 20, 5}, 100), "filter");
    g.add(stored(dtype::bfloat16, all, {1, 31, 1, 17}, {5, 1, 9, 31}, 100), "ones");
    (void)write_model(g.data, f.path, f.options(weight_mode::reference));
    CHECK(f.folder.count() == 2);
    ::onnx::ModelProto const model = parsed(f.path);
    CHECK(entry(model.graph().initializer(0), "location") == "weights.bin");
    CHECK(entry(model.graph().initializer(0), "offset") == std::to_string(1024 + 7 * 4));
    CHECK(entry(model.graph().initializer(0), "length") == "4800");
    REQUIRE(model.graph().node_size() == 5);
    ::onnx::NodeProto const& turn = model.graph().node(0);
    CHECK(turn.op_type() == "Transpose");
    CHECK(turn.input(0) == "filter.stored");
    CHECK(turn.output(0) == "filter");
    auto const& perm = turn.attribute(0).ints();
    CHECK(std::vector<std::int64_t>(perm.begin(), perm.end()) == std::vector<std::int64_t>{0, 3, 1, 2});
    auto const& dims = model.graph().initializer(1).dims();
    CHECK(std::vector<std::int64_t>(dims.begin(), dims.end()) == std::vector<std::int64_t>{6, 3, 4, 5});
    CHECK(entry(model.graph().initializer(1), "offset") == "400");
    CHECK(entry(model.graph().initializer(1), "length") == "1440");
    CHECK(model.graph().node(1).op_type() == "Transpose");
    CHECK(model.graph().initializer(2).dims_size() == 4);
    CHECK_NOTHROW(check_model(f.path));
    CHECK(g.data.nodes.size() == 3); // the caller's graph is unchanged

    weights_graph young(21); // of that opset's Transpose
    young.add(stored(dtype::float8_e5m2, all, {31, 17}, {1, 31}));
    CHECK(write_model(young.data, f.path, f.options(weight_mode::reference)).rewritten == 0);
    CHECK_NOTHROW(check_model(f.path));
    weights_graph old(12); // Transpose had no bfloat16 then
    old.add(stored(dtype::bfloat16, all, {31, 17}, {1, 31}));
    CHECK(write_model(old.data, f.path, f.options(weight_mode::reference)).rewritten == 31 * 17 * 2);
    CHECK(parsed(f.path).graph().node_size() == 1);
}

TEST_CASE("reference: what cannot stay in its file is copied to a data file, and the report says why") {
    fixture const f;
    std::ofstream(f.folder.file("other.bin"), std::ios::binary) << noise(5000, 8);
    mapped_file const other(f.folder.file("other.bin"));
    std::string const memory = noise(4000, 9);
    weights_graph g;
    g.add(stored(dtype::float32, other.all(), {1000}, {1}), "other");
    g.add(stored(dtype::float32,
                 {reinterpret_cast<std::byte const*>(memory.data()), 4000, 0, -1}, // NOLINT(*-reinterpret-cast)
                 {1000},
                 {1}),
          "memory");
    g.add(stored(dtype::float32, f.mapped.span(1026, 90'000), {40, 30}, {30, 1}), "odd");
    g.add(stored(dtype::float32, f.mapped.all(), {40, 30}, {31, 1}), "gaps");
    stored_tensor joined = stored(dtype::float32, f.mapped.all(), {30, 30}, {30, 1});
    joined.sizes = {60, 30};
    joined.parts.push_back(joined.parts[0]);
    g.add(joined, "joined");
    g.add(stored(dtype::float32, other.all(), {17}, {1}), "small");
    g.add(stored(dtype::float32, f.mapped.all(), {1000}, {1}), "stays");
    weight_report const report = write_model(g.data, f.path, f.options(weight_mode::reference));
    CHECK(report.rewritten == 40 * 30 * 4 + 60 * 30 * 4);
    std::vector<std::string> reasons;
    for (copied_weight const& each : report.copied) reasons.push_back(each.name + " " + each.reason);
    CHECK(reasons == std::vector<std::string>{"other is in no file to which the model can refer",
                                              "memory is in no file to which the model can refer",
                                              "odd starts at byte 1026 of its file, which is not a multiple of 4",
                                              "gaps is not in the order of its elements in its file",
                                              "joined is made of 2 parts",
                                              "small is in no file to which the model can refer"});
    CHECK(report.copied[4].bytes == 7200);
    ::onnx::ModelProto const model = parsed(f.path);
    CHECK(bytes_of(model.graph().initializer(0), f.folder) == noise(5000, 8).substr(0, 4000));
    CHECK(bytes_of(model.graph().initializer(1), f.folder) == memory);
    CHECK(entry(model.graph().initializer(2), "location") == "model.onnx.data");
    CHECK(model.graph().initializer(5).raw_data() == noise(5000, 8).substr(0, 68));
    CHECK(entry(model.graph().initializer(6), "location") == "weights.bin");
    weight_options options = f.options(weight_mode::reference);
    options.optional_sources = {f.folder.file("other.bin"), f.folder.file("no.bin")};
    CHECK(write_model(g.data, f.path, options).copied.size() == 4);
    CHECK(entry(parsed(f.path).graph().initializer(0), "location") == "other.bin");
}

TEST_CASE("elements of another dtype in the file are converted, rounded to nearest") {
    std::vector<std::uint16_t> const halves = {0x3c01, 0x0001, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x8000, 0x3555};
    std::vector<float> const singles = {1.00390625F, 65520.0F, 6e-8F, -2.5F, 3.0e38F, 1.0000001F, -0.0F, 0.1F};
    auto const span = [](auto const& v) {
        auto const at = reinterpret_cast<std::uintptr_t>(v.data());
        return file_span{reinterpret_cast<std::byte const*>(v.data()), v.size() * sizeof v[0], at, -1}; // NOLINT
    };
    stored_tensor widened = stored(dtype::float32, span(halves), {4, 2}, {1, 4});
    widened.parts[0].stored_as = dtype::float16;
    CHECK_FALSE(widened.is_plain());
    tensor const wide = load(widened);
    for (std::size_t i = 0; i != 8; ++i) {
        float const got = wide.at(i).to<float>();
        float const want = detail::half_to_float(halves[i / 2 + i % 2 * 4]);
        CHECK((got == want || (std::isnan(got) && std::isnan(want))));
    }
    stored_tensor narrowed = stored(dtype::bfloat16, span(singles), {8}, {1});
    narrowed.parts[0].stored_as = dtype::float32;
    tensor const narrow = load(narrowed);
    for (std::size_t i = 0; i != 8; ++i)
        CHECK(narrow.at(i).to<float>() == detail::bfloat16_to_float(detail::float_to_bfloat16(singles[i])));
    stored_tensor whole = stored(dtype::int32, span(singles), {8}, {1});
    whole.parts[0].stored_as = dtype::float32;
    CHECK_THROWS_WITH_AS((void)load(whole), doctest::Contains("cannot be made from float32"), error);
    stored_tensor absent = stored(dtype::float32, {nullptr, 0, 77, -1}, {8}, {1});
    CHECK_THROWS_WITH_AS((void)load(absent), doctest::Contains("has no numbers"), error);
}

TEST_CASE("reference: the model must be in the folder of the file") {
    fixture const f;
    weights_graph g;
    g.add(stored(dtype::float32, f.mapped.all(), {100}, {1}));
    std::filesystem::create_directory(f.folder.path / "sub");
    CHECK(f.refusal(g.data, weight_mode::reference, f.folder.file("sub/model.onnx")).find("must be in the folder of") !=
          std::string::npos);
    CHECK(f.refusal(g.data, weight_mode::reference, f.folder.file("sub/../model.onnx")) == "accepted");
    CHECK(f.refusal(g.data, weight_mode::reference, f.folder.file("no/model.onnx"))
              .find("cannot be written: No such file") != std::string::npos);
    std::filesystem::create_symlink("weights.bin", f.folder.path / "link.bin");
    weight_options options = f.options(weight_mode::reference);
    options.sources[0] = f.folder.file("link.bin");
    CHECK_THROWS_WITH_AS((void)write_model(g.data, f.path, options), doctest::Contains("is a symbolic link"), error);
    options.sources[0] = f.folder.file("nothing.bin");
    CHECK_THROWS_WITH_AS((void)write_model(g.data, f.path, options), doctest::Contains("no such file"), error);
    std::filesystem::create_hard_link(f.source, f.folder.file("hard.bin"));
    CHECK(f.refusal(g.data, weight_mode::reference, f.path).find("has several hard links") != std::string::npos);
    std::filesystem::remove(f.folder.file("hard.bin"));
    std::filesystem::rename(f.source, f.folder.file("weights..bin"));
    options.sources[0] = f.folder.file("weights..bin");
    CHECK_THROWS_WITH_AS((void)write_model(g.data, f.path, options), doctest::Contains("'..' in its name"), error);
    weights_graph large;
    large.add(stored(dtype::float32, f.mapped.all(), {1000}, {1}));
    CHECK(f.refusal(large.data, weight_mode::external, f.folder.file("a..onnx")).find("'..' in its name") !=
          std::string::npos);
    options.sources[0] = f.folder.path.string();
    CHECK_THROWS_WITH_AS((void)write_model(g.data, f.path, options), doctest::Contains("not a regular file"), error);
    options.sources.clear();
    CHECK_THROWS_WITH_AS(
        (void)write_model(g.data, f.path, options), doctest::Contains("weight_options::sources"), error);
}

} // namespace weights_reference_test

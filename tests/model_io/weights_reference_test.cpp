// SPDX-License-Identifier: MIT
// Models that refer to the weights in the program's file: offsets, weights that are elsewhere, and the folder of the model.
#include <doctest/doctest.h>

#include <algorithm>
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

TEST_CASE("reference: tensors that are not in that file are embedded") {
    fixture const f;
    std::ofstream(f.folder.file("other.bin"), std::ios::binary) << noise(5000, 8);
    mapped_file const other(f.folder.file("other.bin"));
    std::string const memory = noise(4000, 9);
    weights_graph g;
    g.add(stored(dtype::float32, other.all(), {1000}, {1}));
    g.add(stored(
        dtype::float32, {reinterpret_cast<std::byte const*>(memory.data()), 4000, 0, -1}, {1000}, {1})); // NOLINT
    CHECK(write_model(g.data, f.path, f.options(weight_mode::reference)).rewritten == 0);
    ::onnx::ModelProto const model = parsed(f.path);
    CHECK(model.graph().initializer(0).raw_data() == noise(5000, 8).substr(0, 4000));
    CHECK(model.graph().initializer(1).raw_data() == memory);
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
    options.source = f.folder.file("link.bin");
    CHECK_THROWS_WITH_AS((void)write_model(g.data, f.path, options), doctest::Contains("is a symbolic link"), error);
    options.source = f.folder.file("nothing.bin");
    CHECK_THROWS_WITH_AS((void)write_model(g.data, f.path, options), doctest::Contains("no such file"), error);
    std::filesystem::create_hard_link(f.source, f.folder.file("hard.bin"));
    CHECK(f.refusal(g.data, weight_mode::reference, f.path).find("has several hard links") != std::string::npos);
    std::filesystem::remove(f.folder.file("hard.bin"));
    std::filesystem::rename(f.source, f.folder.file("weights..bin"));
    options.source = f.folder.file("weights..bin");
    CHECK_THROWS_WITH_AS((void)write_model(g.data, f.path, options), doctest::Contains("'..' in its name"), error);
    weights_graph large;
    large.add(stored(dtype::float32, f.mapped.all(), {1000}, {1}));
    CHECK(f.refusal(large.data, weight_mode::external, f.folder.file("a..onnx")).find("'..' in its name") !=
          std::string::npos);
    options.source = f.folder.path.string();
    CHECK_THROWS_WITH_AS((void)write_model(g.data, f.path, options), doctest::Contains("not a regular file"), error);
    options.source.clear();
    CHECK_THROWS_WITH_AS(
        (void)write_model(g.data, f.path, options), doctest::Contains("weight_options::source"), error);
}

} // namespace weights_reference_test

// SPDX-License-Identifier: MIT
// Weights of written models: the location of their bytes in each mode, and the state after a failure.
#include <aton/model_io/weights.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include <onnx/onnx_pb.h>

#include <aton/aton.hpp>

#include "weights_fixture.hpp"

namespace weights_test {

using namespace aton;
using namespace aton::tests;
using fixture = weights_fixture;

namespace {

constexpr weight_mode all_modes[] = {weight_mode::embed, weight_mode::external, weight_mode::reference};

} // namespace

TEST_CASE("unreadable tensors are refused before anything is read") {
    fixture const f;
    file_span const all = f.mapped.span(0, 400);
    std::int64_t const huge = std::int64_t{1} << 62;
    struct row {
        char const* message = nullptr;
        stored_tensor tensor;
    };
    stored_tensor few = stored(dtype::float32, all, {4}, {1});
    few.sizes = {5};
    stored_tensor many = few;
    many.sizes = {3};
    for (auto const& [message, t] : {
             row{"reaches beyond", stored(dtype::float32, all, {101}, {1})},
             row{"reaches beyond", stored(dtype::float32, all, {2}, {1}, 99)},
             row{"reaches beyond", stored(dtype::float32, all, {3, 3}, {-1, 1}, 1)},
             row{"reaches beyond", stored(dtype::float32, all, {3}, {huge})},
             row{"reaches beyond", stored(dtype::float32, all, {2, 2}, {huge, huge}, huge)},
             row{"reaches beyond", stored(dtype::float32, all, {1}, {1}, -1)},
             row{"invalid sizes", stored(dtype::float32, all, {-1}, {1})},
             row{"invalid sizes", stored(dtype::float32, all, {huge, huge}, {0, 0})},
             row{"invalid sizes or strides", stored(dtype::float32, all, {2, 3}, {1})},
             row{"whole bytes", stored(dtype::int4, all, {2}, {1})},
             row{"whole bytes", stored(dtype::string, all, {2}, {1})},
             row{"factor", stored(dtype::float32, all, {2, 3}, {3, 1}, 0, {1, 2, 3})},
             row{"factor", stored(dtype::float32, all, {}, {}, 0, {1})},
             row{"factor", stored(dtype::int32, all, {2}, {1}, 0, {1, 2})},
             row{"fewer elements", few},
             row{"more elements", many},
         }) {
        CAPTURE(message);
        std::string said;
        try {
            (void)load(t);
        } catch (error const& e) {
            said = e.what();
        }
        CHECK(said.find(message) != std::string::npos);
        weights_graph g;
        g.add(t, "layer.weight");
        for (weight_mode mode : all_modes) {
            std::string const refused = f.refusal(g.data, mode, f.path);
            CHECK(refused.starts_with("layer.weight: "));
            CHECK(refused.find(message) != std::string::npos);
        }
        CHECK(f.folder.count() == 1);
    }
}

TEST_CASE("every mode writes the same elements; embedded models equal protobuf's own bytes") {
    fixture const f;
    file_span const all = f.mapped.all();
    weights_graph g;
    g.add(stored(dtype::float32, all, {40, 30}, {30, 1}, 16), "plain.weight");
    g.add(stored(dtype::float32, all, {64, 33}, {1, 64}, 32), "turned.weight");
    g.add(stored(dtype::float16, all, {8, 5, 7, 9}, {315, 1, 45, 5}, 64), "channels_last.weight");
    g.add(stored(dtype::float32, all, {300, 7}, {0, 1}, 3), "expanded");
    g.add(stored(dtype::int64, all, {3}, {1}, 4), "shape");
    g.add(stored(dtype::float32, {}, {0, 5}, {5, 1}), "empty");
    g.add(stored(dtype::bool_, all, {}, {}, 77), "flag");
    stored_tensor joined{dtype::float32, {5, 200}, {}};
    joined.parts = {{all, {2, 200}, {200, 1}, 1000, {}}, {all, {3, 200}, {1, 3}, 5000, {}}};
    g.add(joined, "joined");
    value_id const constant = g.data.add_value(value_type{dtype::float32, {2}}, "constant");
    g.data.set_initializer(constant, tensor{dtype::float32, {2}, std::string("\0\0\x80\x3f\0\0\0\x40", 8)});
    std::uint64_t total = 0;
    for (stored_tensor const& t : g.tensors) total += t.byte_count();

    for (weight_mode mode : all_modes) {
        CAPTURE(static_cast<int>(mode));
        weight_report const report = write_model(g.data, f.path, f.options(mode));
        CHECK(report.count == 8);
        CHECK(report.bytes == total);
        std::uint64_t const in_two_places = 5 * 200 * 4 + 300 * 7 * 4;
        std::uint64_t const turned = 64 * 33 * 4 + 8 * 5 * 7 * 9 * 2;
        CHECK(report.rewritten == (mode == weight_mode::reference ? in_two_places : in_two_places + turned));
        ::onnx::ModelProto const model = parsed(f.path);
        CHECK(model.SerializeAsString() ==
              slurp(f.path)); // the hand-written fields equal those of protobuf, in its order
        CHECK_NOTHROW(check_model(f.path));
        REQUIRE(model.graph().initializer_size() == 9);
        for (int i = 0; i != 8; ++i) {
            ::onnx::TensorProto const& t = model.graph().initializer(i);
            CAPTURE(t.name());
            std::string const bytes = bytes_of(t, f.folder);
            if (t.name().ends_with(".stored")) continue; // compared below, through its Transpose
            CHECK(t.name() == g.data.values[g.data.initializers[static_cast<std::size_t>(i)].value].name);
            CHECK(bytes == expected(g.tensors[static_cast<std::size_t>(i)]));
        }
        CHECK(model.graph().initializer(8).raw_data().size() == 8);
        CHECK(model.graph().node_size() == (mode == weight_mode::reference ? 10 : 8));
        std::filesystem::remove(f.path);
    }
    std::string const in_memory = to_model_proto(g.data);
    (void)write_model(g.data, f.path, f.options(weight_mode::embed));
    CHECK(in_memory == slurp(f.path));
    CHECK(to_string(parse_model(in_memory).graph.values[0].type) == "Float(40, 30)");
    CHECK(to_string(g.data).find("%plain.weight : Float(40, 30) = stored(4800 bytes)\n") != std::string::npos);
    CHECK(to_string(g.data).find("%empty : Float(0, 5) = stored(0 bytes)\n") != std::string::npos);
}

TEST_CASE("external: aligned, small ones embedded, shared bytes once") {
    fixture const f;
    file_span const all = f.mapped.all();
    weights_graph g;
    g.add(stored(dtype::float32, all, {255}, {1}, 0));                  // 1020 bytes: embedded
    g.add(stored(dtype::float32, all, {257}, {1}, 0));                  // 1028: at a multiple of 64
    g.add(stored(dtype::float32, all, {1023}, {1}, 1));                 // 4092
    g.add(stored(dtype::float32, all, {2500}, {1}, 2));                 // of 4096
    g.add(stored(dtype::float32, all, {50, 50}, {50, 1}, 2), "tied");   // the same bytes in another shape
    g.add(stored(dtype::float32, all, {50, 50}, {1, 50}, 2), "turned"); // the same in another order
    g.add(stored(dtype::float32, all, {2499}, {1}, 2), "not all of them");
    (void)write_model(g.data, f.path, f.options(weight_mode::external));
    ::onnx::ModelProto const model = parsed(f.path);
    auto const offset = [&](int i) {
        ::onnx::TensorProto const& t = model.graph().initializer(i);
        CHECK(entry(t, "location") == "model.onnx.data");
        CHECK(t.raw_data().empty());
        return std::stoi(entry(t, "offset"));
    };
    CHECK(model.graph().initializer(0).raw_data().size() == 1020);
    CHECK(offset(1) == 0);
    CHECK(offset(2) == 1088);
    CHECK(offset(3) == 8192);
    CHECK(offset(4) == 8192);
    CHECK(offset(5) == 20480);
    CHECK(offset(6) == 32768);
    std::string const data = slurp(f.path + ".data");
    CHECK(data.size() == 32768 + 2499 * 4);
    CHECK(data.substr(1028, 60) == std::string(60, '\0'));
    for (int i = 0; i != 7; ++i)
        CHECK(bytes_of(model.graph().initializer(i), f.folder) == expected(g.tensors[static_cast<std::size_t>(i)]));
    CHECK(f.folder.count() == 3);

    weights_graph small; // too small for a second file
    small.add(stored(dtype::float32, all, {3, 5}, {5, 1}));
    (void)write_model(small.data, f.folder.file("small.onnx"), f.options(weight_mode::external));
    CHECK(f.folder.count() == 4);
}

TEST_CASE("a model never replaces the file with its weights") {
    fixture const f;
    weights_graph g;
    g.add(stored(dtype::float32, f.mapped.all(), {1000}, {1}));
    std::string const before = slurp(f.source);
    for (weight_mode mode : all_modes)
        CHECK(f.refusal(g.data, mode, f.folder.file("./weights.bin")).find("is the file with the weights") !=
              std::string::npos);
    std::filesystem::create_hard_link(f.source, f.folder.file("m.onnx.data"));
    CHECK(f.refusal(g.data, weight_mode::external, f.folder.file("m.onnx")).find("is the file with the weights") !=
          std::string::npos);
    CHECK(slurp(f.source) == before);
    CHECK(f.folder.count() == 2);
}

TEST_CASE("more than protobuf's 2 GiB is refused before anything is written") {
    temporary_folder const folder;
    std::string const source = folder.file("sparse.bin");
    std::ofstream(source).flush();
    std::filesystem::resize_file(source, std::uint64_t{9} << 30); // no bytes on the disk
    mapped_file const mapped(source);
    weights_graph g;
    std::int64_t const n = std::int64_t{1} << 28;
    g.add(stored(dtype::float32, mapped.all(), {n}, {1}, 3)); // 1 GiB each
    g.add(stored(dtype::float32, mapped.all(), {n}, {1}, n));
    g.add(stored(dtype::float32, mapped.all(), {2, n}, {n, 1}, 3 * n - 1));
    CHECK_THROWS_WITH_AS((void)write_model(g.data, folder.file("m.onnx"), {weight_mode::embed, {source}, {}, {}}),
                         doctest::Contains("use --weights external"),
                         error);
    CHECK_THROWS_WITH_AS((void)to_model_proto(g.data), doctest::Contains("larger than 2 GiB"), error);
    CHECK(folder.count() == 1);
    CHECK(write_model(g.data, folder.file("m.onnx"), {weight_mode::reference, {source}, {}, {}}).bytes ==
          std::uint64_t(n) * 16);
    ::onnx::ModelProto const model = parsed(folder.file("m.onnx"));
    CHECK(entry(model.graph().initializer(2), "offset") == std::to_string((3 * n - 1) * 4));
    CHECK(entry(model.graph().initializer(2), "length") == std::to_string(8 * n));
}

TEST_CASE("progress grows in steps and ends at the total") {
    fixture const f(21 << 20);
    weights_graph g;
    g.add(stored(dtype::float32, f.mapped.all(), {1000, 5003}, {5003, 1}));
    g.add(stored(dtype::float32, f.mapped.all(), {10, 3}, {3, 1}));
    for (weight_mode mode : {weight_mode::embed, weight_mode::external}) {
        std::vector<std::uint64_t> seen;
        weight_options options = f.options(mode);
        options.progress = [&](std::uint64_t done, std::uint64_t total) {
            CHECK(total == 1000 * 5003 * 4 + 120);
            seen.push_back(done);
        };
        (void)write_model(g.data, f.path, options);
        CHECK(seen.size() == 5);
        CHECK(std::is_sorted(seen.begin(), seen.end()));
        CHECK(seen.back() == 1000 * 5003 * 4 + 120);
    }
}

TEST_CASE("a failed write leaves nothing, and old files stay") {
    fixture const f(3 << 20);
    weights_graph g;
    g.add(stored(dtype::float32, f.mapped.all(), {300, 2000}, {2000, 1}));
    weights_graph turned;
    turned.add(stored(dtype::float32, f.mapped.all(), {300, 2000}, {1, 300}));
    std::ofstream(f.path) << "older model";
    std::ofstream(f.path + ".data") << "older weights";
    auto const nothing_happened = [&] {
        CHECK(slurp(f.path) == "older model");
        CHECK(slurp(f.path + ".data") == "older weights");
        CHECK(f.folder.count() == 3);
    };
    // limits files to 1 MB; the resulting signal is ignored
    auto const before = std::signal(SIGXFSZ, SIG_IGN);
    ::rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    ::rlimit const limit{1'000'000, old.rlim_max};
    for (weights_graph const* each : {&g, &turned})
        for (weight_mode mode : {weight_mode::embed, weight_mode::external}) {
            ::setrlimit(RLIMIT_FSIZE, &limit);
            std::string const said = f.refusal(each->data, mode, f.path);
            ::setrlimit(RLIMIT_FSIZE, &old);
            CHECK(said.find("model.onnx") != std::string::npos);
            CHECK(said.find("cannot be written: File too large") != std::string::npos);
            nothing_happened();
        }
    std::signal(SIGXFSZ, before);

    CHECK(f.refusal(g.data, weight_mode::embed, "/dev/full").find("No space left") != std::string::npos);
    for (weight_mode mode : {weight_mode::external, weight_mode::reference})
        CHECK(f.refusal(g.data, mode, "/dev/full").find("pipe or device") != std::string::npos);
    for (weight_mode mode : all_modes) {
        CHECK(f.refusal(g.data, mode, f.folder.path.string()) != "accepted");
        CHECK(f.refusal(g.data, mode, f.folder.file("no/such/model.onnx")).find("cannot be written: No such file") !=
              std::string::npos);
    }
    nothing_happened();

    std::filesystem::remove(f.path + ".data"); // a folder where the data should go
    std::filesystem::create_directory(f.path + ".data");
    CHECK(f.refusal(g.data, weight_mode::external, f.path).find("model.onnx.data: is a folder") != std::string::npos);
    CHECK(slurp(f.path) == "older model");
    CHECK(f.folder.count() == 3);
    std::filesystem::remove(f.path + ".data");
    CHECK(f.refusal(g.data, weight_mode::external, f.path) == "accepted");
    CHECK(f.refusal(g.data, weight_mode::external, f.path) == "accepted"); // over its own pair
    CHECK(f.folder.count() == 3);
}

TEST_CASE("a pipe gets an embedded model piece by piece") {
    fixture const f(3 << 20);
    weights_graph g;
    g.add(stored(dtype::float32, f.mapped.all(), {300, 2000}, {2000, 1}, 5));
    g.add(stored(dtype::float32, f.mapped.all(), {300, 2000}, {1, 300}));
    std::string const pipe = f.folder.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::string got;
    std::thread reader([&] { got = slurp(pipe); });
    (void)write_model(g.data, pipe, f.options(weight_mode::embed));
    reader.join();
    CHECK(got == to_model_proto(g.data));
}

TEST_CASE("an output of unknown type is completed from the types of stored weights") {
    fixture const f;
    weights_graph g;
    g.add(stored(dtype::float32, f.mapped.all(), {30, 17}, {17, 1}));
    g.data.values[g.data.outputs[0]].type = {};
    for (weight_mode mode : all_modes) {
        (void)write_model(g.data, f.path, f.options(mode));
        ::onnx::ModelProto const model = parsed(f.path);
        CHECK(model.graph().output(0).type().tensor_type().shape().dim(1).dim_value() == 17);
        CHECK(model.graph().input_size() == 0);
    }
}

} // namespace weights_test

// SPDX-License-Identifier: MIT
// The container of .pt2 files: files written by torch, read as torch reads them; models, and files of other kinds.
#include <aton/frontend/pt2/archive.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "samples.hpp"

namespace archive_test {

using namespace aton::tests;
using namespace std::string_literals;
using aton::stored_tensor;
using aton::pt2::archive;
using aton::pt2::tensor_role;

namespace {

/// What make_expected.py recorded for one tensor.
struct expected_tensor {
    std::string file, model, role, name, dtype, sizes, bytes;
};

std::vector<expected_tensor> read_expected() {
    std::vector<expected_tensor> out;
    std::istringstream in(read_file(sample_path("expected.txt")));
    expected_tensor e;
    std::string hex;
    while (in >> e.file >> e.model >> e.role >> e.name >> e.dtype >> e.sizes >> hex) {
        e.bytes.clear();
        for (std::size_t i = 1; i + 1 < hex.size(); i += 2)
            e.bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
        out.push_back(e);
    }
    return out;
}

std::string printed(std::vector<std::int64_t> const& sizes) {
    std::string out = "[";
    for (std::int64_t s : sizes) {
        if (out.size() != 1) out += ',';
        out += std::to_string(s);
    }
    return out + "]";
}

void check_refused(std::string_view bytes, std::string_view expected) {
    std::string const what = error_message(bytes);
    CHECK_MESSAGE(what.find(expected) != std::string::npos, what << " should have: " << expected);
}

std::filesystem::path scratch(std::string const& name) {
    return std::filesystem::temp_directory_path() / ("aton_archive_test_" + std::to_string(::getpid()) + name);
}

} // namespace

TEST_CASE("every tensor of the samples equals what torch loads, under its own name only") {
    std::map<std::string, std::vector<expected_tensor>> by_file;
    for (expected_tensor const& e : read_expected()) by_file[e.file].push_back(e);
    REQUIRE(by_file.size() >= 8);
    std::size_t compared = 0;
    for (auto const& [file, tensors] : by_file) {
        archive const a(sample_path(file));
        std::string const bytes = read_file(sample_path(file));
        std::size_t named = 0;
        for (std::string const& model : a.models())
            for (tensor_role const role : {tensor_role::weight, tensor_role::constant})
                named += a.tensor_names(model, role).size();
        CHECK(named == tensors.size());
        for (expected_tensor const& e : tensors) {
            CAPTURE(file);
            CAPTURE(e.name);
            tensor_role const role = e.role == "weight" ? tensor_role::weight : tensor_role::constant;
            stored_tensor const t = a.tensor(e.model, role, e.name);
            CHECK(name(t.type) == e.dtype);
            CHECK(printed(t.sizes) == e.sizes);
            CHECK(t.byte_count() == e.bytes.size());
            CHECK(dense_bytes(t) == e.bytes);
            // The other role also finds it.
            tensor_role const other = role == tensor_role::weight ? tensor_role::constant : tensor_role::weight;
            CHECK(dense_bytes(a.tensor(e.model, other, e.name)) == e.bytes);
            // The span gives the position of the bytes, in the file and in memory.
            aton::file_span const& span = t.parts[0].bytes;
            std::string on_disk(span.size, '\0');
            CHECK(::pread(span.file, on_disk.data(), on_disk.size(), static_cast<off_t>(span.position)) ==
                  static_cast<ssize_t>(span.size));
            CHECK(on_disk == bytes.substr(span.position, span.size));
            CHECK(on_disk == std::string(reinterpret_cast<char const*>(span.data), span.size));
            ++compared;
        }
    }
    CHECK(compared > 60);
}

TEST_CASE("tied weights share a record, and strides stay as torch had them") {
    for (char const* const file : {"tied.pt2", "legacy_27.pt2", "legacy_28.pt2"}) {
        archive const a(sample_path(file));
        auto const weight = [&](char const* name) { return a.tensor("model", tensor_role::weight, name).parts[0]; };
        CHECK(weight("emb.weight").bytes.data == weight("head.weight").bytes.data);
        CHECK(weight("va").bytes.data == weight("vb").bytes.data);
        CHECK(weight("vb").offset == 12);
        CHECK(weight("vt").strides == std::vector<std::int64_t>{1, 5});
        CHECK_FALSE(weight("vt").is_contiguous());
    }
    archive const a(sample_path("conv_bn_channels_last.pt2"));
    stored_tensor const w = a.tensor("", tensor_role::weight, "conv.weight");
    CHECK(w.parts[0].strides == std::vector<std::int64_t>{27, 1, 9, 3});
    CHECK(w.parts[0].bytes.position % 64 == 0);
}

TEST_CASE("models and their names") {
    archive const a(sample_path("multi_model.pt2"));
    CHECK(a.models() == std::vector<std::string>{"decode", "prefill"});
    CHECK(a.program_json("decode").size() == 3713);
    CHECK(a.program_json("prefill").size() == 6934);
    CHECK(a.tensor("decode", tensor_role::weight, "fc.bias").sizes == std::vector<std::int64_t>{3});
    CHECK_THROWS_WITH_AS((void)a.program_json(""),
                         doctest::Contains("has several models; name one of them: 'decode', 'prefill'"),
                         aton::error);
    CHECK_THROWS_WITH_AS(
        (void)a.resolve_model("model"), doctest::Contains("no model 'model'; it has 'decode'"), aton::error);
    CHECK_THROWS_WITH_AS((void)a.tensor("decode", tensor_role::weight, "va"),
                         doctest::Contains("model 'decode' has no weight or constant 'va'"),
                         aton::error);
    archive const one(sample_path("tied.pt2"));
    CHECK(one.resolve_model("") == "model");
    CHECK(one.program_json("").starts_with("{\"graph_module\""));
    CHECK_THROWS_WITH_AS(
        (void)one.program_json("other"), doctest::Contains("has no model 'other'; it has 'model'"), aton::error);
    // An empty name selects the model called "model".
    zip_writer w;
    w.add("m/models/a.json", "1").add("m/models/deep/er.json", "22").add("m/models/notes.txt", "");
    add_frame(w);
    std::string const bytes = w.finish();
    archive const several = archive::from_memory(bytes, "several");
    CHECK(several.models() == std::vector<std::string>{"a", "deep/er", "model"});
    CHECK(several.resolve_model("") == "model");
    CHECK(several.program_json("deep/er") == "22");
    CHECK(several.tensor_names("a", tensor_role::weight).empty());
}

TEST_CASE("results of an archive outlive it while its storage is held") {
    stored_tensor t;
    std::shared_ptr<void const> storage;
    {
        archive a(sample_path("tied.pt2"));
        archive const moved(std::move(a));
        t = moved.tensor("", tensor_role::weight, "vt");
        storage = moved.storage();
    }
    CHECK(dense_bytes(t).size() == 80);
    CHECK(::fcntl(t.parts[0].bytes.file, F_GETFD) >= 0);
    int const file = t.parts[0].bytes.file;
    storage.reset();
    CHECK(::fcntl(file, F_GETFD) < 0);
}

TEST_CASE("paths that are not regular files") {
    CHECK_THROWS_WITH_AS(archive("/no/such/file.pt2"), "/no/such/file.pt2: no such file", aton::error);
    CHECK_THROWS_WITH_AS(archive("/"), "/: is a folder, not a file", aton::error);
    CHECK_THROWS_WITH_AS(archive("/dev/null"), "/dev/null: is a device, pipe or socket, not a file", aton::error);
    CHECK_THROWS_WITH_AS(archive::from_memory("", "a.pt2"), "a.pt2: is empty", aton::error);
    std::filesystem::path const path = scratch(".pt2");
    std::ofstream(path).close();
    CHECK_THROWS_WITH_AS(archive(path.string()), (path.string() + ": is empty").c_str(), aton::error);
    std::filesystem::remove(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0); // without a writer: a blocking open would hang
    CHECK_THROWS_WITH_AS(archive(path.string()), doctest::Contains("is a device, pipe or socket"), aton::error);
    std::filesystem::remove(path);
    std::filesystem::create_symlink(path.filename(), path);
    CHECK_THROWS_WITH_AS(archive(path.string()), doctest::Contains("cannot be opened: Too many levels"), aton::error);
    std::filesystem::remove(path);
}

TEST_CASE("files of other kinds are named, with what to do") {
    check_refused("hello, world", "is not a .pt2 archive: export the model with torch.export.save");
    check_refused("P", "is not a .pt2 archive");
    check_refused("PK\3\4 and then nothing", "truncated or damaged");
    check_refused("\x14\0\0\0ET12\4\0\4\0"s, "is an ExecuTorch program");
    check_refused("\x80\2\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s, "before torch 1.6");
    check_refused("\x0d\0\0\0\0\0\0\0{\"a\": [1, 2]}"s, "is a safetensors file");
    check_refused("\x08\x0a\x12\x07pytorch"s, "looks like an ONNX model");
    check_refused("GGUF\3\0\0\0"s, "is a GGUF file");
    check_refused("version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull");
    zip_writer script;
    script.add("m/data.pkl", "").add("m/code/__torch__.py", "x", 8).add("m/constants.pkl", "").add("m/version", "3\n");
    check_refused(script.finish(), "is a TorchScript archive of torch.jit.save");
    check_refused(zip_writer().add("a/data.pkl", "").add("a/data/0", "1").add("a/version", "3").finish(),
                  "is a checkpoint of torch.save");
    zip_writer compiled;
    compiled.add("m/data/aotinductor/model/c.wrapper.cpp", "")
        .add("m/archive_format", "pt2")
        .add("m/archive_version", "0");
    check_refused(compiled.finish(), "is an AOTInductor package");
    check_refused(zip_writer().add("m/data/executorch/a.pte", "").add("m/archive_format", "pt2").finish(),
                  "is an ExecuTorch program");
    check_refused(zip_writer().add("notes.txt", "hi").finish(), "without models/*.json");
    check_refused(zip_writer().add("m/archive_format", "pt2").add("m/archive_version", "0").finish(),
                  "without models/*.json");
    // A package that has both can be converted.
    zip_writer both;
    both.add("m/data/aotinductor/model/c.so", "");
    add_frame(both);
    CHECK(error_message(both.finish()).empty());
}

TEST_CASE("the metadata of an archive") {
    auto const with = [](std::string_view format, std::string_view version, std::string_view order) {
        zip_writer w;
        w.add("m/models/model.json", "{}");
        if (!format.empty()) w.add("m/archive_format", format);
        if (!version.empty()) w.add("m/archive_version", version);
        if (!order.empty()) w.add("m/byteorder", order);
        return w.finish();
    };
    CHECK(error_message(with("pt2", "0", "little")).empty());
    CHECK(error_message(with("pt2\n", "0\n", "")).empty());
    check_refused(with("", "0", "little"), "without models");
    check_refused(with("pt3", "0", "little"), "has archive_format 'pt3'");
    check_refused(with("pt2", "1", "little"), "has archive_version '1'; only '0' is supported");
    check_refused(with("pt2", "", "little"), "has no archive_version");
    check_refused(with("pt2", "0", "big"), "is big-endian");
    zip_writer packed;
    packed.add("m/models/model.json", "{}", 8).add("m/archive_format", "pt2").add("m/archive_version", "0");
    check_refused(packed.finish(), "member 'm/models/model.json' is compressed (method 8)");
}

} // namespace archive_test

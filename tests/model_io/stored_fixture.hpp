// SPDX-License-Identifier: MIT
// For tests of weights: a mapped file, a temporary folder, and graphs that return their weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>

class temporary_folder {
public:
    explicit temporary_folder(std::filesystem::path const& parent = std::filesystem::temp_directory_path()) {
        std::string name = (parent / "aton_weights_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
        path = name;
    }
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;

    [[nodiscard]] std::string file(std::string const& name) const { return (path / name).string(); }
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
    }

    std::filesystem::path path;
};

inline std::string slurp(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class mapped_file {
public:
    explicit mapped_file(std::string const& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        struct ::stat s{};
        if (file_ < 0 || ::fstat(file_, &s) != 0) throw std::runtime_error("cannot open " + path);
        size_ = static_cast<std::uint64_t>(s.st_size);
        data_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_, 0);
        if (data_ == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    }
    ~mapped_file() {
        ::munmap(data_, size_);
        ::close(file_);
    }
    mapped_file(mapped_file const&) = delete;
    mapped_file& operator=(mapped_file const&) = delete;

    [[nodiscard]] aton::file_span span(std::uint64_t position, std::uint64_t size) const {
        if (position > size_ || size > size_ - position) throw std::runtime_error("beyond the mapped file");
        return {static_cast<std::byte const*>(data_) + position, size, position, file_};
    }
    [[nodiscard]] aton::file_span all() const { return span(0, size_); }

private:
    int file_;
    std::uint64_t size_ = 0;
    void* data_ = nullptr;
};

/// A graph with stored initializers, each returned through an Identity: "w0" as "y0".
class weights_graph {
public:
    explicit weights_graph(int opset = 20) { data.opset = opset; }
    weights_graph(weights_graph const&) = delete;
    weights_graph& operator=(weights_graph const&) = delete;

    aton::value_id add(aton::stored_tensor tensor, std::string name = {}) {
        aton::stored_tensor const& kept = tensors.emplace_back(std::move(tensor));
        std::string const number = std::to_string(tensors.size() - 1);
        std::vector<aton::dim> const dims(kept.sizes.begin(), kept.sizes.end());
        aton::value_type const type{kept.type, aton::shape(dims)};
        aton::value_id const id = data.add_value(type, name.empty() ? "w" + number : std::move(name));
        data.set_initializer(id, aton::tensor{}, &kept);
        aton::graph_node n;
        n.op = "Identity";
        n.inputs = {id};
        n.outputs = {data.add_value(type, "y" + number)};
        data.values[n.outputs[0]].producer = static_cast<std::int64_t>(data.nodes.size());
        data.outputs.push_back(n.outputs[0]);
        data.nodes.push_back(std::move(n));
        return id;
    }

    aton::graph_data data;
    std::deque<aton::stored_tensor> tensors;
};

/// One part; strides and offset in elements.
inline aton::stored_tensor stored(aton::dtype type, aton::file_span bytes, std::vector<std::int64_t> sizes,
                                  std::vector<std::int64_t> strides, std::int64_t offset = 0,
                                  std::vector<double> factors = {}) {
    return {type, sizes, {{bytes, sizes, std::move(strides), offset, std::move(factors)}}};
}

/// Bytes without a pattern, which reveal shifted or repeated pieces.
inline std::string noise(std::size_t size, unsigned seed = 7) {
    std::mt19937 random(seed);
    std::string out(size, '\0');
    for (char& c : out) c = static_cast<char>(random());
    return out;
}

/// The reference: element by element, without factors.
inline std::string expected(aton::stored_tensor const& t) {
    std::string out;
    std::size_t const item = bits(t.type) / 8;
    for (aton::stored_part const& p : t.parts) {
        std::int64_t const n = p.element_count();
        for (std::int64_t k = 0; k != n; ++k) {
            std::int64_t at = p.offset;
            std::int64_t rest = k;
            for (std::size_t d = p.sizes.size(); d-- > 0; rest /= p.sizes[d]) at += rest % p.sizes[d] * p.strides[d];
            out.append(reinterpret_cast<char const*>(p.bytes.data) + at * static_cast<std::int64_t>(item),
                       item); // NOLINT
        }
    }
    return out;
}

/// A folder with a mapped file of noise.
struct noise_fixture {
    temporary_folder folder;
    std::string source = folder.file("weights.bin");
    std::string path = folder.file("model.onnx");
    mapped_file mapped;

    explicit noise_fixture(std::size_t size = 300'007) : mapped((make(source, size), source)) {}

    static void make(std::string const& source, std::size_t size) {
        std::ofstream(source, std::ios::binary) << noise(size);
    }
};

// SPDX-License-Identifier: MIT
// For weights_run_test.py: writes a model whose weights are views of a file, from a specification:
//   write_stored_weights SPECIFICATION FILE MODEL embed|external|reference OPSET
// A tensor is: name dtype sizes parts {position bytes offset sizes strides factors}; every list begins with its length.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/model_io/weights.hpp>

#include "stored_fixture.hpp"

namespace {

template <class T>
std::vector<T> read_list(std::istream& in) {
    std::size_t n = 0;
    in >> n;
    std::vector<T> out(in ? n : 0);
    for (T& v : out) in >> v;
    return out;
}

aton::stored_tensor read_tensor(std::istream& in, mapped_file const& file, std::string const& type) {
    aton::stored_tensor t{aton::dtype_from_name(type), read_list<std::int64_t>(in), {}};
    std::size_t parts = 0;
    for (in >> parts; in && parts != 0; --parts) {
        std::uint64_t position = 0;
        std::uint64_t bytes = 0;
        aton::stored_part p;
        in >> position >> bytes >> p.offset;
        p.bytes = file.span(position, bytes);
        p.sizes = read_list<std::int64_t>(in);
        p.strides = read_list<std::int64_t>(in);
        p.factors = read_list<double>(in);
        t.parts.push_back(std::move(p));
    }
    return t;
}

int run(char** args) {
    std::ifstream in(args[1]);
    mapped_file const file(args[2]);
    weights_graph g(std::stoi(args[5]));
    std::string name;
    std::string type;
    while (in >> name >> type) g.add(read_tensor(in, file, type), name);
    std::string const mode = args[4];
    aton::weight_options options;
    options.mode = mode == "external"    ? aton::weight_mode::external
                   : mode == "reference" ? aton::weight_mode::reference
                                         : aton::weight_mode::embed;
    options.sources = {args[2]};
    aton::weight_report const report = write_model(g.data, args[3], options);
    std::printf("%zu %llu %llu\n",
                report.count,
                static_cast<unsigned long long>(report.bytes),
                static_cast<unsigned long long>(report.rewritten));
    return 0;
}

} // namespace

int main(int count, char** args) {
    if (count != 6) return std::fputs("usage: see the first lines of write_stored_weights.cpp\n", stderr), 2;
    try {
        return run(args);
    } catch (std::exception const& e) {
        return std::fprintf(stderr, "%s\n", e.what()), 1;
    }
}

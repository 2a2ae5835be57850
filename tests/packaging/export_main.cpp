// SPDX-License-Identifier: MIT
// A program of another project that exports a model with the library: program.pt2 model.onnx.
#include <cstdio>

#include <aton/core/error.hpp>
#include <aton/exporter/exporter.hpp>

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    try {
        aton::export_report const report = aton::export_file(argv[1], argv[2]);
        std::printf("%zu nodes, %zu weights\n", report.nodes, report.weights);
        return 0;
    } catch (aton::error const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}

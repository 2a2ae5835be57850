// SPDX-License-Identifier: MIT
// What every example does with its graph: print it, run ONNX's checker on it, and write it to the file named on the command line.
#pragma once

#include <cstdio>
#include <string>

#include <aton/aton.hpp>
#include <aton/model_io/model_io.hpp>

namespace example {

/// Runs `build` and shows its graph; the first argument of the program, if any, is the .onnx file to write.
inline int show(aton::graph_data (*build)(), int argc, char** argv) {
    try {
        aton::graph_data const graph = build();
        std::fputs(to_string(graph).c_str(), stdout);
        aton::check_model_bytes(to_model_proto(graph));
        if (argc > 1) write_model(graph, argv[1]);
        return 0;
    } catch (aton::error const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}

} // namespace example

// SPDX-License-Identifier: MIT
// The export as a whole: read, rewrite, convert, optimise, write.
#include <deque>

#include <aton/exporter/exporter.hpp>
#include <aton/exporter/passes.hpp>
#include <aton/frontend/pt2/read_program.hpp>
#include <aton/model_io/legality.hpp>

#include "converter.hpp"

namespace aton {

export_report export_file(std::string const& from, std::string const& to, export_options const& options) {
    program::program p = pt2::read_program(from, options.model);
    prepare(p);
    graph_data graph = convert_program(p, options);
    std::vector<std::string> names;
    if (options.inline_functions) inline_functions(graph);
    for (value_id id : graph.outputs) names.push_back(graph.values[id].name);

    std::deque<stored_tensor> rewritten;
    if (options.optimize) {
        optimize(graph, rewritten, {options.weights != weight_mode::reference});
        exporter::name_outputs(graph, names);
    } else {
        remove_unused(graph);
    }
    require_legal(graph);
    weight_options weights;
    weights.mode = options.weights;
    weights.source = from;
    weights.progress = options.progress;
    weight_report const written = write_model(graph, to, weights, {});
    export_report report{graph.nodes.size(), graph.initializers.size(), 0, written.rewritten};
    for (graph_initializer const& i : graph.initializers)
        report.weight_bytes += i.stored != nullptr ? i.stored->byte_count() : i.data.bytes.size();
    return report;
}

} // namespace aton

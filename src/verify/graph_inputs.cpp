// SPDX-License-Identifier: MIT
#include "graph_inputs.hpp"

#include <array>
#include <map>

#include <aton/core/error.hpp>

#include "random_source.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

/// The size of a dimension that is not a number.
class open_sizes {
public:
    explicit open_sizes(int try_number) : round_(static_cast<std::size_t>(try_number) / 4) {}

    std::int64_t next(dim const& d, std::string const& place, bool is_inner) {
        constexpr std::array<std::int64_t, 8> different{3, 5, 7, 4, 6, 8, 2, 16};
        constexpr std::array<std::int64_t, 4> inner{0, 16, 64, 224}; // of images and sounds
        std::string const name = d.is_symbolic() ? std::string(d.symbol()) : place;
        auto const [found, is_new] = sizes_.emplace(name, 1);
        if (!is_new) return found->second;
        if (round_ < 2) found->second = different[(sizes_.size() - 1 + round_ * 3) % different.size()];
        else if (round_ == 2) found->second = 4;
        else if (is_inner) found->second = inner[round_ - 2];
        return found->second;
    }

private:
    std::size_t round_;
    std::map<std::string, std::int64_t> sizes_;
};

} // namespace

std::vector<runtime::value> draw_inputs(std::span<part_value const> inputs, std::uint64_t seed, int try_number) {
    random_source random(seed + static_cast<std::uint64_t>(try_number) * 1000003U);
    constexpr double max_integers[] = {99, 9, 1, 0};
    open_sizes open(try_number);
    std::vector<runtime::value> out;
    for (part_value const& in : inputs) {
        shape const& s = in.type.shape;
        dtype const type = in.type.dtype;
        bool const is_drawn = in.type.kind == value_kind::tensor && s.has_rank() && aton::tensor::can_hold(type);
        if (!is_drawn)
            throw error("input '" + in.name + "' cannot be drawn: it is " +
                        (in.type.kind != value_kind::tensor ? "no tensor"
                         : !s.has_rank()                    ? "a tensor of unknown rank"
                                                            : "a tensor of " + std::string(name(type))) +
                        "; pass --inputs");
        runtime::sizes sizes;
        for (std::size_t k = 0; k != s.rank(); ++k) {
            bool const is_inner = s.rank() == 1 || (k != 0 && k + 2 >= s.rank());
            dim const& d = s.dims()[k];
            sizes.push_back(d.is_static() ? d.size() : open.next(d, in.name + ':' + std::to_string(k), is_inner));
        }
        element_range range{-2, 2, true};
        if (!is_floating(type) && !is_complex(type)) range = {0, max_integers[try_number % 4], true};
        out.emplace_back(random_tensor(random, type, sizes, value_profile::ordinary, range));
    }
    return out;
}

std::vector<runtime::value> in_graph_order(graph_data const& g, std::span<part_value const> names,
                                           std::span<runtime::value const> given) {
    std::vector<runtime::value> out(g.inputs.size());
    for (std::size_t i = 0; i != g.inputs.size(); ++i)
        for (std::size_t k = 0; k != names.size(); ++k)
            if (names[k].name == g.values[g.inputs[i]].name) out[i] = given[k];
    return out;
}

accepted_run run_accepted(runtime::onnx_model const& graph, model_parts const& model,
                          std::span<runtime::value const> given, std::uint64_t seed,
                          runtime::onnx_observer const& observer) {
    accepted_run out;
    auto const run = [&] {
        out.outputs = graph.run(in_graph_order(graph.graph(), model.inputs(), out.inputs), observer);
    };
    if (!given.empty() || model.inputs().empty()) {
        out.inputs.assign(given.begin(), given.end());
        run();
        return out;
    }
    std::string fault;
    for (int i = 0; i != max_graph_tries; ++i) {
        out.inputs = draw_inputs(model.inputs(), seed, i);
        try {
            run();
            return out;
        } catch (error const& e) {
            if (fault.empty()) fault = e.what();
        }
    }
    throw error(model.path() + ": rejects all inputs that were drawn, pass --inputs: " + fault);
}

} // namespace ATON_NAMESPACE::verify

// SPDX-License-Identifier: MIT
// Instantiates the templates that the headers declare extern where ATON_EXTERN_TEMPLATES is defined: what links this source need not.
#undef ATON_EXTERN_TEMPLATES
#include <aton/aton.hpp>

namespace ATON_NAMESPACE {

template void shapes::infer_types(graph_data&, graph_node const&);

namespace dsl::detail {

template void count_nodes(graph_data&, std::size_t);
template value_id append_constant(graph_data&, tensor);
template class node_builder<graph_data>;
template value_id append_cast(graph_data&, value const&, dtype);
template value_id append_wrapped_number(graph_data&, dsl::number const&);
template std::vector<bound_argument> bind_arguments(graph_data&, std::string_view, std::string_view,
                                                    std::span<std::uint8_t const>, std::vector<argument>);

} // namespace dsl::detail

template std::vector<dsl::result> dsl::convert(graph_data&, dsl::entry const&, int, std::vector<dsl::argument>);

} // namespace ATON_NAMESPACE

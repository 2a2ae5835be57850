# SPDX-License-Identifier: MIT
# simdjson as a static library, which Debian does not have: tools/wheel.sh and tools/static.sh compile it from the sources of the installed headers.
add_library(simdjson::simdjson STATIC IMPORTED)
set_target_properties(simdjson::simdjson PROPERTIES IMPORTED_LOCATION "$ENV{ATON_SIMDJSON_LIBRARY}")

# SPDX-License-Identifier: MIT
# Provides ONNX::onnx (schemas, checker, shape inference, version converter): an installed ONNX if there is one,
# otherwise a static library built from the C++ sources in the `onnx` wheel, with the system's protobuf.
#
# The wheel's sources are searched in the CMake or environment variable ATON_ONNX_SOURCE_DIR: the folder that
# contains `onnx/` (a venv's site-packages). Sets ATON_ONNX_VERSION, and ATON_ONNX_IS_INSTALLED in the first case.
include_guard(GLOBAL)

set(ATON_ONNX_SOURCE_DIR "$ENV{ATON_ONNX_SOURCE_DIR}" CACHE PATH "Folder that contains onnx/ with its C++ sources")

find_package(ONNX CONFIG QUIET)
set(ATON_ONNX_IS_INSTALLED "${ONNX_FOUND}")
if(ONNX_FOUND)
    if(NOT TARGET ONNX::onnx)
        add_library(ONNX::onnx ALIAS onnx) # ONNX before 1.18 exports plain names
    endif()
    set(ATON_ONNX_VERSION "${ONNX_VERSION}")
    message(STATUS "ONNX ${ATON_ONNX_VERSION}: installed package")
    return()
endif()

if(SKBUILD AND NOT ATON_ONNX_SOURCE_DIR) # pip has installed the requirements of pyproject.toml for the build
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    execute_process(
        COMMAND "${Python3_EXECUTABLE}" -c "import importlib.util as u, os; print(os.path.dirname(u.find_spec('onnx').submodule_search_locations[0]), end='')"
        OUTPUT_VARIABLE ATON_ONNX_SOURCE_DIR COMMAND_ERROR_IS_FATAL ANY)
endif()
if(NOT EXISTS "${ATON_ONNX_SOURCE_DIR}/onnx/defs/schema.cc")
    message(FATAL_ERROR
        "Aton's tools and tests need the ONNX C++ library. Either install it so that find_package(ONNX) finds it, or run "
        "`tools/setup.sh` and pass the folder it prints: -DATON_ONNX_SOURCE_DIR=<site-packages with onnx 1.23.2>. "
        "The headers alone need neither: configure with -DATON_BUILD_TOOLS=OFF -DATON_BUILD_TESTS=OFF.")
endif()

find_package(Protobuf REQUIRED)
find_package(Threads REQUIRED)

set(aton_onnx_root "${ATON_ONNX_SOURCE_DIR}/onnx")
set(aton_onnx_out "${CMAKE_BINARY_DIR}/onnx_generated")

file(GLOB aton_onnx_dist_info "${ATON_ONNX_SOURCE_DIR}/onnx-*.dist-info")
string(REGEX MATCH "onnx-([0-9]+\\.[0-9]+\\.[0-9]+)" aton_onnx_match "${aton_onnx_dist_info}")
set(ATON_ONNX_VERSION "${CMAKE_MATCH_1}")
if(NOT ATON_ONNX_VERSION)
    message(FATAL_ERROR "cannot determine the version of ONNX: no onnx-<version>.dist-info next to ${aton_onnx_root}")
endif()
message(STATUS "ONNX ${ATON_ONNX_VERSION}: built from the wheel's sources")

# version.h, as ONNX's own build makes it
set(ONNX_VERSION "${ATON_ONNX_VERSION}")
string(REPLACE "." ";" aton_onnx_version_list "${ATON_ONNX_VERSION}")
list(GET aton_onnx_version_list 0 ONNX_VERSION_MAJOR)
list(GET aton_onnx_version_list 1 ONNX_VERSION_MINOR)
list(GET aton_onnx_version_list 2 ONNX_VERSION_PATCH)
if(EXISTS "${aton_onnx_root}/common/version.h.in")
    configure_file("${aton_onnx_root}/common/version.h.in" "${aton_onnx_out}/onnx/common/version.h" @ONLY)
endif()

set(aton_onnx_pb_sources)
foreach(proto IN ITEMS onnx-ml onnx-operators-ml onnx-data)
    set(source "${aton_onnx_root}/${proto}.proto")
    set(out "${aton_onnx_out}/onnx/${proto}.pb")
    add_custom_command(
        OUTPUT "${out}.cc" "${out}.h"
        COMMAND protobuf::protoc "--cpp_out=${aton_onnx_out}" -I "${ATON_ONNX_SOURCE_DIR}" "${source}"
        DEPENDS "${source}"
        VERBATIM)
    list(APPEND aton_onnx_pb_sources "${out}.cc" "${out}.h")
endforeach()

# Globbed on purpose: the list of sources depends on the pinned wheel.
file(GLOB_RECURSE aton_onnx_sources
    "${aton_onnx_root}/common/*.cc" "${aton_onnx_root}/defs/*.cc" "${aton_onnx_root}/inliner/*.cc"
    "${aton_onnx_root}/shape_inference/*.cc" "${aton_onnx_root}/version_converter/*.cc")

add_library(aton_onnx STATIC EXCLUDE_FROM_ALL
    ${aton_onnx_sources} "${aton_onnx_root}/checker.cc" ${aton_onnx_pb_sources})
add_library(ONNX::onnx ALIAS aton_onnx)
target_compile_features(aton_onnx PUBLIC cxx_std_20)
# Its headers are private: an installed exporter links it, but its interface does not mention it.
target_compile_definitions(aton_onnx PUBLIC "$<BUILD_INTERFACE:ONNX_ML=1;ONNX_NAMESPACE=onnx>")
target_include_directories(aton_onnx SYSTEM PUBLIC "$<BUILD_INTERFACE:${aton_onnx_out};${ATON_ONNX_SOURCE_DIR}>")
target_link_libraries(aton_onnx PUBLIC protobuf::libprotobuf Threads::Threads)
# Third-party code: no warnings, and -O1 even in debug builds (half the build time of -O2).
target_compile_options(aton_onnx PRIVATE -w -O1 -g0)
if(MINGW) # its sources are for Microsoft's compiler on Windows
    target_include_directories(aton_onnx PRIVATE "${PROJECT_SOURCE_DIR}/packaging/windows/onnx")
    target_compile_options(aton_onnx PRIVATE -include "${PROJECT_SOURCE_DIR}/packaging/windows/onnx/mingw.h")
endif()
set_target_properties(aton_onnx PROPERTIES CXX_CLANG_TIDY "" POSITION_INDEPENDENT_CODE ON)
# Several sources at once: most of a source's time goes into headers that all of them include. The exceptions specialize or instantiate
# templates of the others, or are generated.
set_target_properties(aton_onnx PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 14)
set_source_files_properties("${aton_onnx_root}/defs/schema.cc" "${aton_onnx_root}/defs/tensor_proto_util.cc" ${aton_onnx_pb_sources}
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

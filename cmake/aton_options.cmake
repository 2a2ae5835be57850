# SPDX-License-Identifier: MIT
# Compile options of Aton's own targets: warnings, sanitizers, ccache. Use: target_link_libraries(t PRIVATE aton_options).
include_guard(GLOBAL)

find_program(ATON_CCACHE ccache)
if(ATON_CCACHE)
    # Hash paths below the source folder as relative paths: presets and other checkouts share their objects.
    set(aton_launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${ATON_CCACHE}")
    foreach(language IN ITEMS CXX CUDA)
        if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
            set(CMAKE_${language}_COMPILER_LAUNCHER "${aton_launcher}")
        endif()
    endforeach()
endif()

add_library(aton_options INTERFACE)
# Headers that are not installed: "runtime/kernels/binary.hpp".
target_include_directories(aton_options INTERFACE "${PROJECT_SOURCE_DIR}/src")
set(aton_is_cxx "$<COMPILE_LANGUAGE:CXX>")
target_compile_options(aton_options INTERFACE
    "$<${aton_is_cxx}:-Wall;-Wextra;-Wpedantic;-Wconversion>"
    "$<$<AND:${aton_is_cxx},$<BOOL:${ATON_WERROR}>>:-Werror>")
# GCC collects garbage each time its heap has doubled, from 128 MiB: with a larger minimum, templates compile 5 to 15 % faster.
target_compile_options(aton_options INTERFACE "$<$<AND:${aton_is_cxx},$<CXX_COMPILER_ID:GNU>>:--param=ggc-min-heapsize=524288>")
if(ATON_SANITIZE)
    target_compile_options(aton_options INTERFACE
        "$<${aton_is_cxx}:-fsanitize=${ATON_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
    # With these, GCC (at least 12) does not fold `&object == nullptr` in constant expressions (GCC bug 71962); a null pointer
    # still stops the program without them. Can be removed when tests/onnx/semantic_breaks_test.cpp compiles without.
    target_compile_options(aton_options INTERFACE
        "$<$<AND:${aton_is_cxx},$<CXX_COMPILER_ID:GNU>>:-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute>")
    # With sanitizers, GCC 12.2 reports std::optional as uninitialized (parameter<std::optional<T>>::get).
    target_compile_options(aton_options INTERFACE "$<$<AND:${aton_is_cxx},$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>")
    target_link_options(aton_options INTERFACE "-fsanitize=${ATON_SANITIZE}")
endif()

# aton_unity(targets...): with ATON_UNITY_BUILD, compiles 8 sources at a time; most of the time goes into the headers, which they share. Names in
# unnamed namespaces must differ between the sources of a target. Sources with options of their own are compiled alone.
function(aton_unity)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ${ATON_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# aton_executable(name SOURCES a.cpp ... [LIBRARIES targets...]): an executable with aton_options.
function(aton_executable name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE aton::aton aton_options ${arg_LIBRARIES})
endfunction()

# aton_library(aton_name SOURCES a.cpp ... [LIBRARIES targets...]): a static library with aton_options, and its alias aton::name, as in an
# installed package. LIBRARIES are public.
function(aton_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
    add_library(${name} STATIC ${arg_SOURCES})
    string(REPLACE "aton_" "" short "${name}")
    add_library(aton::${short} ALIAS ${name})
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    aton_unity(${name})
    target_link_libraries(${name} PUBLIC aton::aton ${arg_LIBRARIES} PRIVATE "$<BUILD_INTERFACE:aton_options>")
    target_compile_definitions(${name} PRIVATE ATON_WITHOUT_CALL_SITES) # paths do not belong into its binaries
endfunction()

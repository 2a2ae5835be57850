# SPDX-License-Identifier: MIT
# Runs a portfile without vcpkg: reimplements the vcpkg functions that it uses, as documented, for one triplet (Linux, static, release).
#
#   cmake -DPORT_FOLDER=... -DPACKAGES=... -DBUILD=... [-DFEATURES=exporter;tool] [-DOPTIONS=-D...;...] -P vcpkg_stand_in.cmake
cmake_minimum_required(VERSION 3.25)

set(CURRENT_PORT_DIR "${PORT_FOLDER}")
set(CURRENT_PACKAGES_DIR "${PACKAGES}")
get_filename_component(PORT "${PORT_FOLDER}" NAME)
list(APPEND FEATURES core)
set(VCPKG_LIBRARY_LINKAGE static)
set(VCPKG_BUILD_TYPE release)

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Functions that are missing here are errors: an unknown command ends the script.
function(vcpkg_check_linkage)
    if(NOT "${ARGN}" STREQUAL "ONLY_STATIC_LIBRARY")
        message(FATAL_ERROR "vcpkg_check_linkage(${ARGN}): not supported here")
    endif()
endfunction()

function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
    set(options "")
    while(arg_FEATURES)
        list(POP_FRONT arg_FEATURES feature option)
        if(feature IN_LIST FEATURES)
            list(APPEND options "-D${option}=ON")
        else()
            list(APPEND options "-D${option}=OFF")
        endif()
    endwhile()
    set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    run("${CMAKE_COMMAND}" -G Ninja -S "${arg_SOURCE_PATH}" -B "${BUILD}" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF
        "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_BINDIR=bin
        ${arg_OPTIONS} ${OPTIONS})
endfunction()

function(vcpkg_cmake_install)
    run("${CMAKE_COMMAND}" --build "${BUILD}" --target install --parallel 2)
endfunction()

# Moves lib/cmake/<package> to share/<port>, and fixes the relative path to the prefix and the paths of programs.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    set(from "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}")
    set(to "${CURRENT_PACKAGES_DIR}/share/${PORT}")
    file(COPY "${from}/" DESTINATION "${to}")
    get_filename_component(parent "${from}" DIRECTORY)
    file(REMOVE_RECURSE "${parent}")
    file(GLOB files "${to}/*.cmake")
    set(up [[get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)]])
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        string(REPLACE "${up}\n${up}\n${up}\n" "${up}\n${up}\n" text "${text}")
        string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
        string(REPLACE "\${_IMPORT_PREFIX}/bin/" "\${_IMPORT_PREFIX}/tools/${PORT}/" text "${text}")
        file(WRITE "${file}" "${text}")
    endforeach()
endfunction()

function(vcpkg_copy_tools)
    cmake_parse_arguments(PARSE_ARGV 0 arg "AUTO_CLEAN" "" "TOOL_NAMES")
    foreach(tool IN LISTS arg_TOOL_NAMES)
        file(COPY "${CURRENT_PACKAGES_DIR}/bin/${tool}" DESTINATION "${CURRENT_PACKAGES_DIR}/tools/${PORT}")
        if(arg_AUTO_CLEAN)
            file(REMOVE "${CURRENT_PACKAGES_DIR}/bin/${tool}")
        endif()
    endforeach()
    file(GLOB left "${CURRENT_PACKAGES_DIR}/bin/*")
    if(arg_AUTO_CLEAN AND NOT left)
        file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/bin")
    endif()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    configure_file("${arg_FILE_LIST}" "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" COPYONLY)
endfunction()

include("${PORT_FOLDER}/portfile.cmake")

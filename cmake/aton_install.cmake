# SPDX-License-Identifier: MIT
# cmake --install: headers, license, and a CMake package with those of the components dsl, mappings, exporter, runtime, verify, torch, tool and c that
# are built. For packages (aton_debian.cmake), the files belong to the install components `command` (what runs), `torch` (aton::torch) and `dev`.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)

set(aton_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/aton")

# aton_install_component(name dependencies TARGETS ...): installs the component's targets, and aton-<name>.cmake, which finds their
# dependencies and then imports them.
function(aton_install_component component dependencies)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "TARGETS")
    if(component STREQUAL "torch")
        set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME torch)
    endif()
    install(TARGETS ${arg_TARGETS} EXPORT aton_${component}
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
    install(EXPORT aton_${component} NAMESPACE aton:: FILE "aton-${component}-targets.cmake" DESTINATION "${aton_package_folder}")
    set(file "${PROJECT_BINARY_DIR}/package/aton-${component}.cmake")
    file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
"# SPDX-License-Identifier: MIT
# Component ${component} of Aton @PROJECT_VERSION@: the dependencies of its targets, then the targets.
${dependencies}include(\"\${CMAKE_CURRENT_LIST_DIR}/aton-${component}-targets.cmake\")
")
    install(FILES "${file}" DESTINATION "${aton_package_folder}")
endfunction()

# aton_install_headers(folders and files of include/aton... [COMPONENT name])
function(aton_install_headers)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "COMPONENT" "")
    if(arg_COMPONENT)
        set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME "${arg_COMPONENT}")
    endif()
    foreach(name IN LISTS arg_UNPARSED_ARGUMENTS)
        set(path "${PROJECT_SOURCE_DIR}/include/aton/${name}")
        if(IS_DIRECTORY "${path}")
            install(DIRECTORY "${path}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/aton" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc")
        else()
            get_filename_component(folder "${name}" DIRECTORY)
            install(FILES "${path}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/aton/${folder}")
        endif()
    endforeach()
endfunction()

set_target_properties(aton PROPERTIES EXPORT_NAME dsl)
aton_install_component(dsl "find_dependency(Boost 1.74)\n" TARGETS aton)
# Headers directly in include/aton belong to the DSL.
file(GLOB aton_umbrellas RELATIVE "${PROJECT_SOURCE_DIR}/include/aton" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/aton/*.hpp")
list(REMOVE_ITEM aton_umbrellas torch.hpp) # of the component torch
aton_install_headers(core onnx aten ir dsl mappings fusions domains targets ${aton_umbrellas})
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# A package with headers only is independent of the architecture.
set(aton_architecture "")
if(NOT ATON_BUILD_EXPORTER AND NOT ATON_BUILD_TOOLS AND NOT ATON_BUILD_TESTS)
    set(aton_architecture ARCH_INDEPENDENT)
endif()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/atonConfigVersion.cmake" COMPATIBILITY SameMinorVersion ${aton_architecture})
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/atonConfig.cmake.in" "${PROJECT_BINARY_DIR}/package/atonConfig.cmake"
    INSTALL_DESTINATION "${aton_package_folder}" NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
install(FILES "${PROJECT_BINARY_DIR}/package/atonConfig.cmake" "${PROJECT_BINARY_DIR}/package/atonConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/aton_plugin.cmake"
    DESTINATION "${aton_package_folder}")

# aton_install_compiled(): installs those of the components mappings, exporter, runtime, verify, torch, tool and c whose targets exist. Each component
# imports the components that it depends on.
function(aton_install_compiled)
    set(bring "include(\"\${CMAKE_CURRENT_LIST_DIR}/aton-@.cmake\")\n")
    string(REPLACE "@" "mappings" bring_mappings "${bring}")
    string(REPLACE "@" "exporter" bring_exporter "${bring}")
    string(REPLACE "@" "runtime" bring_runtime "${bring}")

    aton_install_component(mappings "" TARGETS aton_language aton_mappings aton_fusions aton_targets)

    set(libraries aton_system aton_model_io aton_program aton_frontend aton_passes aton_exporter)
    if(ATON_ONNX_IS_INSTALLED)
        set(dependencies "find_dependency(ONNX CONFIG)\nif(NOT TARGET ONNX::onnx)\n    add_library(ONNX::onnx ALIAS onnx)\nendif()\n")
    else()
        list(APPEND libraries aton_onnx)
        set_target_properties(aton_onnx PROPERTIES EXPORT_NAME onnx)
        set(dependencies "find_dependency(Protobuf)\nfind_dependency(Threads)
get_target_property(aton_protobuf protobuf::libprotobuf ALIASED_TARGET)
if(aton_protobuf STREQUAL \"dummy\")
    message(FATAL_ERROR \"find_package(Torch) has defined an empty protobuf::libprotobuf: call find_package(aton) before it\")
endif()
")
    endif()
    string(APPEND dependencies "find_dependency(simdjson)\n${bring_mappings}")
    aton_install_component(exporter "${dependencies}" TARGETS ${libraries})
    aton_install_headers(program frontend model_io passes exporter)

    if(TARGET aton_runtime)
        set(dependencies "${bring_exporter}")
        get_target_property(links aton_runtime INTERFACE_LINK_LIBRARIES)
        if("${links}" MATCHES "OpenMP")
            string(PREPEND dependencies "find_dependency(OpenMP COMPONENTS CXX)\n")
        endif()
        aton_install_component(runtime "${dependencies}" TARGETS aton_runtime)
        aton_install_component(verify "${bring_runtime}" TARGETS aton_backends aton_verify)
        aton_install_headers(runtime backends verify)
    endif()
    if(TARGET aton_torch)
        # The exporter comes first: torch's package defines an empty protobuf::libprotobuf if there is none.
        string(REPLACE "@" "verify" bring_verify "${bring}")
        aton_install_component(torch "${bring_verify}find_dependency(Torch)\n" TARGETS aton_torch)
        aton_install_headers(torch.hpp COMPONENT torch)
    endif()
    if(TARGET aton_command)
        set_target_properties(aton_command PROPERTIES EXPORT_NAME tool)
        aton_install_component(tool "" TARGETS aton_command)
    endif()
    if(TARGET aton_c)
        aton_install_component(c "" TARGETS aton_c)
        aton_install_headers(c/aton.h)
    endif()
    if(TARGET aton_verify_command) # what `aton verify` executes
        install(TARGETS aton_verify_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
    endif()
endfunction()

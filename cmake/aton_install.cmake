# SPDX-License-Identifier: MIT
# cmake --install: headers, license, and a CMake package with those of the components dsl, exporter and tool that are built.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(aton_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/aton")

# aton_install_component(name dependencies TARGETS ...): installs the component's targets, and aton-<name>.cmake, which finds their
# dependencies and then imports them.
function(aton_install_component component dependencies)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "TARGETS")
    install(TARGETS ${arg_TARGETS} EXPORT aton_${component}
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    install(EXPORT aton_${component} NAMESPACE aton:: FILE "aton-${component}-targets.cmake" DESTINATION "${aton_package_folder}")
    set(file "${PROJECT_BINARY_DIR}/package/aton-${component}.cmake")
    file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
"# SPDX-License-Identifier: MIT
# Component ${component} of Aton @PROJECT_VERSION@: the dependencies of its targets, then the targets.
${dependencies}include(\"\${CMAKE_CURRENT_LIST_DIR}/aton-${component}-targets.cmake\")
")
    install(FILES "${file}" DESTINATION "${aton_package_folder}")
endfunction()

# aton_install_headers(folders and files of include/aton...)
function(aton_install_headers)
    foreach(name IN LISTS ARGN)
        set(path "${PROJECT_SOURCE_DIR}/include/aton/${name}")
        if(IS_DIRECTORY "${path}")
            install(DIRECTORY "${path}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/aton" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc")
        else()
            install(FILES "${path}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/aton")
        endif()
    endforeach()
endfunction()

set_target_properties(aton PROPERTIES EXPORT_NAME dsl)
aton_install_component(dsl "find_dependency(Boost 1.74)\n" TARGETS aton)
# Headers directly in include/aton belong to the DSL.
file(GLOB aton_umbrellas RELATIVE "${PROJECT_SOURCE_DIR}/include/aton" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/aton/*.hpp")
aton_install_headers(core onnx aten dsl mappings ${aton_umbrellas})
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

# aton_install_compiled(): installs the components exporter and tool. Called after their targets are defined.
function(aton_install_compiled)
    set(libraries aton_model_io aton_program aton_frontend aton_passes aton_exporter)
    if(ATON_ONNX_IS_INSTALLED)
        set(dependencies "find_dependency(ONNX CONFIG)\nif(NOT TARGET ONNX::onnx)\n    add_library(ONNX::onnx ALIAS onnx)\nendif()\n")
    else()
        list(APPEND libraries aton_onnx)
        set(dependencies "find_dependency(Protobuf)\nfind_dependency(Threads)\n")
    endif()
    string(APPEND dependencies "find_dependency(simdjson)\n")
    foreach(library IN LISTS libraries)
        string(REPLACE "aton_" "" short "${library}")
        set_target_properties(${library} PROPERTIES EXPORT_NAME "${short}")
    endforeach()
    aton_install_component(exporter "${dependencies}" TARGETS ${libraries})
    aton_install_headers(program frontend model_io exporter)
    if(TARGET aton_command)
        set_target_properties(aton_command PROPERTIES EXPORT_NAME tool)
        aton_install_component(tool "" TARGETS aton_command)
    endif()
endfunction()

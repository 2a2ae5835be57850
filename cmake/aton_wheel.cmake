# SPDX-License-Identifier: MIT
# What pip installs beside python/aton_onnx when it builds Aton from source (pyproject.toml), as the install component `wheel`: the C library and
# the command, the single headers, the CMake package for plugins, manual pages and completions. Paths are relative to the package aton_onnx.
include_guard(GLOBAL)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME wheel)

install(TARGETS aton_c LIBRARY DESTINATION lib NAMELINK_SKIP)
install(PROGRAMS $<TARGET_FILE:aton_launcher> DESTINATION bin RENAME aton)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/single_include/" DESTINATION include FILES_MATCHING PATTERN "*.hpp")
install(EXPORT aton_dsl NAMESPACE aton:: FILE aton-dsl-targets.cmake DESTINATION lib/cmake/aton)
install(FILES "${PROJECT_BINARY_DIR}/package/aton-dsl.cmake" "${PROJECT_BINARY_DIR}/package/atonConfig.cmake"
    "${PROJECT_BINARY_DIR}/package/atonConfigVersion.cmake" "${PROJECT_SOURCE_DIR}/cmake/aton_plugin.cmake" DESTINATION lib/cmake/aton)
install(DIRECTORY "${PROJECT_BINARY_DIR}/manuals/share/" DESTINATION "${SKBUILD_DATA_DIR}/share")

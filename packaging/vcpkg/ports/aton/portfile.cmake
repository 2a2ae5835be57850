# SPDX-License-Identifier: MIT
# An overlay port that builds the checkout it is in. In a registry, vcpkg_from_github(...) replaces the next line.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)

if("exporter" IN_LIST FEATURES)
    vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
else()
    set(VCPKG_BUILD_TYPE release) # the headers are the same in every build
endif()

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options
    FEATURES
        exporter ATON_BUILD_EXPORTER
        tool ATON_BUILD_TOOLS
        verify ATON_BUILD_RUNTIME)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DATON_BUILD_TESTS=OFF ${feature_options})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/aton)
if("tool" IN_LIST FEATURES)
    set(tools aton)
    if("verify" IN_LIST FEATURES)
        list(APPEND tools aton-verify)
    endif()
    vcpkg_copy_tools(TOOL_NAMES ${tools} AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share" "${CURRENT_PACKAGES_DIR}/share/doc")
foreach(manuals IN ITEMS man bash-completion zsh fish) # a package has only share/PORT
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/${manuals}")
endforeach()
if(NOT "exporter" IN_LIST FEATURES)
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib")
endif()
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

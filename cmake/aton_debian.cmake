# SPDX-License-Identifier: MIT
# Debian packages of a build: cpack --config build/release/CPackConfig.cmake. `aton` has the command, its manual pages and completions;
# `libaton-dev` the headers, the static libraries and the CMake package.
include_guard(GLOBAL)

set(ATON_DEBIAN_MAINTAINER "The Aton authors <aton@example.org>" CACHE STRING "Maintainer of the Debian packages: Name <address>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME aton)
set(CPACK_PACKAGE_VENDOR "The Aton authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL command dev)
set(CPACK_COMPONENTS_GROUPING IGNORE) # a package for each component
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${ATON_DEBIAN_MAINTAINER}")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME aton)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "export PyTorch programs to ONNX\n\
Converts the files of torch.export and TorchScript archives to ONNX models,\n\
without Python, and compares the models with the programs.")

# libaton-dev depends on what its CMake package looks for. It refers to the command by path.
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libaton-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "aton (= ${PROJECT_VERSION}-1), libboost-dev (>= 1.74), libprotobuf-dev, libsimdjson-dev, libstdc++-12-dev | libstdc++-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "cmake, g++ (>= 4:12)")
set(CPACK_COMPONENT_DEV_DESCRIPTION "map PyTorch operators to ONNX in C++ - development files\n\
Headers for tables of mappings, static libraries of the exporter and the\n\
runtime, and a CMake package with aton_add_plugin.")

set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake")
set(CPACK_ATON_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
include(CPack)

# SPDX-License-Identifier: MIT
# Makes what cmake --install has written into what Debian's policy demands; cpack runs it before it packs: compressed manual pages and
# change log, a copyright file, and completions where Debian's zsh finds them.
foreach(pair IN ITEMS command:aton dev:libaton-dev)
    string(REGEX MATCH "^(.*):(.*)$" pair "${pair}")
    set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${CMAKE_MATCH_1}/usr/share")
    set(doc "${share}/doc/${CMAKE_MATCH_2}")
    file(REMOVE_RECURSE "${share}/doc")
    file(MAKE_DIRECTORY "${doc}")
    configure_file("${CPACK_ATON_SOURCE_DIR}/packaging/debian/copyright" "${doc}/copyright" COPYONLY)
    file(READ "${CPACK_ATON_SOURCE_DIR}/CHANGELOG.md" changes)
    file(WRITE "${doc}/changelog" "${changes}")
    string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH, if that is set
    file(WRITE "${doc}/changelog.Debian" "aton (${CPACK_DEBIAN_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * See changelog.gz.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${now}
")
    file(GLOB texts "${doc}/changelog*" "${share}/man/man1/*.1")
    execute_process(COMMAND gzip -9nf ${texts} COMMAND_ERROR_IS_FATAL ANY)
    if(EXISTS "${share}/zsh/site-functions")
        file(RENAME "${share}/zsh/site-functions" "${share}/zsh/vendor-completions")
    endif()
endforeach()

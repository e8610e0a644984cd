# What is installed, and the Debian package that CPack makes of it: ./dev package.
# The same file, run as a script, writes what is generated for it; see the end.
#   cmake -DDO=changelog|page … -P package.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  if(DO STREQUAL "changelog")
    # Debian's form from CHANGELOG.md: its entries, under the version that is packaged.
    file(STRINGS ${INPUT} lines ENCODING UTF-8)
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH when that is set
    set(text "vramscope (${VERSION}) unstable; urgency=medium\n\n")
    foreach(line IN LISTS lines)
      if(line MATCHES "^- (.*)$")
        string(APPEND text "  * ${CMAKE_MATCH_1}\n")
      elseif(line MATCHES "^  ([^ ].*)$")
        string(APPEND text "    ${CMAKE_MATCH_1}\n")
      endif()
    endforeach()
    string(APPEND text "\n -- ${MAINTAINER}  ${date}\n")
    file(WRITE ${OUTPUT} "${text}")
  elseif(DO STREQUAL "page")
    # Output of the program in a language of its own choice, not of whoever builds.
    execute_process(COMMAND ${PROGRAM} --lang ${LANGUAGE} help ${ARGUMENTS} OUTPUT_FILE ${OUTPUT}
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()
  if(COMPRESS)
    execute_process(COMMAND gzip -9nf ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  return()
endif()

include(GNUInstallDirs)
set(VRAMSCOPE_MAINTAINER "vramscope maintainers <maintainers@vramscope.example>" CACHE STRING
    "Maintainer named in the Debian package")
set(pages ${CMAKE_BINARY_DIR}/generated/package)
file(MAKE_DIRECTORY ${pages}/man ${pages}/man-zh)
set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/vramscope)

# packaged_page(FILE LANGUAGE DESTINATION NAME ARGUMENTS…): what `vramscope help ARGUMENTS…` prints.
set(packaged_pages "")
function(packaged_page file language destination name)
  set(made ${pages}/${file})
  if(file MATCHES "\\.1$")
    set(result ${made}.gz)
    set(compress -DCOMPRESS=ON)
  else()
    set(result ${made})
    set(compress "")
  endif()
  add_custom_command(
    OUTPUT ${result}
    COMMAND ${CMAKE_COMMAND} -DDO=page -DPROGRAM=$<TARGET_FILE:vramscope> -DLANGUAGE=${language} "-DARGUMENTS=${ARGN}"
            -DOUTPUT=${made} ${compress} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS vramscope ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Writing ${file}"
    VERBATIM)
  install(FILES ${result} DESTINATION ${destination} RENAME ${name})
  list(APPEND packaged_pages ${result})
  set(packaged_pages ${packaged_pages} PARENT_SCOPE)
endfunction()

packaged_page(man/vramscope.1 en ${CMAKE_INSTALL_MANDIR}/man1 vramscope.1.gz --man)
packaged_page(man-zh/vramscope.1 zh ${CMAKE_INSTALL_MANDIR}/zh_CN/man1 vramscope.1.gz --man)
packaged_page(vramscope.bash en ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions vramscope --completion bash)
packaged_page(_vramscope en ${CMAKE_INSTALL_DATAROOTDIR}/zsh/vendor-completions _vramscope --completion zsh)
packaged_page(vramscope.fish en ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d vramscope.fish --completion fish)
add_custom_command(
  OUTPUT ${pages}/changelog.gz
  COMMAND ${CMAKE_COMMAND} -DDO=changelog -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/CHANGELOG.md -DVERSION=${PROJECT_VERSION}
          "-DMAINTAINER=${VRAMSCOPE_MAINTAINER}" -DOUTPUT=${pages}/changelog -DCOMPRESS=ON
          -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/CHANGELOG.md ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Writing changelog.gz"
  VERBATIM)
set(everywhere ALL)
if(VRAMSCOPE_SANITIZE OR VRAMSCOPE_FUZZ)
  set(everywhere "")  # never installed
endif()
add_custom_target(package_pages ${everywhere} DEPENDS ${packaged_pages} ${pages}/changelog.gz)

install(TARGETS vramscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES packaging/copyright ${pages}/changelog.gz DESTINATION ${documents})
install(DIRECTORY docs/rules docs/schemas DESTINATION ${documents})
foreach(page alerts configuration hardware inputs recording-format scenarios)
  install(FILES docs/${page}.md DESTINATION ${documents} OPTIONAL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vramscope)
set(CPACK_PACKAGE_VENDOR vramscope)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${VRAMSCOPE_MAINTAINER})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_stage.cmake)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU memory check-up: who holds it, what is wrong, what to do")
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/packaging/description CPACK_DEBIAN_PACKAGE_DESCRIPTION)
string(STRIP "${CPACK_DEBIAN_PACKAGE_DESCRIPTION}" CPACK_DEBIAN_PACKAGE_DESCRIPTION)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)  # vramscope_VERSION_ARCHITECTURE.deb
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcurl4 | libcurl3-gnutls")  # opened for mail and webhooks alone
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
include(CPack)

# The Debian packages, which scripts/package makes by CPack: tensorfs of the component Program, and
# libtensorfs-dev of Development.

# Where files go follows from the prefix that CMake was configured with (install.cmake): with another than /usr,
# no packages can be made, and cpack says that it has no configuration.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tensorfs)
set(CPACK_PACKAGE_CONTACT "tensorfs authors <tensorfs@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own, in the first line of its description
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL Program Development)
set(CPACK_COMPONENTS_GROUPING IGNORE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# ---- tensorfs ----

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME tensorfs)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
# Debian's libraries are found by dpkg-shlibdeps. fuse3 has fusermount3, which unmounts, and mounts for ordinary
# users, and mount.fuse3, which mount(8) and /etc/fstab call; procps has /bin/kill, by which the service is reloaded.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "fuse3 (>= 3.12), procps")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "attr, python3-numpy")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/scripts/debian/postinst ${PROJECT_SOURCE_DIR}/scripts/debian/postrm)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "mount machine learning models as folders of tensors
tensorfs shows a model (safetensors, GGUF, a PyTorch checkpoint, NumPy
arrays) as a folder in which each tensor is a read-only file, so that any
program that can open a file can use a tensor, and all of them share one
copy in memory. Sharded models, pipelines and
models in the Hugging Face Hub's local cache mount without being copied or
converted.

Without a mount, it lists, sums up, verifies, compares and prints models.")

# ---- libtensorfs-dev ----

# of_version(PACKAGE VERSION NEXT OUT): from that version on, but before the next that differs in what is compiled in.
function(of_version package version next out)
  set(${out} "${package} (>= ${version}), ${package} (<< ${next}~)" PARENT_SCOPE)
endfunction()
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)" _ "${Boost_VERSION}")
math(EXPR next "${CMAKE_MATCH_3} + 1")
of_version(libboost-dev ${Boost_VERSION} ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${next} boost)
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)" _ "${simdjson_VERSION}")
math(EXPR next "${CMAKE_MATCH_3} + 1")
of_version(libsimdjson-dev ${simdjson_VERSION} ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${next} simdjson)
string(REGEX MATCH "^[0-9]+" next "${fmt_VERSION}")
math(EXPR next "${next} + 1")
of_version(libfmt-dev ${fmt_VERSION} ${next} fmt)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtensorfs-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What tensorfsConfig.cmake looks for, and the compiler's and C library's headers.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${boost}, ${fmt}, ${simdjson}, libxxhash-dev (>= 0.8), zlib1g-dev, pkgconf | pkg-config")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake (>= 3.16), tensorfs")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "read safetensors, GGUF, PyTorch and NumPy models from C++
The static library that tensorfs is built on, its headers, and a CMake
package with the target tensorfs::core. It finds the shards of a model,
checks their headers against the format's rules, and gives tensors as
slices of memory-mapped files, as NumPy arrays, or widened to float32.")

# ---- What only Debian asks for ----

# Each package has its licence and Debian's changelog under its own name.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, where that is set
foreach(component IN ITEMS Program Development)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  configure_file(scripts/debian/changelog.in ${package}.changelog @ONLY)
  tensorfs_compressed(${PROJECT_BINARY_DIR}/${package}.changelog ${package}.changelog.gz)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.changelog.gz RENAME changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
install(FILES LICENSE RENAME copyright
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libtensorfs-dev COMPONENT Development EXCLUDE_FROM_ALL)

include(CPack)

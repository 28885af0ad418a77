# What `cmake --install` puts where, in two components: Program, which is all that has to do with using
# tensorfs, and Development, which is core for other C++ projects (see "Use it from C++" in core/README.md).
# tests/install/expected.py lists the files.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
find_program(TENSORFS_GZIP gzip REQUIRED)

# Folders are 0755, as files are 0644 or 0755, also where the umask lets the group write.
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# Debian's zsh looks in vendor-completions for what packages bring; /usr/share/zsh/site-functions, where other
# systems and what is built by hand have it, it passes over. As with lib/ and lib/x86_64-linux-gnu, the prefix that
# CMake was configured with decides, and a --prefix given later only moves the whole.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
  set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
else()
  set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

# tensorfs_compressed(FILE NAME): has NAME made in the build folder of FILE, by gzip, the same bytes each time.
function(tensorfs_compressed file name)
  set(made ${PROJECT_BINARY_DIR}/${name})
  add_custom_command(OUTPUT ${made} DEPENDS ${file} VERBATIM
                     COMMAND ${TENSORFS_GZIP} -9nc ${file} > ${made} COMMENT "Compressing ${name}")
  string(MAKE_C_IDENTIFIER ${name} target)
  add_custom_target(tensorfs_${target} ALL DEPENDS ${made})
endfunction()

tensorfs_compressed(${PROJECT_BINARY_DIR}/tensorfs.1 tensorfs.1.gz)
tensorfs_compressed(${PROJECT_SOURCE_DIR}/README.md README.md.gz)
tensorfs_compressed(${PROJECT_SOURCE_DIR}/CHANGELOG.md changelog.gz)

# ---- Program ----

install(TARGETS tensorfs RUNTIME COMPONENT Program)
install(FILES ${PROJECT_BINARY_DIR}/tensorfs.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT Program)
install(FILES ${PROJECT_BINARY_DIR}/README.md.gz ${PROJECT_BINARY_DIR}/changelog.gz
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT Program)
install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT Program)
install(FILES ${PROJECT_BINARY_DIR}/completions/tensorfs.bash RENAME tensorfs
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT Program)
install(FILES ${PROJECT_BINARY_DIR}/completions/_tensorfs DESTINATION ${zsh_folder} COMPONENT Program)
# systemd looks in lib/, never in lib/x86_64-linux-gnu.
install(FILES systemd/tensorfs@.service DESTINATION lib/systemd/system COMPONENT Program)
install(FILES systemd/user/tensorfs@.service DESTINATION lib/systemd/user COMPONENT Program)
install(DIRECTORY systemd/examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT Program)

# ---- Development ----

# The headers that others include, and those that these include. The rest of core is its own affair.
set(public_headers
  base/descriptor base/error base/escape base/large_pages base/text
  tensors/content tensors/dtype tensors/gather tensors/gather_windows tensors/read_at
  tensors/shard tensors/tensor tensors/widen
  formats/file_names formats/formats formats/header formats/metadata formats/part formats/safetensors/safetensors
  sources/choice sources/index sources/layout sources/source
  model/model model/tree
  views/listings views/merged views/model_file views/npz views/pytorch views/view_table views/views)
foreach(header ${public_headers})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES core/${header}.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tensorfs/core/${folder} COMPONENT Development)
endforeach()

set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tensorfs)
set_target_properties(tensorfs_core PROPERTIES EXPORT_NAME core)
install(TARGETS tensorfs_core EXPORT tensorfsTargets ARCHIVE COMPONENT Development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tensorfs)
install(EXPORT tensorfsTargets NAMESPACE tensorfs:: DESTINATION ${cmake_folder} COMPONENT Development)

configure_package_config_file(scripts/cmake/tensorfsConfig.cmake.in tensorfsConfig.cmake
                              INSTALL_DESTINATION ${cmake_folder})
# Before 1.0, a minor version may change the interface.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(tensorfsConfigVersion.cmake COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/tensorfsConfig.cmake ${PROJECT_BINARY_DIR}/tensorfsConfigVersion.cmake
        DESTINATION ${cmake_folder} COMPONENT Development)

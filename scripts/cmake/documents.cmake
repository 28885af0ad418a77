# The manual and the completions, made from their templates and the program's own tables of verbs and options.

add_executable(make_documents
  fs/completions/bash.cpp fs/completions/zsh.cpp fs/make_documents.cpp fs/man/manual.cpp)
target_link_libraries(make_documents PRIVATE tensorfs_fs tensorfs_flags fmt::fmt)

# tensorfs_document(TEMPLATE MADE): has MADE, a path in the build folder, made from TEMPLATE.
function(tensorfs_document template made)
  set(path ${PROJECT_BINARY_DIR}/${made})
  cmake_path(GET path PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${path} DEPENDS make_documents ${PROJECT_SOURCE_DIR}/${template} VERBATIM
                     COMMAND make_documents ${PROJECT_SOURCE_DIR}/${template} ${path} COMMENT "Making ${made}")
  string(MAKE_C_IDENTIFIER ${made} target)
  add_custom_target(tensorfs_made_${target} ALL DEPENDS ${path})
endfunction()

tensorfs_document(fs/man/tensorfs.1.in tensorfs.1)
tensorfs_document(fs/completions/tensorfs.bash.in completions/tensorfs.bash)
tensorfs_document(fs/completions/_tensorfs.in completions/_tensorfs)

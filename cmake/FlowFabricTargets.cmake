# How every target of the project is built: one place for the language level, warnings, sanitizers,
# and the precompiled header.

find_program(FF_CCACHE ccache)
if(FF_CCACHE)
  # Paths below the source tree are made relative and left out of the hash, so that another clone on the
  # same machine finds what this one compiled. CCACHE_DEPEND would break that: the files that join a batch
  # name their parts with absolute paths. The sloppiness lets ccache see through precompiled headers, and takes
  # files that are as new as the compilation.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=10G
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${FF_CCACHE})
endif()

find_program(FF_GOLD ld.gold)
if(FF_GOLD)
  add_link_options(-fuse-ld=gold)  # links in half the time
endif()

add_library(ff_options INTERFACE)
target_compile_features(ff_options INTERFACE cxx_std_23)
target_compile_options(ff_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Werror -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
  $<$<CONFIG:RelWithDebInfo>:-fno-omit-frame-pointer>)
if(FF_SANITIZE)
  target_compile_options(ff_options INTERFACE
    -fsanitize=${FF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ff_options INTERFACE -fsanitize=${FF_SANITIZE})
endif()
if(FF_SANITIZE MATCHES "undefined")
  # These look at every use of a pointer, which the address sanitizer does already; without them a
  # build takes a fourth less.
  # Tests are not judged themselves: that takes another fifth of what they take to compile.
  target_compile_options(ff_options INTERFACE
    -fno-sanitize=vptr,null,alignment,object-size,pointer-overflow
    $<$<BOOL:$<TARGET_PROPERTY:FF_IS_TEST>>:-fno-sanitize=undefined>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside its own and Boost's headers when it inlines or instruments them.
  target_compile_options(ff_options INTERFACE
    -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
    -Wno-stringop-overread -Wno-free-nonheap-object -Wno-mismatched-new-delete -Wno-tsan
    -fpch-preprocess)
  # g++ collects garbage from 128 MB on; a file here takes 600 to 900 MB, and a tenth less time without.
  target_compile_options(ff_options INTERFACE "SHELL:--param ggc-min-heapsize=600000")
else()
  target_compile_options(ff_options INTERFACE -Wno-error)  # g++ decides what is clean
endif()

# Precompiled headers, one per group of targets: it is built with the first of the group and used by
# the others. More headers than src/precompiled.hpp may be given. All are named with <>: CMake would write
# an absolute path into the header that it generates, and no other clone could share the result.
function(ff_precompile target group)
  get_property(owner GLOBAL PROPERTY FF_PRECOMPILED_${group})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${target} PRIVATE <precompiled.hpp> ${ARGN})
    set_property(GLOBAL PROPERTY FF_PRECOMPILED_${group} ${target})
  endif()
endfunction()

# Compiles several files of a target as one, which takes much less time from scratch. Two files of a target
# must not use the same name for something of their own.
function(ff_unity target batch_size)
  if(FF_SANITIZE AND batch_size LESS 4)  # such builds are made from scratch, mostly
    math(EXPR batch_size "${batch_size} * 2")
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch_size})
  # g++ takes what is local to one of the files for something of a header.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()

# ff_library(name [INTERNAL] [BATCH n] FILES… [LINK …] [PRECOMPILE …]): a static library of one folder. An
# internal one is not installed. BATCH is how many files are compiled as one (option FF_UNITY).
function(ff_library name)
  cmake_parse_arguments(ARG "INTERNAL" "BATCH" "FILES;LINK;PRECOMPILE" ${ARGN})
  add_library(${name} STATIC ${ARG_FILES})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
  # Asio and Beast are compiled once (base/asio.cpp), not in every file that includes them.
  target_compile_features(${name} PUBLIC cxx_std_23)
  target_compile_definitions(${name} PUBLIC
    BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
  if(FF_SANITIZE STREQUAL "thread")
    # The thread sanitizer does not understand fences; Asio then counts references without them.
    target_compile_definitions(${name} PUBLIC
      BOOST_ASIO_DISABLE_STD_ATOMIC BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} Boost::headers Threads::Threads
    PRIVATE $<BUILD_INTERFACE:ff_options>)
  if(ARG_PRECOMPILE)
    ff_precompile(${name} ${name} ${ARG_PRECOMPILE})
  else()
    ff_precompile(${name} common)
  endif()
  if(ARG_BATCH AND FF_UNITY)
    ff_unity(${name} ${ARG_BATCH})
  endif()
  if(NOT ARG_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY FF_INSTALLED_TARGETS ${name})
  endif()
endfunction()

# ff_program(name [BATCH n] FILES… LINK … [PRECOMPILE …]): a program of the project's own.
function(ff_program name)
  cmake_parse_arguments(ARG "" "BATCH" "FILES;LINK;PRECOMPILE" ${ARGN})
  add_executable(${name} ${ARG_FILES})
  target_include_directories(${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ff_options)
  if(ARG_PRECOMPILE)
    ff_precompile(${name} ${name} ${ARG_PRECOMPILE})
  else()
    ff_precompile(${name} common)
  endif()
  if(ARG_BATCH AND FF_UNITY)
    ff_unity(${name} ${ARG_BATCH})
  endif()
endfunction()

# How test programs, and the library that they share, are compiled.
function(ff_test_options target)
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(${target} PRIVATE GTest::gmock ff_options)
  target_compile_options(${target} PRIVATE -O0)  # the code under test is optimised; tests need not be
  set_target_properties(${target} PROPERTIES FF_IS_TEST ON)
  ff_precompile(${target} tests <gmock/gmock.h> <gtest/gtest.h>)
endfunction()

# ff_test(library [SEQUENTIAL] [BATCH n] FILES …): the unit tests that stand beside a library's files, as
# one ctest entry each.
function(ff_test library)
  if(FF_TESTS AND FF_SANITIZED_TESTS)
    ff_test_program(${library}_test unit ${ARGN} LINK ${library})
  endif()
endfunction()

# ff_test_program(name label [SEQUENTIAL] [BATCH n] FILES … LINK …): a program of tests; `label` is for
# ctest. BATCH is how many files are compiled as one; a batch should take less than 12 s. A sequential one
# shows the thread sanitizer nothing that others do not, and is left out there. Tests whose name matches
# one of the TOGETHER patterns run in one process per pattern: they share something that takes long to
# start. Only tests that match FILTER (gtest's patterns) run; one that takes longer than TIMEOUT (60 s)
# fails. Every other test is a ctest entry and a process of its own; with FF_TEST_SHARDS, a program's tests
# share that many processes, which spares most of what starting them takes.
function(ff_test_program name label)
  cmake_parse_arguments(ARG "SEQUENTIAL" "BATCH;FILTER;TIMEOUT" "FILES;LINK;TOGETHER" ${ARGN})
  if(ARG_SEQUENTIAL AND FF_SANITIZE STREQUAL "thread")
    return()
  endif()
  add_executable(${name} ${ARG_FILES})
  ff_test_options(${name})
  if(NOT ARG_BATCH)
    set(ARG_BATCH 6)
  endif()
  ff_unity(${name} ${ARG_BATCH})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ff_test_support GTest::gmock_main)
  list(JOIN ARG_TOGETHER ":" together)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(NOT ARG_FILTER)
    set(ARG_FILTER "*")
  endif()
  set(filter "${ARG_FILTER}:-${together}")
  if(FF_TEST_SHARDS)
    math(EXPR last "${FF_TEST_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME "${name}.shard_${shard}" COMMAND ${name} --gtest_filter=${filter})
      set_tests_properties("${name}.shard_${shard}" PROPERTIES LABELS ${label} TIMEOUT 600 COST 10
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${FF_TEST_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
  else()
    include(GoogleTest)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_FILTER "${filter}"
      PROPERTIES LABELS ${label} TIMEOUT ${ARG_TIMEOUT})
  endif()
  foreach(pattern ${ARG_TOGETHER})
    add_test(NAME "${name}.${pattern}" COMMAND ${name} --gtest_filter=${pattern})
    set_tests_properties("${name}.${pattern}" PROPERTIES LABELS ${label} TIMEOUT 900 COST 100)  # the longest first
  endforeach()
endfunction()

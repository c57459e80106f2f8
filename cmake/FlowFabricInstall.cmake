# find_package(FlowFabric) → FlowFabric::flowfabric
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(libraries GLOBAL PROPERTY FF_INSTALLED_TARGETS)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/FlowFabric)

install(TARGETS ${libraries} EXPORT FlowFabric ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(FF_PROGRAM)
  install(TARGETS ff RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(FF_STRIP AND CMAKE_STRIP)
    set(installed "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/ff")
    install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" \"${installed}\" COMMAND_ERROR_IS_FATAL ANY)")
  endif()
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/flowfabric DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT FlowFabric NAMESPACE FlowFabric:: FILE FlowFabricTargets.cmake
        DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/FlowFabricConfig.cmake.in
  ${PROJECT_BINARY_DIR}/FlowFabricConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/FlowFabricConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/FlowFabricConfig.cmake
              ${PROJECT_BINARY_DIR}/FlowFabricConfigVersion.cmake
        DESTINATION ${package_dir})

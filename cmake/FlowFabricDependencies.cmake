# What FlowFabric links. The installed package finds the same list (FlowFabricConfig.cmake.in).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(OpenSSL REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)
find_package(Protobuf REQUIRED)
find_package(date REQUIRED)  # time zones
find_package(RocksDB CONFIG REQUIRED)
find_library(FF_HIREDIS hiredis REQUIRED)  # its own package file is of no use
find_package(CLI11 REQUIRED)
if(FF_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck CONFIG REQUIRED)
endif()

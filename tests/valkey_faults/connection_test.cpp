// A way to Valkey that is cut, stalls, or carries garbage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/runtime.hpp"
#include "sdk/client/blocking.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"
#include "tests/valkey_faults/proxy.hpp"
#include "valkey/client.hpp"

namespace ff::faults {
namespace {

using test::ValkeyServer;

TEST(ValkeyConnectionFault, CutAgainAndAgain) {
  ValkeyServer server;
  const auto first = open_engine(server.client_options());
  const auto second = open_engine(server.client_options());
  Load load({first.get(), second.get()});
  for (int i = 0; i < 20; ++i) {
    load.await_progress(10);
    server.call({"CLIENT", "KILL", "TYPE", i % 2 == 0 ? "normal" : "pubsub"});
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

TEST(ValkeyConnectionFault, ServerStalls) {
  ValkeyServer server;
  const auto engine = open_engine(server.client_options());
  Load load({engine.get()});
  for (int i = 0; i < 2; ++i) {
    load.await_progress();
    server.pause();
    std::this_thread::sleep_for(2500ms);
    server.resume();
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

TEST(ValkeyConnectionFault, Garbage) {
  ValkeyServer server;
  Proxy proxy(server.port());
  const auto engine = open_engine(proxy.client_options());
  Load load({engine.get()});
  for (int i = 0; i < 10; ++i) {
    load.await_progress(20);
    proxy.corrupt();
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

}  // namespace
}  // namespace ff::faults

// A cluster whose primaries die and whose slots move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sdk/client/blocking.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"
#include "valkey/cluster/slot.hpp"

namespace ff::faults {
namespace {

using test::ValkeyCluster;
using test::ValkeyServer;

std::string line_of(ValkeyServer& server, const std::string& name) {
  const auto info = server.call({"INFO", "replication"});
  const auto& text = *info.as_text();
  const auto at = text.find(name + ":");
  return at == text.npos ? "" : text.substr(at, text.find('\r', at) - at);
}

void await_in_sync(ValkeyCluster& cluster, std::size_t index) {
  test::await("the replica has everything", [&] {
    return line_of(cluster.primary(index), "master_repl_offset") ==
           line_of(cluster.replica(index), "master_repl_offset");
  });
}

TEST(ValkeyClusterFault, AReplicaTakesOver) {
  ValkeyCluster cluster(ValkeyCluster::Replicas::one_each);
  const auto first = open_engine(cluster.client_options());
  const auto second = open_engine(cluster.client_options());
  Load load({first.get(), second.get()});
  load.await_progress();
  load.hold();
  await_in_sync(cluster, 1);
  cluster.kill_primary(1);
  load.go_on();
  load.await_progress(300, 15s);
  EXPECT_EQ(load.finish(), "");
}

TEST(ValkeyClusterFault, WritesConfirmedByAReplicaSurviveAFailoverUnderLoad) {
  ValkeyCluster cluster(ValkeyCluster::Replicas::one_each);
  const auto append = [](ValkeyServer& server) {
    server.call({"CONFIG", "SET", "appendonly", "yes", "appendfsync", "always"});
  };
  for (std::size_t i = 0; i < ValkeyCluster::primary_count; ++i)
    for (auto* server : {&cluster.primary(i), &cluster.replica(i)}) append(*server);
  const auto engine = open_engine(cluster.client_options(), valkey_store::Durability::replicas);
  Load load({engine.get()}, 5);
  // Replicas tell once a second how far they are.
  load.await_progress(5);
  cluster.kill_primary(2);
  // Until it is back, as a replica, nobody can confirm what the new primary has.
  std::this_thread::sleep_for(3s);
  cluster.primary(2).start();
  append(cluster.primary(2));
  load.await_progress(5, 15s);
  EXPECT_EQ(load.finish(30s), "");
}

TEST(ValkeyClusterFault, ASlotMovesUnderLoad) {
  ValkeyCluster cluster;
  const auto first = open_engine(cluster.client_options());
  const auto second = open_engine(cluster.client_options());
  Load load({first.get(), second.get()});
  load.await_progress();
  for (int partition = 0; partition < 12; ++partition) {
    const auto slot = valkey::slot_of(fmt::format("{{fp:{}}}", partition));
    const auto from = ValkeyCluster::first_owner_of(slot);
    const auto to = (from + 1) % ValkeyCluster::primary_count;
    cluster.begin_move(slot, from, to);
    load.await_progress(30);
    cluster.finish_move(slot, from, to);
    load.await_progress(10);
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

}  // namespace
}  // namespace ff::faults

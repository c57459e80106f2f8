// Real Valkey servers for tests: on loopback, on free ports, gone when the test is over, even if it dies.
// Start them on a thread that lives as long as they do: the system ends them with it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/support/await.hpp"
#include "tests/support/temp_directory.hpp"
#include "valkey/options.hpp"
#include "valkey/protocol/reply.hpp"

namespace ff::test {

// A port on loopback that nobody listens on, outside the range that the system gives to clients: one that
// tries to connect to a server that is down could otherwise be given that server's port.
std::uint16_t free_port();

struct ValkeyServerOptions {
  bool append_only = false;
  bool unix_socket = false;
  bool tls = false;                         // port() then speaks TLS only
  std::string user = "";                    // beside the default user, who is then off
  std::string password = "";                // of the user, or of the default user
  std::vector<std::string> arguments = {};  // more of valkey-server's own
};

class ValkeyServer {
 public:
  explicit ValkeyServer(ValkeyServerOptions options = {});
  ~ValkeyServer();
  ValkeyServer(const ValkeyServer&) = delete;
  ValkeyServer& operator=(const ValkeyServer&) = delete;

  std::uint16_t port() const { return options_.tls ? tls_port_ : port_; }
  std::string url() const;
  std::filesystem::path socket_path() const { return directory_.path() / "socket"; }
  // Of the certificate of a server with TLS.
  static std::filesystem::path ca_file();
  // With endpoint, TLS, user and password as this server wants them.
  valkey::ClientOptions client_options() const;

  void kill();   // as a crash does
  void stop();   // in order: what it has is kept, with append_only
  // Again, on the same port and data, and from now on with these arguments, too.
  void start(const std::vector<std::string>& arguments = {});
  void pause();  // it is there, but does nothing
  void resume();

  // Blocks; throws if there is no answer.
  valkey::Reply call(const std::vector<std::string>& command);
  void flushall() { call({"FLUSHALL"}); }

 private:
  std::vector<std::string> command_line() const;
  bool launch();
  void end(int signal);

  ValkeyServerOptions options_;
  TempDirectory directory_;
  std::uint16_t port_ = 0;
  std::uint16_t tls_port_ = 0;
  pid_t pid_ = -1;
};

// Three primaries, which share the slots evenly, and a replica of each if wanted.
class ValkeyCluster {
 public:
  enum class Replicas { none, one_each };
  explicit ValkeyCluster(Replicas replicas = Replicas::none);

  static constexpr std::size_t primary_count = 3;
  ValkeyServer& primary(std::size_t index) { return *nodes_.at(index); }
  ValkeyServer& replica(std::size_t index) { return *nodes_.at(primary_count + index); }
  // Which primary had the slot in the beginning.
  static std::size_t first_owner_of(std::uint16_t slot);
  std::string url() const;
  valkey::ClientOptions client_options() const;

  void flushall() {
    for (std::size_t i = 0; i < primary_count; ++i) primary(i).flushall();
  }
  void kill_primary(std::size_t index) { primary(index).kill(); }
  void await_in_sync(std::size_t index);  // the replica has everything that its primary has

  // Between these two a slot's keys are partly here and partly there: clients are told ASK.
  void begin_move(std::uint16_t slot, std::size_t from, std::size_t to);
  void finish_move(std::uint16_t slot, std::size_t from, std::size_t to);
  void move_slot(std::uint16_t slot, std::size_t from, std::size_t to) {
    begin_move(slot, from, to);
    finish_move(slot, from, to);
  }

 private:
  std::string id_of(std::size_t index);
  void introduce();
  void replicate();

  std::vector<std::unique_ptr<ValkeyServer>> nodes_;
};

}  // namespace ff::test

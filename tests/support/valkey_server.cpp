#include "tests/support/valkey_server.hpp"

#include <csignal>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "valkey/cluster/slot.hpp"
#include "valkey/protocol/reply_reader.hpp"
#include "valkey/protocol/write_batch.hpp"

namespace ff::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds cluster_start_max{30'000};  // on a busy machine

const auto loopback = asio::ip::address_v4::loopback();

bool is_free(std::uint16_t port) {
  asio::io_context context;
  tcp::acceptor acceptor(context);
  boost::system::error_code failed;
  acceptor.open(tcp::v4(), failed);
  acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  acceptor.bind({loopback, port}, failed);
  return !failed;
}

// A certificate for 127.0.0.1 that is its own authority.
class Certificate {
 public:
  Certificate() {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* made = X509_new();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 24 * 3600);
    X509_set_pubkey(made, key);
    auto* name = X509_get_subject_name(made);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(made, name);
    add_extension(made, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(made, NID_subject_alt_name, "IP:127.0.0.1");
    X509_sign(made, key, EVP_sha256());
    write(certificate(), [&](FILE* out) { PEM_write_X509(out, made); });
    write(this->key(), [&](FILE* out) {
      PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
    X509_free(made);
    EVP_PKEY_free(key);
  }

  std::filesystem::path certificate() const { return directory_.path() / "certificate.pem"; }
  std::filesystem::path key() const { return directory_.path() / "key.pem"; }

  static const Certificate& of_this_process() {
    static const Certificate only;
    return only;
  }

 private:
  static void add_extension(X509* to, int kind, const char* value) {
    auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    X509_add_ext(to, extension, -1);
    X509_EXTENSION_free(extension);
  }
  template <class Write>
  static void write(const std::filesystem::path& path, Write write_to) {
    FILE* out = std::fopen(path.c_str(), "w");
    write_to(out);
    std::fclose(out);
  }

  TempDirectory directory_;
};

// Only calls that are allowed between fork and exec: other threads may hold any lock.
[[noreturn]] void become(const std::vector<char*>& arguments, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::execvp(arguments[0], arguments.data());
  ::_exit(1);
}

// One connection, one thing after the other.
class Conversation {
 public:
  explicit Conversation(std::uint16_t port) : socket_(context_) {
    socket_.connect({loopback, port});
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }

  valkey::Reply call(const std::vector<std::string>& command) {
    valkey::WriteBatch batch;
    batch.add(command);
    asio::write(socket_, batch.buffers());
    std::vector<char> buffer(64 * 1024);
    while (true) {
      auto reply = must(reader_.next());
      if (reply) return std::move(*reply);
      // Not Asio's read, which would wait for more than the limit.
      const auto size = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
      if (size <= 0) throw std::runtime_error("valkey-server does not answer " + command.at(0));
      reader_.feed({buffer.data(), static_cast<std::size_t>(size)});
    }
  }

 private:
  asio::io_context context_;
  tcp::socket socket_;
  valkey::ReplyReader reader_;
};

}  // namespace

std::uint16_t free_port() {
  constexpr std::uint16_t first = 10'000, last = 32'000;
  static std::mt19937 random{std::random_device{}()};
  std::uniform_int_distribution<std::uint16_t> any(first, last);
  while (true) {
    const auto port = any(random);
    if (is_free(port)) return port;
  }
}

ValkeyServer::ValkeyServer(ValkeyServerOptions options) : options_(std::move(options)) {
  constexpr int ports_max = 10;
  for (int i = 0; i < ports_max; ++i) {  // someone else may take the port before the server does
    port_ = free_port();
    tls_port_ = free_port();
    if (launch()) return;
  }
  throw std::runtime_error("cannot start valkey-server");
}

ValkeyServer::~ValkeyServer() { kill(); }

std::vector<std::string> ValkeyServer::command_line() const {
  const auto on = [](bool is_on) { return is_on ? "yes" : "no"; };
  std::vector<std::string> line{"valkey-server",
                                "--bind",
                                "127.0.0.1",
                                "--port",
                                std::to_string(port_),
                                "--dir",
                                directory_.path().string(),
                                "--logfile",
                                "log",
                                "--save",
                                "",
                                "--appendonly",
                                on(options_.append_only),
                                "--enable-debug-command",
                                "yes"};
  const auto add = [&](std::initializer_list<std::string> more) { line.insert(line.end(), more); };
  if (options_.unix_socket) add({"--unixsocket", socket_path().string()});
  if (options_.tls) {
    const auto& certificate = Certificate::of_this_process();
    add({"--tls-port", std::to_string(tls_port_), "--tls-auth-clients", "no", "--tls-cert-file",
         certificate.certificate().string(), "--tls-key-file", certificate.key().string(),
         "--tls-ca-cert-file", certificate.certificate().string()});
  }
  if (!options_.user.empty())
    add({"--user", options_.user, "on", ">" + options_.password, "~*", "&*", "+@all", "--user",
         "default", "off"});
  else if (!options_.password.empty())
    add({"--requirepass", options_.password});
  line.insert(line.end(), options_.arguments.begin(), options_.arguments.end());
  return line;
}

// False if it ended again at once.
bool ValkeyServer::launch() {
  auto line = command_line();
  std::vector<char*> arguments;
  for (auto& argument : line) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) become(arguments, parent);

  bool has_ended = false;
  await("valkey-server answers", [&] {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return has_ended = true;
    }
    try {
      return call({"PING"}).as_text() != nullptr;
    } catch (const std::exception&) {
      return false;
    }
  });
  return !has_ended;
}

void ValkeyServer::start(const std::vector<std::string>& arguments) {
  if (pid_ >= 0) return;
  options_.arguments.insert(options_.arguments.end(), arguments.begin(), arguments.end());
  if (!launch()) throw std::runtime_error("cannot start valkey-server again");
}

void ValkeyServer::end(int signal) {
  if (pid_ < 0) return;
  ::kill(pid_, signal);
  ::kill(pid_, SIGCONT);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void ValkeyServer::kill() { end(SIGKILL); }
void ValkeyServer::stop() { end(SIGTERM); }
void ValkeyServer::pause() { ::kill(pid_, SIGSTOP); }
void ValkeyServer::resume() { ::kill(pid_, SIGCONT); }

std::string ValkeyServer::url() const { return fmt::format("valkey://127.0.0.1:{}", port()); }

std::filesystem::path ValkeyServer::ca_file() {
  return Certificate::of_this_process().certificate();
}

valkey::ClientOptions ValkeyServer::client_options() const {
  valkey::ClientOptions options;
  options.endpoints.push_back(valkey::TcpEndpoint{"127.0.0.1", port()});
  options.tls = options_.tls;
  if (options_.tls) options.ca_file = ca_file().string();
  options.user = options_.user;
  options.password = options_.password;
  return options;
}

valkey::Reply ValkeyServer::call(const std::vector<std::string>& command) {
  Conversation conversation(port_);
  if (!options_.user.empty())
    conversation.call({"AUTH", options_.user, options_.password});
  else if (!options_.password.empty())
    conversation.call({"AUTH", options_.password});
  return conversation.call(command);
}

namespace {

std::string text_of(ValkeyServer& server, const std::vector<std::string>& command) {
  const auto reply = server.call(command);
  if (!reply.as_text())
    throw std::runtime_error(fmt::format("{}: {}", command.at(0), valkey::to_text(reply)));
  return *reply.as_text();
}

bool says(ValkeyServer& server, const std::vector<std::string>& command, std::string_view part) {
  return text_of(server, command).find(part) != std::string::npos;
}

// The first slot of a primary; of one more: the end.
std::size_t first_slot(std::size_t index) {
  return valkey::slot_count * index / ValkeyCluster::primary_count;
}

}  // namespace

std::size_t ValkeyCluster::first_owner_of(std::uint16_t slot) {
  std::size_t index = 0;
  while (slot >= first_slot(index + 1)) ++index;
  return index;
}

ValkeyCluster::ValkeyCluster(Replicas replicas) {
  const auto count = replicas == Replicas::none ? primary_count : 2 * primary_count;
  for (std::size_t i = 0; i < count; ++i) {
    ValkeyServerOptions options;
    options.arguments = {"--cluster-enabled",
                         "yes",
                         "--cluster-node-timeout",
                         "1000",
                         "--cluster-port",
                         std::to_string(free_port()),
                         "--cluster-allow-replica-migration",
                         "no",
                         "--repl-diskless-sync-delay",
                         "0"};
    nodes_.push_back(std::make_unique<ValkeyServer>(std::move(options)));
  }
  introduce();
  if (replicas == Replicas::one_each) replicate();
}

void ValkeyCluster::await_in_sync(std::size_t index) {
  const auto offset = [](ValkeyServer& server) {
    const auto info = text_of(server, {"INFO", "replication"});
    const auto at = info.find("master_repl_offset:");
    return at == info.npos ? "" : info.substr(at, info.find('\r', at) - at);
  };
  await("the replica has everything",
        [&] { return offset(primary(index)) == offset(replica(index)); });
}

void ValkeyCluster::introduce() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    text_of(*nodes_[i], {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    if (i < primary_count)
      text_of(*nodes_[i], {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first_slot(i)),
                           std::to_string(first_slot(i + 1) - 1)});
  }
  const auto meet = [&] {
    for (auto& node : nodes_) {
      if (node == nodes_.front()) continue;
      const auto bus_port = node->call({"CONFIG", "GET", "cluster-port"});
      text_of(*nodes_.front(), {"CLUSTER", "MEET", "127.0.0.1", std::to_string(node->port()),
                                *bus_port.as_array()->at(1).as_text()});
    }
  };
  const auto everyone = fmt::format("cluster_known_nodes:{}\r\n", nodes_.size());
  constexpr int looks_per_meeting = 400;
  int looks = 0;
  for (auto& node : nodes_)
    await(
        "the nodes of the cluster know each other",
        [&] {
          // A node forgets one that takes long to answer: on a busy machine they have to meet again.
          if (looks++ % looks_per_meeting == 0) meet();
          return says(*node, {"CLUSTER", "INFO"}, "cluster_state:ok") &&
                 says(*node, {"CLUSTER", "INFO"}, everyone) &&
                 !says(*node, {"CLUSTER", "NODES"}, "handshake");
        },
        cluster_start_max);
}

void ValkeyCluster::replicate() {
  for (std::size_t i = 0; i < primary_count; ++i)
    text_of(replica(i), {"CLUSTER", "REPLICATE", id_of(i)});
  for (std::size_t i = 0; i < primary_count; ++i) {
    await("the replicas have their primaries' data", [&] {
      return says(replica(i), {"INFO", "replication"}, "master_link_status:up");
    });
    for (auto& node : nodes_)  // who does not know of a replica does not vote for it
      await("everyone knows the replicas", [&] {
        const auto replicas = node->call({"CLUSTER", "REPLICAS", id_of(i)});
        return replicas.as_array() && replicas.as_array()->size() == 1;
      });
  }
}

std::string ValkeyCluster::id_of(std::size_t index) {
  return text_of(*nodes_.at(index), {"CLUSTER", "MYID"});
}

std::string ValkeyCluster::url() const {
  return fmt::format("valkey-cluster://127.0.0.1:{}", nodes_.front()->port());
}

valkey::ClientOptions ValkeyCluster::client_options() const {
  auto options = nodes_.front()->client_options();
  options.cluster = true;
  return options;
}

void ValkeyCluster::begin_move(std::uint16_t slot, std::size_t from, std::size_t to) {
  text_of(primary(to), {"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", id_of(from)});
  text_of(primary(from), {"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", id_of(to)});
}

void ValkeyCluster::finish_move(std::uint16_t slot, std::size_t from, std::size_t to) {
  while (true) {
    const auto keys = primary(from).call({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "100"});
    if (!keys.as_array() || keys.as_array()->empty()) break;
    std::vector<std::string> migrate{
        "MIGRATE", "127.0.0.1", std::to_string(primary(to).port()), "", "0", "5000", "KEYS"};
    for (const auto& key : *keys.as_array()) migrate.push_back(*key.as_text());
    text_of(primary(from), migrate);
  }
  for (const auto index : {to, from})
    text_of(primary(index), {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id_of(to)});
}

}  // namespace ff::test

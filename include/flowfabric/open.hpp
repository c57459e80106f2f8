// Opening an engine by its URL.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/time.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace ff {

class Engine;

// Of engines that are shared; an embedded one needs none of it.
struct OpenOptions {
  std::string token = {};              // sent with every request
  std::filesystem::path ca_file = {};  // CA bundle (PEM) for the server; empty: the system's
  // How long a server may take to answer, beyond what an operation itself waits, unless its caller has a
  // timeout of its own, as a Client has.
  Millis timeout = std::chrono::seconds{30};
  // On Valkey: also do here what servers do in the background (retries, timeouts, cleaning up).
  bool background = false;
};

// embedded:DIR        the engine in this process, on files in DIR (made if missing)
// valkey://HOST:PORT  the engine in this process, on a Valkey that others share (docs/valkey.md); at least
//                     one of them, as ff server does, must retry, time out and clean up
// http://HOST:PORT    a FlowFabric server; https:// with TLS; a path is the prefix of a proxy before it
// The engine stops when the last reference goes.
Result<std::shared_ptr<Engine>> open(std::string_view url, OpenOptions options = {});

}  // namespace ff

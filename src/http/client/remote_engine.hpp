// The engine of a server somewhere, over HTTP.
#pragma once

#include <flowfabric/engine.hpp>
#include <flowfabric/open.hpp>

#include <memory>
#include <string>
#include <string_view>

#include "base/async/runtime.hpp"

namespace ff::http {

class Client;

class RemoteEngine final : public Engine {
 public:
  // `url` is http://HOST[:PORT][/PREFIX] or https://. Connects when it is first used.
  static Result<std::unique_ptr<RemoteEngine>> open(std::string_view url,
                                                    const OpenOptions& options = {});
  ~RemoteEngine() override;

  asio::awaitable<void> perform(EngineCall& call) override;
  asio::any_io_executor executor() override { return runtime_.executor(); }

 private:
  RemoteEngine(Millis timeout, std::string prefix, auto make_client)
      : timeout_(timeout),
        prefix_(std::move(prefix)),
        runtime_(1),
        client_(make_client(runtime_.executor())) {}

  const Millis timeout_;      // of calls that have none of their own
  const std::string prefix_;  // of every path, such as /flowfabric
  Runtime runtime_;
  std::unique_ptr<Client> client_;
};

}  // namespace ff::http

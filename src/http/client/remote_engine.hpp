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
  // `url` is http://HOST[:PORT] or https://. Connects when it is first used.
  static Result<std::unique_ptr<RemoteEngine>> open(std::string_view url,
                                                    const OpenOptions& options = {});
  ~RemoteEngine() override;

  asio::awaitable<void> perform(EngineCall& call) override;
  asio::any_io_executor executor() override { return runtime_.executor(); }

 private:
  explicit RemoteEngine(auto make_client)
      : runtime_(1), client_(make_client(runtime_.executor())) {}

  Runtime runtime_;
  std::unique_ptr<Client> client_;
};

}  // namespace ff::http

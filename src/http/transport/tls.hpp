// TLS settings from files.
#pragma once

#include <flowfabric/error.hpp>

#include <filesystem>
#include <memory>

#include "http/transport/stream.hpp"

namespace ff::http {

struct TlsFiles {
  std::filesystem::path certificate;  // PEM, with the chain behind it
  std::filesystem::path key;          // PEM

  bool given() const { return !certificate.empty() || !key.empty(); }
};

// TLS 1.2 and later. Fails with invalid_input if a file is missing, unreadable or does not fit.
Result<std::shared_ptr<TlsContext>> server_tls(const TlsFiles& files);

// Trusts the system's authorities, or those of `ca_file` alone if it is given.
Result<std::shared_ptr<TlsContext>> client_tls(const std::filesystem::path& ca_file);

}  // namespace ff::http

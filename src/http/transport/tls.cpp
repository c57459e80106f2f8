#include "http/transport/tls.hpp"

#include <fmt/format.h>

namespace ff::http {
namespace {

using Context = asio::ssl::context;

std::unexpected<Error> unusable(std::string_view what, const std::filesystem::path& file,
                                const error_code& failed) {
  return fail(Errc::invalid_input,
              fmt::format("cannot use {} {}: {}", what, file.string(), failed.message()));
}

}  // namespace

Result<std::shared_ptr<TlsContext>> server_tls(const TlsFiles& files) {
  if (files.certificate.empty() || files.key.empty())
    return fail(Errc::invalid_input, "TLS needs both a certificate file and a key file");
  auto context = std::make_shared<Context>(Context::tls_server);
  error_code failed;
  context->set_options(Context::no_tlsv1 | Context::no_tlsv1_1 | Context::no_compression, failed);
  context->use_certificate_chain_file(files.certificate.string(), failed);
  if (failed) return unusable("the TLS certificate", files.certificate, failed);
  context->use_private_key_file(files.key.string(), Context::pem, failed);
  if (failed) return unusable("the TLS key", files.key, failed);
  return context;
}

Result<std::shared_ptr<TlsContext>> client_tls(const std::filesystem::path& ca_file) {
  auto context = std::make_shared<Context>(Context::tls_client);
  error_code failed;
  context->set_options(Context::no_tlsv1 | Context::no_tlsv1_1, failed);
  context->set_verify_mode(asio::ssl::verify_peer, failed);
  if (ca_file.empty())
    context->set_default_verify_paths(failed);
  else
    context->load_verify_file(ca_file.string(), failed);
  if (failed) return unusable("the certificate authorities in", ca_file, failed);
  return context;
}

}  // namespace ff::http

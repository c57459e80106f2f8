#include "http/transport/tls.hpp"

#include <gmock/gmock.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <boost/asio/ssl.hpp>

#include "http/client/remote_engine.hpp"
#include "http/server/test_support.hpp"
#include "tests/support/blocking.hpp"

namespace ff::http::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

// Someone who signs certificates.
class Authority {
 public:
  explicit Authority(const std::filesystem::path& directory)
      : directory_(directory),
        key_(EVP_EC_gen("P-256"), EVP_PKEY_free),
        certificate_(make("authority", key_, "", nullptr)) {
    write(file("ca.pem"), [&](FILE* out) { PEM_write_X509(out, certificate_.get()); });
  }

  std::filesystem::path file(const std::string& name) const { return directory_ / name; }

  // For an address or name such as IP:127.0.0.1.
  TlsFiles issue(const std::string& name, const std::string& subject) const {
    const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const auto certificate = make(name, key, subject, &key_);
    const TlsFiles files{.certificate = file(name + ".pem"), .key = file(name + ".key")};
    write(files.certificate, [&](FILE* out) { PEM_write_X509(out, certificate.get()); });
    write(files.key, [&](FILE* out) {
      PEM_write_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return files;
  }

 private:
  Certificate make(const std::string& name, const Key& key, const std::string& subject,
                   const Key* signer) const {
    static int serial = 0;
    Certificate made(X509_new(), X509_free);
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_set_pubkey(made.get(), key.get());
    auto* named = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(named, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(made.get(), signer ? X509_get_subject_name(certificate_.get()) : named);
    add_extension(*made, NID_basic_constraints, signer ? "CA:FALSE" : "critical,CA:TRUE");
    if (signer) add_extension(*made, NID_subject_alt_name, subject);
    X509_sign(made.get(), signer ? signer->get() : key.get(), EVP_sha256());
    return made;
  }
  static void add_extension(X509& to, int kind, const std::string& value) {
    auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    X509_add_ext(&to, extension, -1);
    X509_EXTENSION_free(extension);
  }
  template <class Write>
  static void write(const std::filesystem::path& path, Write write_to) {
    FILE* out = std::fopen(path.c_str(), "w");
    write_to(out);
    std::fclose(out);
  }

  std::filesystem::path directory_;
  Key key_;
  Certificate certificate_;
};

class TlsTest : public HttpTest {
 protected:
  void serve_tls(const TlsFiles& files) {
    serve({.credentials = {.tls = must(server_tls(files))}});
  }
  // "ok", or why not.
  std::string try_out(const std::string& url, const std::filesystem::path& ca_file) {
    const std::unique_ptr<Engine> remote = must(RemoteEngine::open(url, {.ca_file = ca_file}));
    const auto health = ff::test::run(*remote, Health{});
    return health ? "ok" : fmt::format("{}: {}", health.error().name(), health.error().message);
  }

  Authority authority_{temp_.path()};
  TlsFiles good_ = authority_.issue("good", "IP:127.0.0.1");
  std::filesystem::path ca_ = authority_.file("ca.pem");
};

TEST_F(TlsTest, ServesAWholeExecution) {
  serve_tls(good_);
  EXPECT_THAT(server_->url(), StartsWith("https://127.0.0.1:"));
  const std::unique_ptr<Engine> remote = must(RemoteEngine::open(server_->url(), {.ca_file = ca_}));
  const auto run = [&](auto operation) {
    return must(ff::test::run(*remote, std::move(operation)));
  };
  const std::string large(limits::payload_bytes_max, 'x');
  const auto id = run(Submit{.kind = must(Kind::parse("k")), .payload = large}).id;
  const auto claimed =
      run(Claim{.worker = must(WorkerId::parse("w")), .wait = std::chrono::seconds{60}});
  EXPECT_EQ(claimed.executions.at(0).payload, large);
  run(Complete{.id = id, .fence = claimed.executions.at(0).fence, .result = "done"});
  EXPECT_EQ(run(GetResult{.id = id, .wait = std::chrono::seconds{60}}).bytes, "done");
}

TEST_F(TlsTest, AStrangersCertificateIsRefused) {
  serve_tls(good_);
  ff::test::TempDirectory elsewhere;
  const Authority stranger(elsewhere.path());
  EXPECT_THAT(try_out(server_->url(), stranger.file("ca.pem")),
              ::testing::AllOf(StartsWith("unreachable: no TLS with the server at 127.0.0.1:"),
                               HasSubstr("signed by someone you trust?")));
  EXPECT_THAT(try_out(server_->url(), ""), StartsWith("unreachable: no TLS"));
}

TEST_F(TlsTest, ACertificateForAnotherNameIsRefused) {
  for (const char* other : {"DNS:other.example", "IP:192.0.2.1"}) {
    serve_tls(authority_.issue("other", other));
    EXPECT_THAT(try_out(server_->url(), ca_),
                ::testing::AllOf(StartsWith("unreachable: no TLS"),
                                 HasSubstr("is its certificate for this name")));
  }
}

TEST_F(TlsTest, PlainHttpToATlsPortSaysWhatToDo) {
  serve_tls(good_);
  EXPECT_THAT(try_out(fmt::format("http://127.0.0.1:{}", port_), ""),
              HasSubstr("this server speaks TLS; use https://"));
}

TEST_F(TlsTest, TlsToAPlainPortIsOneClearError) {
  serve();
  EXPECT_THAT(try_out(fmt::format("https://127.0.0.1:{}", port_), ca_),
              StartsWith("unreachable: no TLS with the server at 127.0.0.1:"));
}

TEST_F(TlsTest, ANewCertificateIsForNewConnections) {
  serve_tls(authority_.issue("other", "DNS:other.example"));
  EXPECT_THAT(try_out(server_->url(), ca_), StartsWith("unreachable"));
  server_->exchange({.tls = must(server_tls(good_))});
  EXPECT_EQ(try_out(server_->url(), ca_), "ok");
}

TEST_F(TlsTest, FilesThatDoNotFitAreRefused) {
  const auto other = authority_.issue("other", "IP:127.0.0.1");
  const auto refusal = [](const TlsFiles& files) {
    const auto made = server_tls(files);
    return made ? "" : made.error().message;
  };
  EXPECT_THAT(refusal({.certificate = good_.certificate, .key = other.key}),
              HasSubstr("key values mismatch"));
  EXPECT_THAT(refusal({.certificate = good_.key, .key = good_.key}),
              HasSubstr("cannot use the TLS certificate"));
  EXPECT_THAT(refusal({.certificate = good_.certificate, .key = temp_.path() / "none"}),
              HasSubstr("cannot use the TLS key"));
  EXPECT_THAT(refusal({.certificate = good_.certificate, .key = {}}), HasSubstr("needs both"));
  EXPECT_FALSE(client_tls(temp_.path() / "none"));
}

// However it goes: by closing the connection, or with TLS' own goodbye before.
TEST_F(TlsTest, AClientThatGoesWhileItWaitsIsNoticed) {
  serve_tls(good_);
  const auto waiting = [&] {
    const std::unique_ptr<Engine> remote =
        must(RemoteEngine::open(server_->url(), {.ca_file = ca_}));
    const auto text = must(ff::test::run(*remote, GetMetrics{})).bytes;
    const std::string name = "\nff_http_long_polls ";
    return text.substr(text.find(name) + name.size(), 1);
  };
  for (const bool says_goodbye : {false, true})
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      asio::io_context context;
      auto trusting = must(client_tls(ca_));
      SSL_CTX_set_max_proto_version(trusting->native_handle(), version);
      asio::ssl::stream<tcp::socket> client(context, *trusting);
      client.next_layer().connect({asio::ip::make_address("127.0.0.1"), port_});
      client.handshake(asio::ssl::stream_base::client);
      asio::write(client, asio::buffer(to_text({.method = "POST",
                                                .target = "/v1/workers/w/claim-with-lease",
                                                .body = R"({"wait_ms":60000})"})));
      while (waiting() != "1") continue;
      if (says_goodbye) client.async_shutdown([](error_code) {});
      context.poll();
      client.next_layer().close();
      while (waiting() != "0") continue;
    }
}

TEST_F(TlsTest, AClientWithoutAHandshakeDoesNotHoldUpTheEnd) {
  serve_tls(good_);
  Peer silent(port_);
  EXPECT_EQ(try_out(server_->url(), ca_), "ok");  // by now the server has both
  const auto began = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{5});
}

}  // namespace
}  // namespace ff::http::test

#pragma once
// libcurl, opened at run time: the binary must start where it is missing. Our own declarations of the few functions and
// options in use; numbers from curl/curl.h as published by the curl project (curl.se), the same since 7.32. They are
// part of its stable ABI (libcurl.so.4).
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "notify/channel.h"

namespace vramscope::curl {

// CURLoption: 0 + n takes a long, 10000 + n a pointer, 20000 + n a function.
enum Option : int {
  kUpload = 46,
  kPost = 47,
  kNoProgress = 43,
  kPostFieldSize = 60,
  kNoSignal = 99,
  kUseSsl = 119,
  kTimeoutMs = 155,
  kConnectTimeoutMs = 156,
  kWriteData = 10001,
  kUrl = 10002,
  kReadData = 10009,
  kErrorBuffer = 10010,
  kPostFields = 10015,
  kUserAgent = 10018,
  kHttpHeader = 10023,
  kXferInfoData = 10057,
  kCaInfo = 10065,
  kUserName = 10173,
  kPassword = 10174,
  kMailFrom = 10186,
  kMailRecipients = 10187,
  kWriteFunction = 20011,
  kReadFunction = 20012,
  kXferInfoFunction = 20219
};

// CURLcode
enum Code : int {
  kOk = 0,
  kNoHost = 6,
  kNoConnection = 7,
  kTimedOut = 28,
  kTlsFailed = 35,
  kAborted = 42,
  kBadCertificate = 60,
  kNoTls = 64,
  kLoginDenied = 67,
  kBadCaFile = 77
};

inline constexpr long kUseSslAll = 3;                 // CURLUSESSL_ALL
inline constexpr int kInfoResponseCode = 0x200002;    // CURLINFO_RESPONSE_CODE
inline constexpr std::size_t kErrorBufferSize = 256;  // CURL_ERROR_SIZE

struct Handle;  // CURL
struct List {   // struct curl_slist
  char* data;
  List* next;
};

struct Functions {
  int (*global_init)(long flags);
  Handle* (*init)();
  int (*set)(Handle* handle, int option, ...);
  int (*perform)(Handle* handle);
  void (*cleanup)(Handle* handle);
  int (*info)(Handle* handle, int what, ...);
  const char* (*strerror)(int code);
  List* (*append)(List* list, const char* text);
  void (*free_all)(List* list);
};

// Opens the library at the first call; not by several threads at once. The Error names the package that is missing.
Result<const Functions*> library();

// One transfer: options first, then run(). Frees what it was given.
class Transfer {
 public:
  Transfer(const Functions& functions, const NotifySettings& settings, const Deadline& deadline_ns);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void set(Option option, long value) { functions_.set(handle_, option, value); }
  void set(Option option, const char* text) { functions_.set(handle_, option, text); }
  void add_header(const std::string& line) { headers_ = functions_.append(headers_, line.c_str()); }
  void add_recipient(const std::string& address) { recipients_ = functions_.append(recipients_, address.c_str()); }
  // What is sent; must outlive run().
  void upload(const std::string& text);

  int run();
  long response_code() const;  // of HTTP or SMTP, the last one; 0: none
  // The reason in libcurl's words (English), or its name of the code.
  std::string reason(int code) const;

 private:
  static std::size_t read(char* to, std::size_t size, std::size_t count, void* self);
  static std::size_t drop(char* from, std::size_t size, std::size_t count, void* self);
  static int progress(void* self, std::int64_t, std::int64_t, std::int64_t, std::int64_t);

  const Functions& functions_;
  const Deadline& deadline_ns_;
  Handle* handle_;
  List* headers_ = nullptr;
  List* recipients_ = nullptr;
  const std::string* text_ = nullptr;
  std::size_t sent_ = 0;
  char error_[kErrorBufferSize] = "";
};

// The problem of a transfer that failed before the other side answered with a refusal.
DeliveryProblem connection_problem(const Transfer& transfer, int code);

}  // namespace vramscope::curl

#include "text/error_reason.h"

#include <fmt/format.h>

#include <cerrno>

#include "text/catalogue.h"

namespace vramscope {

namespace {

struct Reason {
  int code;
  const char* text;
};

constexpr Reason kReasons[] = {
    {ENOENT, N_("No such file or directory")},
    {EACCES, N_("Permission denied")},
    {EISDIR, N_("Is a directory")},
    {ENOTDIR, N_("Not a directory")},
    {ENOSPC, N_("No space left on device")},
    {EIO, N_("Input/output error")},
    {EPIPE, N_("Broken pipe")},
    {ENAMETOOLONG, N_("File name too long")},
    {EMFILE, N_("Too many open files")},
    {ELOOP, N_("Too many levels of symbolic links")},
};

}  // namespace

std::string error_reason(int code) {
  for (const Reason& reason : kReasons) {
    if (reason.code == code) return tr(reason.text);
  }
  return fmt::format(fmt::runtime(tr("error number {number}")), fmt::arg("number", code));
}

}  // namespace vramscope

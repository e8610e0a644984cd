#pragma once
// A process that runs already and is no child of ours.
#include <cstdint>
#include <string>

#include "base/result.h"
#include "system/files.h"
#include "system/process.h"
#include "system/roots.h"

namespace vramscope {

// Its exit code is for its parent alone: nobody else is told it. The kernel's log may tell more.
class FollowedProcess {
 public:
  // The error says that there is no such process.
  static Result<FollowedProcess> open(std::int32_t pid, Roots roots = {});

  const ProcessKey& key() const { return key_; }
  const std::string& name() const { return name_; }
  // Ready for reading once it has ended, for poll(2); -1 where the kernel has no such descriptor (before Linux 5.3):
  // ask has_ended() at each sample then.
  int descriptor() const { return pidfd_.get(); }
  // It runs no more: a zombie has ended, too.
  bool has_ended() const;

 private:
  FollowedProcess() = default;
  Roots roots_;
  ProcessKey key_;
  std::string name_;
  Descriptor pidfd_;
};

}  // namespace vramscope

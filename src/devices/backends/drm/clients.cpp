#include "devices/backends/drm/clients.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "devices/backends/drm/client_work.h"
#include "system/fields.h"
#include "system/process.h"

namespace vramscope::drm {

namespace {

constexpr std::size_t kFdinfoBytes = 16 * 1024;
constexpr std::size_t kFolderLinks = 4;  // opening a folder costs as much as so many links
constexpr std::uint64_t kForgetEvery = 64;
constexpr std::size_t kMostNodes = 64;  // of one process

struct Path {
  char text[64];
  Path(std::int32_t pid, const char* rest) { std::snprintf(text, sizeof text, "%d/%s", pid, rest); }
  Path(std::int32_t pid, const char* folder, std::int32_t descriptor) {
    std::snprintf(text, sizeof text, "%d/%s/%d", pid, folder, descriptor);
  }
};

// The card that a link of /proc/PID/fd leads to.
std::optional<std::size_t> card_of_link(std::string_view target, const std::vector<Card>& cards) {
  constexpr std::string_view kFolder = "/dev/dri/";
  const std::size_t at = target.rfind(kFolder);  // behind the root of a container, where /proc shows that
  if (at == target.npos) return std::nullopt;
  const std::string_view name = target.substr(at + kFolder.size());
  for (std::size_t i = 0; i < cards.size(); ++i) {
    for (const std::string& node : cards[i].nodes) {
      if (node == name) return i;
    }
  }
  return std::nullopt;
}

std::string_view read_link(int folder, const char* name, char (&room)[256]) {
  const ssize_t length = ::readlinkat(folder, name, room, sizeof room);
  return length > 0 ? std::string_view(room, static_cast<std::size_t>(length)) : std::string_view();
}

}  // namespace

Clients::Clients(Roots roots, std::size_t max_descriptors)
    : roots_(std::move(roots)),
      proc_(::open(roots_.proc.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
      max_descriptors_(max_descriptors) {}

void Clients::sample(const std::vector<Card>& cards, std::int64_t now_ns) {
  ++round_;
  links_read_ = 0;
  info_count_ = 0;
  seen_.clear();
  users_.clear();
  work_.assign(cards.size(), Shares());
  list_programs();
  look_at_sizes();
  scan_due(cards);
  read_nodes(cards);
  add_users(now_ns);
  if (round_ % kForgetEvery == 0) forget_gone();
}

void Clients::list_programs() {
  pids_ = read_numbered_entries(roots_.proc).value_or(std::vector<std::int32_t>());
  unreadable_ = 0;
  for (const std::int32_t pid : pids_) {
    Program& program = programs_[pid];
    if (program.first == 0) program.first = round_;
    program.round = round_;
  }
  for (auto it = programs_.begin(); it != programs_.end();) {
    if (it->second.round == round_) {
      ++it;
      continue;
    }
    for (Node& node : it->second.nodes) release(node);
    programs_.erase(it++);
  }
}

void Clients::look_at_size(std::int32_t pid, Program& program) {
  struct stat facts {};
  if (::fstatat(proc_.get(), Path(pid, "fd").text, &facts, 0) != 0) return;
  if (facts.st_size != program.size) program.has_changed = true;
  program.size = facts.st_size;
}

// Whose descriptors became more or fewer: of those that are new all, of the others the next in turn.
void Clients::look_at_sizes() {
  if (!has_sizes_) return;
  std::size_t left = kSizesASample;
  const auto is_to_be_looked_at = [](const Program& program) {
    return program.scanned != 0 && !program.is_kernel_thread && !program.is_unreadable;
  };
  for (auto pid = pids_.rbegin(); pid != pids_.rend() && left > 0; ++pid) {  // new ones mostly have high numbers
    Program& program = programs_.find(*pid)->second;
    if (program.first == 1 || round_ - program.first > kYoungSamples || !is_to_be_looked_at(program)) continue;
    look_at_size(*pid, program);
    --left;
  }
  for (std::size_t i = 0; i < pids_.size() && left > 0; ++i) {
    next_size_ = (next_size_ + 1) % pids_.size();
    Program& program = programs_.find(pids_[next_size_])->second;
    if (!is_to_be_looked_at(program)) continue;
    look_at_size(pids_[next_size_], program);
    --left;
  }
}

void Clients::scan_due(const std::vector<Card>& cards) {
  waiting_.clear();
  for (const std::int32_t pid : pids_) {
    Program& program = programs_.find(pid)->second;
    if (program.scanned == 0) {
      scan(pid, program, cards);
    } else if (!program.is_kernel_thread) {
      waiting_.push_back({!program.has_changed, program.scanned, pid});
    }
  }
  std::sort(waiting_.begin(), waiting_.end());
  // Those that are new cost nothing of what the others get.
  const std::size_t most = links_read_ + (has_sizes_ ? kLinksASample : 2 * kLinksASample);
  for (const Turn& turn : waiting_) {
    if (links_read_ >= most) break;
    scan(turn.pid, programs_.find(turn.pid)->second, cards);
  }
  for (const std::int32_t pid : pids_) {
    const Program& program = programs_.find(pid)->second;
    unreadable_ += program.is_unreadable && !program.is_kernel_thread ? 1 : 0;
  }
}

// Reads all links of a process.
void Clients::scan(std::int32_t pid, Program& program, const std::vector<Card>& cards) {
  program.scanned = round_;
  program.has_changed = false;
  links_read_ += kFolderLinks;
  const int folder = ::openat(proc_.get(), Path(pid, "fd").text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    if (errno == EACCES || errno == EPERM) note_unreadable(pid, program);
    return;
  }
  DIR* const opened = ::fdopendir(folder);  // owns it now
  if (opened == nullptr) {
    ::close(folder);
    return;
  }
  program.is_unreadable = false;
  struct stat facts {};
  if (::fstat(folder, &facts) == 0) program.size = facts.st_size;
  has_sizes_ = has_sizes_ || program.size > 0;
  std::vector<Node> before = std::move(program.nodes);
  program.nodes.clear();
  char room[256];
  while (const dirent* const entry = ::readdir(opened)) {
    const auto number = parse_int64(entry->d_name);
    if (!number || *number < 0 || *number > 1 << 30) continue;
    ++links_read_;
    const auto card = card_of_link(read_link(folder, entry->d_name, room), cards);
    if (!card || program.nodes.size() == kMostNodes) continue;
    Node node{static_cast<std::int32_t>(*number), *card, {}};
    for (Node& old : before) {
      if (old.descriptor == node.descriptor) std::swap(node.fdinfo, old.fdinfo);
    }
    program.nodes.push_back(std::move(node));
  }
  ::closedir(opened);
  for (Node& old : before) release(old);
}

void Clients::note_unreadable(std::int32_t pid, Program& program) {
  for (Node& node : program.nodes) release(node);
  program.nodes.clear();
  program.is_unreadable = true;
  const auto text = read_file_at(proc_.get(), Path(pid, "stat").text, 2048);
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  program.is_kernel_thread = stat && stat->is_kernel_thread;
}

void Clients::release(Node& node) {
  if (!node.fdinfo) return;
  node.fdinfo.reset();
  --open_descriptors_;
}

// False when the descriptor leads to something else now.
bool Clients::read_node(std::int32_t pid, Node& node, ClientInfo& info) {
  char text[kFdinfoBytes];
  Descriptor by_path;
  if (!node.fdinfo) {
    by_path = Descriptor(::openat(proc_.get(), Path(pid, "fdinfo", node.descriptor).text, O_RDONLY | O_CLOEXEC));
    if (!by_path) {
      parse_fdinfo({}, info);
      return errno == EACCES || errno == EPERM;  // that it has the node open is known all the same
    }
    if (open_descriptors_ < max_descriptors_) {
      std::swap(node.fdinfo, by_path);
      ++open_descriptors_;
    }
  }
  ssize_t got = 0;
  do {
    got = ::pread(node.fdinfo ? node.fdinfo.get() : by_path.get(), text, sizeof text, 0);
  } while (got < 0 && errno == EINTR);
  std::string_view read(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  // A number that the end cuts short is another number.
  if (read.size() == sizeof text) read = read.substr(0, read.rfind('\n') + 1);
  parse_fdinfo(read, info);
  return got > 0;
}

void Clients::read_nodes(const std::vector<Card>& cards) {
  char room[256];
  for (const std::int32_t pid : pids_) {
    Program& program = programs_.find(pid)->second;
    for (std::size_t i = 0; i < program.nodes.size();) {
      Node& node = program.nodes[i];
      if (info_count_ == infos_.size()) infos_.emplace_back();
      ClientInfo& info = infos_[info_count_];
      bool is_node = read_node(pid, node, info);
      if (is_node && !info.is_drm) {
        // A driver that tells nothing (nouveau), or another file under the same number.
        const auto link = read_link(proc_.get(), Path(pid, "fd", node.descriptor).text, room);
        is_node = card_of_link(link, cards) == node.card;
      }
      if (!is_node) {
        release(node);
        program.has_changed = true;
        program.nodes.erase(program.nodes.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      std::size_t card = node.card;
      for (std::size_t c = 0; c < cards.size() && !info.pci_address.empty(); ++c) {
        if (cards[c].pci_address == info.pci_address) card = c;
      }
      note_client(card, pid);
      ++i;
    }
  }
}

// The client in the next free place of infos_.
void Clients::note_client(std::size_t card, std::int32_t pid) {
  const ClientInfo& info = infos_[info_count_];
  const Key key{card, info.client_id ? *info.client_id : -1 - std::int64_t{pid}};
  Client& client = clients_[key];
  if (client.round == round_) {
    if (pid == client.owner) client.holder = pid;
    return;
  }
  client.round = round_;
  client.holder = pid;
  client.info = info_count_++;
  seen_.push_back(key);
}

CardUser& Clients::user_of(std::size_t card, std::int32_t pid) {
  for (CardUser& user : users_) {
    if (user.card == card && user.pid == pid) return user;
  }
  users_.push_back({pid, card, {}, {}, {}, {}, {}});
  return users_.back();
}

void Clients::add_users(std::int64_t now_ns) {
  for (const Key& key : seen_) {
    Client& client = clients_.find(key)->second;
    client.owner = client.holder;
    const ClientInfo& info = infos_[client.info];
    CardUser& user = user_of(key.first, client.owner);
    add_memory(info, user);
    const Shares shares = work_since(client.engines, info.engines, client.is_new ? 0 : now_ns - client.time_ns);
    // A moment that is no later keeps what the next is compared with.
    if (client.is_new || now_ns > client.time_ns) {
      keep_engines(client.engines, info.engines);
      client.time_ns = now_ns;
    }
    client.is_new = false;
    add_shares(shares, user.shares);
    add_shares(shares, work_[key.first]);
  }
  std::sort(users_.begin(), users_.end(), [](const CardUser& a, const CardUser& b) {
    return std::make_pair(a.card, a.pid) < std::make_pair(b.card, b.pid);
  });
}

void Clients::forget_gone() {
  for (auto it = clients_.begin(); it != clients_.end();) {
    if (it->second.round == round_) {
      ++it;
    } else {
      clients_.erase(it++);
    }
  }
}

}  // namespace vramscope::drm

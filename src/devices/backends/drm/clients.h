#pragma once
// Who uses the cards: open DRM nodes among the descriptors of all processes, and what their fdinfo tells.
//
// Cost. Reading every link of every process is what such a look is slow at, so that only this is done at each sample:
// the list of /proc, one pread for each descriptor that is known to be a card's, and, of the other processes in turn,
// the size of kSizesASample folders /proc/PID/fd (the number of descriptors, since Linux 6.2). Links are read
//   - at once of all processes at the first sample, and of every process that was not there before;
//   - then of at most kLinksASample links a sample (one process more or less): first of processes whose number of
//     descriptors changed, then of the others in turn.
// With 300 processes of 50 descriptors a process that opens a card later is seen after at most 300 / kSizesASample = 7
// samples, one of the last kYoungSamples samples at the next; where the kernel tells no sizes, or as many descriptors
// were closed meanwhile, when all links had their turn: after 162 samples, or 81 without sizes, when twice as many are
// read.
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "devices/backends/drm/cards.h"
#include "devices/backends/drm/fdinfo.h"
#include "system/files.h"
#include "system/roots.h"

namespace vramscope::drm {

inline constexpr std::size_t kLinksASample = 100;
inline constexpr std::size_t kSizesASample = 48;
inline constexpr std::uint64_t kYoungSamples = 30;

// Kinds of engine, and what of their time since the sample before went to the work of somebody.
enum class Work : std::uint8_t { graphics, compute, decode, encode, jpeg, copy, video, other };
inline constexpr std::size_t kWorks = 8;
// By the driver's name of an engine: "gfx", "rcs", "video-enhance".
Work work_of(std::string_view engine);

struct Shares {
  // Percent of one engine of the kind; empty where nothing is known of it yet.
  std::optional<double> percent[kWorks];
  bool has_worked[kWorks] = {};  // ever

  std::optional<double>& operator[](Work work) { return percent[static_cast<std::size_t>(work)]; }
  const std::optional<double>& operator[](Work work) const { return percent[static_cast<std::size_t>(work)]; }
  bool ever(Work work) const { return has_worked[static_cast<std::size_t>(work)]; }
};

// One process on one card.
struct CardUser {
  std::int32_t pid = 0;
  std::size_t card = 0;                      // its place in the list of cards
  std::optional<std::int64_t> local_bytes;   // in memory of the card's own
  std::optional<std::int64_t> system_bytes;  // in memory of the machine
  std::optional<std::int64_t> shared_bytes;  // of both, in buffers that other clients hold too
  std::optional<std::int64_t> evicted_bytes;
  Shares shares;
};

// For one thread at a time.
class Clients {
 public:
  Clients(Roots roots, std::size_t max_descriptors);

  // Looks now. `now_ns` is of any clock that does not jump. `cards` may grow, but keep their places.
  void sample(const std::vector<Card>& cards, std::int64_t now_ns);

  // By card, then by pid. A client is counted once, for the process that was first seen with it as long as that has it
  // open, whoever else has the descriptor too.
  const std::vector<CardUser>& users() const { return users_; }
  // What engines of a card did for all clients together.
  const Shares& work_on(std::size_t card) const { return work_[card]; }
  // Processes (threads of the kernel aside) whose descriptors are not for us to see.
  std::int64_t unreadable() const { return unreadable_; }
  std::size_t links_read() const { return links_read_; }  // by the last sample

 private:
  struct Node {
    std::int32_t descriptor = 0;
    std::size_t card = 0;
    Descriptor fdinfo;
  };
  struct Program {
    std::uint64_t first = 0;    // round that saw it first
    std::uint64_t round = 0;    // the last that saw it
    std::uint64_t scanned = 0;  // the last that read its links; 0: none yet
    std::int64_t size = -1;     // of /proc/PID/fd
    bool has_changed = false;
    bool is_unreadable = false;
    bool is_kernel_thread = false;
    std::vector<Node> nodes;
  };
  struct Client {
    std::uint64_t round = 0;  // the last that saw it
    std::int32_t owner = 0;   // the process that it counts for
    std::int32_t holder = 0;  // in this round: the owner if it still has it, else the first that has
    std::size_t info = 0;     // into infos_, in this round
    std::int64_t time_ns = 0;
    bool is_new = true;
    std::vector<Engine> engines;  // the highest that was read
  };
  struct Turn {
    bool is_unchanged = false;
    std::uint64_t scanned = 0;
    std::int32_t pid = 0;
    auto operator<=>(const Turn&) const = default;
  };
  using Key = std::pair<std::size_t, std::int64_t>;  // card, client; negative where the driver does not number them

  void list_programs();
  void look_at_sizes();
  void look_at_size(std::int32_t pid, Program& program);
  void scan_due(const std::vector<Card>& cards);
  void scan(std::int32_t pid, Program& program, const std::vector<Card>& cards);
  void note_unreadable(std::int32_t pid, Program& program);
  void read_nodes(const std::vector<Card>& cards);
  bool read_node(std::int32_t pid, Node& node, ClientInfo& info);
  void note_client(std::size_t card, std::int32_t pid);
  CardUser& user_of(std::size_t card, std::int32_t pid);
  void add_users(std::int64_t now_ns);
  void release(Node& node);
  void forget_gone();

  Roots roots_;
  Descriptor proc_;
  std::size_t max_descriptors_;
  std::size_t open_descriptors_ = 0;
  std::uint64_t round_ = 0;
  std::vector<std::int32_t> pids_;
  std::vector<Turn> waiting_;  // room of scan_due()
  absl::flat_hash_map<std::int32_t, Program> programs_;
  absl::flat_hash_map<Key, Client> clients_;
  std::vector<Key> seen_;          // in this round
  std::vector<ClientInfo> infos_;  // of this round; used again, so that its lists keep their room
  std::size_t info_count_ = 0;
  std::vector<CardUser> users_;
  std::vector<Shares> work_;
  std::int64_t unreadable_ = 0;
  std::size_t links_read_ = 0;
  std::size_t next_size_ = 0;  // whose turn it is
  bool has_sizes_ = false;     // the kernel tells them
};

}  // namespace vramscope::drm

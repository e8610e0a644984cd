#include "devices/backends/drm/client_work.h"

#include <algorithm>
#include <array>

#include "base/saturate.h"

namespace vramscope::drm {

namespace {

struct Name {
  std::string_view engine;
  Work work;
};

// amdgpu, i915, xe, v3d; in drivers for phones and boards (panfrost, panthor, msm) all engines draw.
constexpr std::array kNames = {
    Name{"compute", Work::compute}, Name{"ccs", Work::compute},         Name{"csd", Work::compute},
    Name{"dma", Work::copy},        Name{"copy", Work::copy},           Name{"bcs", Work::copy},
    Name{"tfu", Work::copy},        Name{"dec", Work::decode},          Name{"enc", Work::encode},
    Name{"enc_1", Work::encode},    Name{"jpeg", Work::jpeg},           Name{"video", Work::video},
    Name{"vcs", Work::video},       Name{"video-enhance", Work::other}, Name{"vecs", Work::other},
    Name{"vpe", Work::other},       Name{"cache_clean", Work::other},   Name{"other", Work::other}};

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  if (value) sum = saturating_add(sum.value_or(0), *value);
}

const Engine* find(const std::vector<Engine>& engines, std::string_view name) {
  for (const Engine& engine : engines) {
    if (engine.name == name) return &engine;
  }
  return nullptr;
}

double rise(std::optional<std::int64_t> before, std::int64_t now) {
  return std::max(static_cast<double>(now) - static_cast<double>(before.value_or(0)), 0.0);
}

// Of all engines of the name, 0 to 1. `before` is null for an engine that was not there.
std::optional<double> busy_share(const Engine* before, const Engine& now, std::int64_t elapsed_ns) {
  const auto earlier = [&](std::optional<std::int64_t> Engine::*member) {
    return before != nullptr ? before->*member : std::nullopt;
  };
  const auto capacity = static_cast<double>(now.capacity);
  const auto elapsed = static_cast<double>(elapsed_ns);
  if (now.busy_ns) return rise(earlier(&Engine::busy_ns), *now.busy_ns) / elapsed / capacity;
  if (!now.cycles) return std::nullopt;
  const double cycles = rise(earlier(&Engine::cycles), *now.cycles);
  if (now.total_cycles) {
    // Without the value before, the whole life of the card would count as this moment.
    if (before == nullptr || !before->total_cycles) return std::nullopt;
    const double total = rise(before->total_cycles, *now.total_cycles);
    return total > 0 ? std::optional(cycles / total / capacity) : std::nullopt;
  }
  if (!now.max_hz || *now.max_hz <= 0) return std::nullopt;
  return cycles / (static_cast<double>(*now.max_hz) * elapsed / 1e9) / capacity;
}

}  // namespace

Work work_of(std::string_view engine) {
  for (const Name& name : kNames) {
    if (name.engine == engine) return name.work;
  }
  return Work::graphics;
}

void add_memory(const ClientInfo& info, CardUser& user) {
  for (const Region& region : info.regions) {
    const std::string_view name = region.name;
    // Buffers that are asked for and not there yet take no memory; only where nothing else is told they stand for it.
    const auto bytes = region.resident ? region.resident : region.total;
    if (starts_with_any(name, {"vram", "local", "stolen-local"})) {
      add(user.local_bytes, bytes);
    } else if (starts_with_any(name, {"gtt", "system", "memory", "cpu", "stolen"})) {
      add(user.system_bytes, bytes);
    } else {
      continue;  // gds, gws, oa, doorbell of amdgpu: no memory of buffers
    }
    add(user.shared_bytes, region.shared);
  }
  add(user.evicted_bytes, info.evicted_bytes);
}

Shares work_since(const std::vector<Engine>& before, const std::vector<Engine>& now, std::int64_t elapsed_ns) {
  Shares shares;
  for (const Engine& engine : now) {
    const Work work = work_of(engine.name);
    if (engine.busy_ns.value_or(0) > 0 || engine.cycles.value_or(0) > 0) {
      shares.has_worked[static_cast<std::size_t>(work)] = true;
    }
    if (elapsed_ns <= 0) continue;
    const auto share = busy_share(find(before, engine.name), engine, elapsed_ns);
    // Two engines of one kind work beside each other: the busier one counts.
    if (share) shares[work] = std::max(shares[work].value_or(0), std::min(*share * 100, 100.0));
  }
  return shares;
}

void keep_engines(std::vector<Engine>& kept, const std::vector<Engine>& now) {
  const auto raise = [](std::optional<std::int64_t>& to, std::optional<std::int64_t> value) {
    if (value) to = std::max(to.value_or(*value), *value);
  };
  for (const Engine& engine : now) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const Engine& k) { return k.name == engine.name; });
    if (same == kept.end()) {
      kept.push_back(engine);
      continue;
    }
    raise(same->busy_ns, engine.busy_ns);
    raise(same->cycles, engine.cycles);
    raise(same->total_cycles, engine.total_cycles);
  }
}

void add_shares(const Shares& from, Shares& to) {
  for (std::size_t i = 0; i < kWorks; ++i) {
    to.has_worked[i] |= from.has_worked[i];
    if (from.percent[i]) to.percent[i] = std::min(to.percent[i].value_or(0) + *from.percent[i], 100.0);
  }
}

}  // namespace vramscope::drm

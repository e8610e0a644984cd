#pragma once
// The operator table for people (as PyTorch prints it), for spreadsheets and for machines.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/lifetimes.h"
#include "analysis/ops.h"
#include "analysis/ops_sort.h"
#include "analysis/ops_steps.h"
#include "model/source.h"

namespace vramscope {

// What was found in one source. `source` must outlive it.
struct OpsResult {
  const Source* source = nullptr;
  OpTable table;  // rows sorted
  OpColumn sort = OpColumn::self_cpu_time_total;
  std::vector<StepUse> steps;          // when grouped by step
  std::optional<Lifetimes> lifetimes;  // when asked for
};

// The analyses that the query asks for; without a sort key the default one of the table.
OpsResult analyse_ops(const Source& source, const OpQuery& query, bool lifetimes, std::optional<OpColumn> sort);

// `limit`: rows of a table at most, 0 = all. With lifetimes these take the place of the operator table. On a
// terminal columns that do not fit are left out, the least important ones first.
std::string ops_text(const OpsResult& result, const OpQuery& query, std::size_t limit);
// A header line, then one line a row; exact integers, fields quoted as in RFC 4180. With lifetimes: those.
// A column names the source when there are several.
std::string ops_csv(const std::vector<OpsResult>& results, const OpQuery& query, std::size_t limit,
                    bool is_list = false);
// One object (docs/schemas/ops.schema.json); with several sources, or `is_list`, {"sources":[…]}.
std::string ops_json(const std::vector<OpsResult>& results, const OpQuery& query, std::size_t limit,
                     bool is_list = false);

// Parts of ops_text.
std::string ops_table_text(const OpsResult& result, const OpQuery& query, std::size_t limit);
std::string ops_steps_text(const OpsResult& result, std::size_t limit);
std::string ops_lifetimes_text(const OpsResult& result, std::size_t limit);

// How many of `rows` a limit lets through.
constexpr std::size_t shown_rows(std::size_t rows, std::size_t limit) {
  return limit == 0 || limit > rows ? rows : limit;
}

}  // namespace vramscope

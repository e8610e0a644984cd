#pragma once
// Findings as pages for people and as JSON for machines. The sentences are made here, in the user's language for
// people and in English for machines.
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "report/json.h"
#include "rules/rule.h"

namespace vramscope {

enum class Wording { english, chosen_language };

// A message with its places filled in. A place that the arguments do not know is shown as it is written.
std::string sentence(const char* id, const Arguments& arguments, Wording wording);
// The summary, and with which other finding it shares its bytes.
std::string summary_of(const Finding& finding, Wording wording);
// A number with its unit, as a sentence or a table shows it.
std::string shown(const Value& value, Wording wording);
// "bytes", "ns", "bytes/step", …; empty for a plain number or text.
const char* unit_name(Unit unit);
// "info", "warning", "error": for JSON and --fail-on.
const char* severity_name(Severity severity);

// The evidence as the array of a JSON object that is being written. `path`: stands before each place; may be empty.
void write_evidence(JsonWriter& json, const std::vector<Evidence>& evidence, const Arguments& arguments,
                    std::string_view path);
// The advice in English, in one text.
std::string fix_for_machines(const Finding& finding);
// "WARNING" in its colour.
std::string severity_label(Severity severity);

// "What to do: …", or a numbered list, indented; empty without advice.
std::string advice_text(const std::vector<Message>& advice);

std::string findings_text(const Case& input, const Verdicts& verdicts);
// docs/schemas/diagnose.schema.json
std::string findings_json(const Case& input, const Verdicts& verdicts);

}  // namespace vramscope

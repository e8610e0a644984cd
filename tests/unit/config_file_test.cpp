// The configuration file: what it may say, and what is told of the rest.
#include "cli/config_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

namespace vramscope {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

// The one problem, as it is printed.
std::string problem(std::string_view text) {
  const ConfigReading reading = read_config(text, "c.toml");
  EXPECT_EQ(reading.problems.size(), 1u) << text;
  return reading.problems.empty() ? std::string() : problem_line("c.toml", reading.problems[0]);
}

TEST(ConfigFile, EverythingItMaySay) {
  const ConfigReading reading = read_config(R"(
[smtp]
host = "mail.example.org"
port = 2525
tls = "tls"
from = "gpu@example.org"
user = "gpu"
password_file = "/etc/secret"
ca_file = "/etc/ca.pem"
[webhook]
ca_file = "/etc/ca2.pem"
[watch]
interval = "2s"
notify = "desktop"
[[alert]]
rule = "memory.used > 90% for 30s"
notify = ["mail:me@example.org", "command:true"]
severity = "error"
[[alert]]
rule = "gpu lost"
)",
                                            "c.toml");
  for (const ConfigProblem& each : reading.problems) ADD_FAILURE() << problem_line("c.toml", each);
  const Config& config = reading.config;
  EXPECT_EQ(config.settings.smtp.host, "mail.example.org");
  EXPECT_EQ(config.settings.smtp.port, 2525);
  EXPECT_EQ(config.settings.smtp.tls, SmtpTls::tls);
  EXPECT_EQ(config.settings.smtp.password_file, "/etc/secret");
  EXPECT_EQ(config.settings.webhook_ca_file, "/etc/ca2.pem");
  EXPECT_EQ(config.interval_ns, 2'000'000'000);
  EXPECT_EQ(config.notify, std::vector<std::string>{"desktop"});
  ASSERT_EQ(config.alerts.size(), 2u);
  EXPECT_EQ(config.alerts[0].rule.severity, Severity::error);
  EXPECT_EQ(config.alerts[0].notify.size(), 2u);
  EXPECT_EQ(config.alerts[1].rule.condition, AlertCondition::gpu_lost);
}

TEST(ConfigFile, AnEmptyFileIsFine) {
  EXPECT_TRUE(read_config("", "c.toml").problems.empty());
  EXPECT_TRUE(read_config("# nothing\n", "c.toml").problems.empty());
}

TEST(ConfigFile, ProblemsNameLineAndColumn) {
  EXPECT_TRUE(has(problem("[watch]\nintervall = \"1s\"\n"),
                  "c.toml:2:1: there is no \"intervall\" in [watch]; "
                  "\"interval\" is the nearest name."));
  EXPECT_TRUE(has(problem("[watch]\ninterval = 3\n"), "c.toml:2:12: \"interval\" must be a text"));
  EXPECT_TRUE(has(problem("[watch]\ninterval = \"soon\"\n"), "no length of time"));
  EXPECT_TRUE(has(problem("[smpt]\nhost = \"x\"\n"), "\"smtp\" is the nearest name"));
  EXPECT_TRUE(has(problem("smtp = 3\n"), "a table: [smtp]"));
  EXPECT_TRUE(has(problem("[smtp]\nport = 25\n"), "needs host"));
  EXPECT_TRUE(has(problem("[smtp]\nhost = \"x\"\nport = 99999\n"), "c.toml:3:8: \"port\" must be"));
  EXPECT_TRUE(has(problem("[smtp]\nhost = \"x\"\nport = \"25\"\n"), "a whole number"));
  EXPECT_TRUE(has(problem("[smtp]\nhost = \"x\"\ntls = \"ssl\"\n"), "\"starttls\""));
  EXPECT_TRUE(has(problem("[smtp]\nhost = \"x:25/\"\n"), "a name or an address alone"));
  EXPECT_TRUE(has(problem("[smtp]\nhost = \"x\"\nuser = \"u\"\n"), "needs a password"));
  EXPECT_TRUE(has(problem("[smtp]\nhost = \"x\"\npassword = \"p\"\n"), "needs user"));
  EXPECT_TRUE(has(problem("[smtp]\nhost = \"x\"\nuser = \"u\"\npassword = \"p\"\npassword_file = \"f\"\n"),
                  "one password only"));
  EXPECT_TRUE(has(problem("[smtp]\nhost = \"x\"\nfrom = \"me\"\n"), "one mail address"));
  EXPECT_TRUE(has(problem("[[alert]]\nnotify = \"desktop\"\n"), "needs rule"));
  EXPECT_TRUE(has(problem("[alert]\nrule = \"gpu lost\"\n"), "[[alert]]"));
  EXPECT_TRUE(has(problem("[[alert]]\nrule = \"memroy.used > 3%\"\n"), "c.toml:2:8: Alert rule"));
  EXPECT_TRUE(has(problem("[[alert]]\nrule = \"xid\"\nseverity = \"bad\"\n"), "\"severity\" must be"));
  EXPECT_TRUE(has(problem("[[alert]]\nrule = \"xid\"\nnotify = \"pigeon:x\"\n"), "\"pigeon\" is no channel"));
  EXPECT_TRUE(has(problem("[[alert]]\nrule = \"xid\"\nnotify = [\"desktop\", 3]\n"), "c.toml:3:22"));
  EXPECT_TRUE(has(problem("[smtp\n"), "c.toml:1:6: this is no TOML"));
  EXPECT_TRUE(has(problem("\xff\xfe"), "no TOML"));
}

TEST(ConfigFile, APasswordIsNeverPartOfAProblem) {
  const ConfigReading reading = read_config(
      "[smtp]\nhost = \"x\"\nport = 0\nuser = \"u\"\npassword = \"s3cret\"\nextra = \"s3cret\"\n", "c.toml");
  EXPECT_EQ(reading.problems.size(), 2u);
  for (const ConfigProblem& each : reading.problems) EXPECT_FALSE(has(each.sentence, "s3cret")) << each.sentence;
}

TEST(ConfigFile, AdviceOnPasswordsThatOthersCanRead) {
  const std::string path = ::testing::TempDir() + "vramscope_config_test.toml";
  std::ofstream(path) << "[smtp]\nhost = \"x\"\nuser = \"u\"\npassword = \"p\"\n";
  chmod(path.c_str(), 0644);
  EXPECT_EQ(read_config_file(path)->advice.size(), 1u);
  chmod(path.c_str(), 0600);
  EXPECT_EQ(read_config_file(path)->advice.size(), 0u);
  std::remove(path.c_str());
  EXPECT_FALSE(read_config_file(path));
  EXPECT_FALSE(read_config_file("/"));
  EXPECT_EQ(read_config("[smtp]\nhost = \"x\"\ntls = \"none\"\nuser = \"u\"\npassword = \"p\"\n", "").advice.size(),
            1u);
}

TEST(ConfigFile, IsFoundInItsPlaces) {
  const std::string folder = ::testing::TempDir() + "vramscope_config_home";
  mkdir(folder.c_str(), 0700);
  mkdir((folder + "/vramscope").c_str(), 0700);
  const std::string path = folder + "/vramscope/config.toml";
  std::ofstream(path) << "[watch]\ninterval = \"3s\"\n";
  const char* kept = std::getenv("XDG_CONFIG_HOME");
  const std::string before = kept != nullptr ? kept : "";
  setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
  EXPECT_EQ(find_config_file(), path);
  EXPECT_EQ(load_config("")->interval_ns, 3'000'000'000);
  EXPECT_FALSE(load_config(folder + "/none.toml"));
  if (kept != nullptr) {
    setenv("XDG_CONFIG_HOME", before.c_str(), 1);
  } else {
    unsetenv("XDG_CONFIG_HOME");
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace vramscope

#!/usr/bin/env python3
"""Notices against real servers: mail (plain, STARTTLS, TLS, login, refusals, slow, dead, back again), webhooks and
commands, through the program itself and through notify_probe, which has shorter times. Also `alerts test` and
`check-config`. Exit status 77 (skipped) without python3-aiosmtpd, python3-jsonschema, openssl or libcurl.
"""
import ctypes.util
import email
import email.policy
import email.utils
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import threading
import unittest

try:
    import aiosmtpd  # noqa: F401
    import jsonschema
except ImportError as missing:
    print(missing)
    sys.exit(77)
if not shutil.which("openssl") or not ctypes.util.find_library("curl"):
    print("openssl or libcurl is not installed")
    sys.exit(77)

from servers import PASSWORD, USER, Mails, MailServer, SilentServer, WebServer, free_port, make_certificate

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("VRAMSCOPE") or str(ROOT / "build" / "vramscope")
PROBE = os.environ.get("NOTIFY_PROBE") or str(ROOT / "build" / "notify_probe")
LEAK = ("alerts", "test", "--device", "sim:leak", "--for", "3h", "--alert", "memory.used > 90% for 30s")
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "no_proxy": "*"}


def schema(name):
    text = (ROOT / "docs" / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


class Notices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.certificate = make_certificate(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def config(self, text):
        path = pathlib.Path(self.folder.name) / "config.toml"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        return str(path)

    def smtp(self, server, host="127.0.0.1", tls="none", more=""):
        return self.config(f'[smtp]\nhost = "{host}"\nport = {server.port}\ntls = "{tls}"\n{more}\n')

    def run_program(self, *arguments, environment=None):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120, check=False,
                              env={**ENVIRONMENT, **(environment or {})})
        self.assertNotIn(PASSWORD, done.stdout + done.stderr)
        return done

    def probe(self, config, channel, seconds=20, connect=2000, total=5000, back_off=100):
        done = subprocess.run([PROBE, config, channel, *map(str, (seconds, connect, total, back_off))], text=True,
                              capture_output=True, timeout=60, check=False, env=ENVIRONMENT)
        self.assertNotIn(PASSWORD, done.stdout + done.stderr)
        return done.returncode, done.stdout

    # --- mail

    def test_plain_mail_from_the_program(self):
        mails = Mails()
        with MailServer(mails) as server:
            config = self.smtp(server, more='from = "gpu@example.org"')
            done = self.run_program(*LEAK, "--notify", "mail:me@example.org", "--config", config, "--send")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(mails.mails), 1)
        sender, recipients, content, encrypted = mails.mails[0]
        self.assertEqual((sender, recipients, encrypted), ("gpu@example.org", ["me@example.org"], False))
        mail = email.message_from_bytes(content, policy=email.policy.default)
        self.assertRegex(mail["Subject"], r"^\[vramscope\] .*: GPU 0: memory.used > 90% for 30s$")
        self.assertEqual(mail["Auto-Submitted"], "auto-generated")
        self.assertIsNotNone(email.utils.parsedate_to_datetime(mail["Date"]))
        self.assertRegex(mail["Message-ID"], r"^<vramscope\.[0-9a-f]{16}@.+>$")
        body = mail.get_content()
        for part in ("memory.used is 90", "4242", "alice", "python3 train.py", "vramscope status", "kill 4242"):
            self.assertIn(part, body)
        self.assertTrue(body.replace("°", "").isascii(), body)
        self.assertTrue(all(len(line) <= 78 for line in content.decode("ascii").split("\r\n")))

    def test_starttls(self):
        mails = Mails()
        with MailServer(mails, tls="starttls", certificate=self.certificate) as server:
            trusting = f'ca_file = "{self.certificate[0]}"'
            code, text = self.probe(self.smtp(server, "localhost", "starttls", trusting), "mail:me@example.org")
            self.assertEqual((code, text), (0, "delivered\n"))
            code, text = self.probe(self.smtp(server, "localhost", "starttls"), "mail:me@example.org", seconds=1)
            self.assertEqual(code, 1, text)
            self.assertIn("certificate is not trusted", text)
        self.assertEqual([mail[3] for mail in mails.mails], [True])
        subject = email.message_from_bytes(mails.mails[0][2], policy=email.policy.default)["Subject"]
        self.assertEqual(subject, "[vramscope] host: GPU 0: memory.used > 90%")

    def test_tls_from_the_first_byte(self):
        mails = Mails()
        with MailServer(mails, tls="tls", certificate=self.certificate) as server:
            trusting = f'ca_file = "{self.certificate[0]}"'
            code, text = self.probe(self.smtp(server, "localhost", "tls", trusting), "mail:me@example.org")
        self.assertEqual((code, text), (0, "delivered\n"))
        self.assertEqual(len(mails.mails), 1)  # that server speaks nothing but TLS

    def test_a_server_without_starttls_gets_neither_mail_nor_password(self):
        mails = Mails()
        login = f'user = "{USER}"\npassword = "{PASSWORD}"'
        with MailServer(mails, login=True) as server:
            code, text = self.probe(self.smtp(server, tls="starttls", more=login), "mail:me@example.org")
        self.assertEqual(code, 1)
        self.assertIn("no encryption", text)
        self.assertEqual((mails.mails, mails.logins), ([], []))

    def test_login(self):
        secret = pathlib.Path(self.folder.name) / "secret"
        secret.write_text(PASSWORD + "\n", encoding="utf-8")
        trusting = f'ca_file = "{self.certificate[0]}"\nuser = "{USER}"\n'
        for password in (f'password = "{PASSWORD}"', f'password_file = "{secret}"', f"password_command = 'cat \"{secret}\"'"):
            mails = Mails()
            with MailServer(mails, tls="starttls", certificate=self.certificate, login=True) as server:
                config = self.smtp(server, "localhost", "starttls", trusting + password)
                code, text = self.probe(config, "mail:me@example.org")
            self.assertEqual((code, text), (0, "delivered\n"), password)
            self.assertEqual((mails.logins, len(mails.mails)), ([True], 1))

    def test_a_wrong_password_is_told_and_not_tried_for_ever(self):
        mails = Mails()
        more = f'ca_file = "{self.certificate[0]}"\nuser = "{USER}"\npassword = "wr0ng-w0rd"'
        with MailServer(mails, tls="starttls", certificate=self.certificate, login=True) as server:
            code, text = self.probe(self.smtp(server, "localhost", "starttls", more), "mail:me@example.org")
        self.assertEqual(code, 1)
        self.assertIn("refuses the login (535)", text)
        self.assertNotIn("wr0ng", text)
        self.assertEqual(mails.mails, [])
        self.assertLessEqual(len(mails.logins), 2)  # one a mechanism

    def test_a_refused_recipient_is_told_once(self):
        mails = Mails(answers=["550 no such user"])
        with MailServer(mails) as server:
            code, text = self.probe(self.smtp(server), "mail:nobody@example.org")
        self.assertEqual(code, 1)
        self.assertIn("reply 550", text)
        self.assertEqual(len(mails.recipients), 1)

    def test_a_recipient_that_is_refused_for_now_is_tried_again(self):
        mails = Mails(answers=["451 later", "451 later", "250 OK"])
        with MailServer(mails) as server:
            code, text = self.probe(self.smtp(server), "mail:me@example.org")
        self.assertEqual((code, len(mails.mails)), (0, 1), text)
        self.assertEqual(text.count("does not take notices"), 1, text)
        self.assertIn("takes notices again", text)

    def test_a_silent_server_ends_in_time(self):
        with SilentServer() as server:
            begin = time.monotonic()
            code, text = self.probe(self.smtp(server), "mail:me@example.org", seconds=2, total=500)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(code, 1)
        self.assertIn("did not answer in time", text)
        self.assertEqual(text.count("does not take notices"), 1, text)
        self.assertIn("did not get the notice", text)

    def test_a_dead_server_that_comes_back(self):
        mails, port = Mails(), free_port()
        server = MailServer(mails, port)
        starter = threading.Timer(1.5, server.__enter__)
        starter.start()
        try:
            code, text = self.probe(self.smtp(server), "mail:me@example.org")
        finally:
            starter.join()
            server.__exit__()
        self.assertEqual((code, len(mails.mails)), (0, 1), text)
        self.assertEqual(text.count("no connection"), 1, text)
        self.assertIn("takes notices again", text)

    def test_a_dead_server_told_by_the_program(self):
        config = self.config(f'[smtp]\nhost = "127.0.0.1"\nport = {free_port()}\ntls = "none"\n')
        done = self.run_program(*LEAK, "--notify", "mail:me@example.org", "--config", config, "--send")
        self.assertEqual(done.returncode, 3)
        self.assertIn("mail:me@example.org did not get the notice", done.stderr)

    # --- webhooks

    def test_webhook_from_the_program(self):
        with WebServer() as server:
            channel = f"webhook:http://127.0.0.1:{server.port}/T0/secret-token"
            done = self.run_program(*LEAK, "--notify", channel, "--send")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("secret-token", done.stdout)
        self.assertEqual(server.paths, ["/T0/secret-token"])
        self.assertEqual(server.headers[0]["Content-Type"], "application/json")
        alert = json.loads(server.bodies[0])
        schema("alert").validate(alert)
        self.assertEqual((alert["kind"], alert["gpu"]["index"], alert["holders"][0]["pid"]), ("fired", 0, 4242))
        self.assertGreater(alert["value"]["number"], 90)

    def probe_web(self, statuses, **times):
        with WebServer(statuses) as server:
            code, text = self.probe(self.config(""), f"webhook:http://127.0.0.1:{server.port}/x", **times)
            return code, text, server

    def test_webhook_500_is_tried_again(self):
        code, text, server = self.probe_web([500, 503, 200])
        self.assertEqual((code, len(server.bodies)), (0, 3), text)
        self.assertEqual(len(set(server.bodies)), 1)

    def test_webhook_404_is_told_once(self):
        code, text, server = self.probe_web([404])
        self.assertEqual((code, len(server.bodies)), (1, 1), text)
        self.assertIn("status 404", text)

    def test_webhook_redirections_are_not_followed(self):
        for status in (301, 302, 307):
            code, text, server = self.probe_web([status])
            self.assertEqual((code, server.paths), (1, ["/x"]), text)
            self.assertIn(f"{status}, a redirection", text)

    def test_webhook_that_hangs(self):
        code, text, server = self.probe_web(["hang", 200], total=500)
        self.assertEqual(code, 0, text)
        self.assertIn("did not answer in time", text)
        self.assertEqual(len(server.bodies), 2)

    def test_webhook_with_https(self):
        with WebServer(certificate=self.certificate) as server:
            channel = f"webhook:https://localhost:{server.port}/x"
            code, text = self.probe(self.config(f'[webhook]\nca_file = "{self.certificate[0]}"\n'), channel)
            self.assertEqual((code, text), (0, "delivered\n"))
            code, text = self.probe(self.config(""), channel, seconds=1)
            self.assertEqual(code, 1)
            self.assertIn("certificate is not trusted", text)
        self.assertEqual(len(server.bodies), 1)

    # --- commands, and what is missing

    def test_command(self):
        out = pathlib.Path(self.folder.name) / "command.out"
        done = self.run_program(*LEAK, "--send", "--notify",
                                f'command:(echo "$VRAMSCOPE_ALERT_KIND $VRAMSCOPE_ALERT_GPU $VRAMSCOPE_ALERT_PID"; cat) > {out}')
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        first, rest = out.read_text(encoding="utf-8").split("\n", 1)
        self.assertEqual(first, "fired 0 4242")
        schema("alert").validate(json.loads(rest))
        done = self.run_program(*LEAK, "--send", "--notify", "command:echo no room >&2; exit 7")
        self.assertEqual(done.returncode, 3)
        self.assertIn("exit status 7: no room", done.stderr)

    def test_without_libcurl(self):
        broken = pathlib.Path(self.folder.name) / "no-curl"
        broken.mkdir(exist_ok=True)
        for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
            (broken / name).write_text("")
        done = self.run_program(*LEAK, "--send", "--notify", "webhook:http://localhost/", environment={"LD_LIBRARY_PATH": str(broken)})
        self.assertEqual(done.returncode, 3)
        self.assertIn("install the package libcurl4", done.stderr)
        done = self.run_program(*LEAK, "--notify", "webhook:http://localhost/", environment={"LD_LIBRARY_PATH": str(broken)})
        self.assertEqual(done.returncode, 0)

    # --- the verbs

    def test_alerts_test_as_json(self):
        rules = ("memory.used > 90% for 30s", "memory growing", "full within 20m", "gpu lost", "process gone", "xid",
                 "process.memory > 50%", "temperature.gpu > 80", "fan.speed > 1%", "memory.used > 99% on gpu 7")
        for name in ("healthy", "leak", "fragmentation", "starving", "zombie", "hot", "lost-gpu", "node8"):
            arguments = [part for rule in rules for part in ("--alert", rule)]
            done = self.run_program("alerts", "test", "--device", f"sim:{name}", "--for", "4h", *arguments, "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            report = json.loads(done.stdout)
            schema("alerts").validate(report)
            fired = {rule["rule"]: rule["fired"] for rule in report["rules"]}
            self.assertEqual(fired["memory growing"], 1 if name == "leak" else 0, name)
            self.assertEqual(fired["full within 20m"], 1 if name == "leak" else 0, name)
            self.assertEqual(fired["gpu lost"], 1 if name == "lost-gpu" else 0, name)
            self.assertEqual(fired["memory.used > 90% for 30s"], 1 if name in ("leak", "starving", "fragmentation") else 0, name)
            if name != "node8":
                self.assertEqual(report["rules"][-1]["obstacle"], "no_such_gpu")
            firings = [notice["alert"]["rule"] for notice in report["notices"] if notice["alert"]["kind"] == "fired"]
            self.assertEqual(len(firings), sum(fired.values()), name)

    def test_what_did_not_fire_tells_the_nearest_value(self):
        done = self.run_program("alerts", "test", "--device", "sim:leak", "--for", "1h", "--alert", "memory.used > 90%")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"did not fire\. The nearest value: [0-9.]+ %, GPU 0, after \d+ min \d\d s\.")

    def test_wrong_usage(self):
        for arguments, part in (((), "no rule to test"), (("--alert", "memroy.used > 1%"), "nearest name"),
                                (("--alert", "xid", "--for", "soon"), "no length of time"),
                                (("--alert", "xid", "--send", "--notify", "pigeon:x"), "no channel"),
                                (("--alert", "xid", "--config", "/nowhere.toml"), "cannot be read")):
            done = self.run_program("alerts", "test", "--device", "sim:healthy", *arguments,
                                    environment={"XDG_CONFIG_HOME": self.folder.name})
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(part, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_check_config(self):
        secret = os.path.join(self.folder.name, "secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("wr0ng\n")
        good = self.config(f'[smtp]\nhost = "mail.example.org"\nuser = "u"\npassword_file = "{secret}"\n[watch]\ninterval = "2s"\n'
                           'notify = "mail:me@example.org"\n[[alert]]\nrule = "gpu lost"\n[[alert]]\nrule = "xid"\n'
                           'notify = ["webhook:https://hooks.example.org/secret-token"]\nseverity = "info"\n')
        done = self.run_program("check-config", good)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in ("mail.example.org", "login as u", "gpu lost", "mail:me@example.org", "webhook:https://hooks.example.org/…"):
            self.assertIn(part, done.stdout)
        self.assertNotIn("secret-token", done.stdout)
        done = self.run_program("check-config", good, "--json")
        schema("check-config").validate(json.loads(done.stdout))
        bad = self.config('[smtp]\nhost = "x"\nport = "25"\n\n[watch]\nintervall = "2s"\n[[alert]]\nrule = "gpu gone"\n')
        done = self.run_program("check-config", bad)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        for place in (":3:8: ", ":6:1: ", ":8:8: "):
            self.assertIn(place, done.stderr)
        done = self.run_program("check-config", bad, "--json")
        self.assertEqual(done.returncode, 2)
        schema("check-config").validate(json.loads(done.stdout))
        self.assertEqual(len(json.loads(done.stdout)["problems"]), 3)


if __name__ == "__main__":
    unittest.main(verbosity=1)

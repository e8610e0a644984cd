"""Servers for check_notify.py: SMTP by aiosmtpd, HTTP by the standard library, on free ports of this machine."""
import http.server
import logging
import pathlib
import socket
import ssl
import subprocess
import threading
import time

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

logging.getLogger("mail.log").setLevel(logging.CRITICAL + 1)  # failed handshakes are part of the tests
USER, PASSWORD = "gpu-user", "pa55-w0rd-of-mail"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_certificate(folder):
    """A self-made certificate of localhost; (certificate, key) as paths."""
    certificate, key = pathlib.Path(folder) / "cert.pem", pathlib.Path(folder) / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return str(certificate), str(key)


class Mails:
    """What a mail server got, and how it answers: `answers` are the replies to RCPT, the last one for ever."""

    def __init__(self, answers=("250 OK",), delay=0):
        self.mails, self.recipients, self.logins = [], [], []
        self.answers, self.delay = list(answers), delay

    async def handle_RCPT(self, server, session, envelope, address, options):
        self.recipients.append(address)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server, session, envelope):
        self.mails.append((envelope.mail_from, list(envelope.rcpt_tos), envelope.content, session.ssl is not None))
        return "250 OK"

    def authenticate(self, server, session, envelope, mechanism, data):
        good = isinstance(data, LoginPassword) and (data.login, data.password) == (USER.encode(), PASSWORD.encode())
        self.logins.append(good)
        return AuthResult(success=good, handled=False)


class MailServer:
    """`tls`: None, "starttls" or "tls"."""

    def __init__(self, mails, port=None, tls=None, certificate=None, login=False):
        self.mails, self.port = mails, port or free_port()
        arguments = {}
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            if tls == "starttls":
                arguments.update(tls_context=context, require_starttls=True)
            else:
                arguments.update(ssl_context=context)
        if login:
            arguments.update(authenticator=mails.authenticate, auth_required=True, auth_require_tls=tls == "starttls")
        self.controller = Controller(mails, hostname="127.0.0.1", port=self.port, **arguments)

    def __enter__(self):
        if self.controller.ssl_context:
            self.controller._trigger_server = self.greet
        self.controller.start()
        return self

    # aiosmtpd looks whether the server is there by a connection of its own, and does not trust this certificate.
    def greet(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", self.port), 5) as plain, context.wrap_socket(plain) as secured:
            secured.recv(100)

    def __exit__(self, *_):
        self.controller.stop()


class SilentServer:
    """Takes connections and never says a word."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        return self

    def __exit__(self, *_):
        self.socket.close()


class WebServer:
    """`statuses`: of the answers in turn, the last one for ever; "hang": no answer."""

    def __init__(self, statuses=(200,), certificate=None):
        outer = self
        self.statuses, self.bodies, self.paths, self.headers = list(statuses), [], [], []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.bodies.append(body)
                outer.paths.append(self.path)
                outer.headers.append(dict(self.headers))
                status = outer.statuses.pop(0) if len(outer.statuses) > 1 else outer.statuses[0]
                if status == "hang":
                    time.sleep(3)
                    return
                self.send_response(status)
                if status in (301, 302, 307, 308):
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

"""nats_identity.py FOLDER: who may talk to a nats-server, made by openssl alone.

Certificates: ca.pem vouches for server.pem (bus.example.com, 127.0.0.1), named.pem (bus.example.com alone) and client.pem
(CN=app); stranger.pem is of an authority of its own. Keys are beside them, `*.key`.

Credentials: operator.conf makes a server trust an operator, with the accounts APP, which has JetStream, and OTHER; app.creds is
a user of APP, plain.creds one of OTHER, which has no JetStream. late.creds has expired, torn.creds has the key of somebody else,
and empty.creds has neither JWT nor key.
"""
import base64
import json
import subprocess
import sys
import time
from pathlib import Path

OPERATOR, ACCOUNT, USER = 14 << 3, 0, 20 << 3
SEED = 18 << 3


def openssl(*words, given=None):
    return subprocess.run(["openssl", *map(str, words)], input=given, check=True, capture_output=True).stdout


# ---- certificates

def authority(folder, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem")


def certificate(folder, name, common, names, by):
    request = openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={common}",
                      "-keyout", folder / f"{name}.key")
    extensions = folder / f"{name}.ext"
    extensions.write_text(f"subjectAltName={names}\n")
    openssl("x509", "-req", "-days", "2", "-CA", folder / f"{by}.pem", "-CAkey", folder / f"{by}.key", "-CAcreateserial",
            "-extfile", extensions, "-out", folder / f"{name}.pem", given=request)


# ---- nkeys: base32 of a prefix, 32 bytes and their CRC; the JWTs that they sign

def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc.to_bytes(2, "little")


def written(data):
    return base64.b32encode(data + crc16(data)).decode().rstrip("=")


def segment(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Nkey:
    def __init__(self, folder, prefix):
        self.pem = openssl("genpkey", "-algorithm", "ed25519")
        private = openssl("pkey", "-outform", "DER", given=self.pem)[-32:]
        public = openssl("pkey", "-pubout", "-outform", "DER", given=self.pem)[-32:]
        self.folder = folder
        self.public = written(bytes([prefix]) + public)
        self.seed = written(bytes([SEED | prefix >> 5, (prefix & 31) << 3]) + private)

    def sign(self, text):
        key, data = self.folder / "signing.key", self.folder / "signed"
        key.write_bytes(self.pem)
        data.write_text(text)
        return openssl("pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", data)

    def jwt(self, subject, name, claims, expires=None):
        body = {"jti": name, "iat": int(time.time()), "iss": self.public, "name": name, "sub": subject.public,
                "nats": {"version": 2, **claims}}
        if expires:
            body["exp"] = expires
        head = {"typ": "JWT", "alg": "ed25519-nkey"}
        text = ".".join(segment(json.dumps(part).encode()) for part in (head, body))
        return f"{text}.{segment(self.sign(text))}"


def account_claims(jetstream):
    limits = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1) | {"wildcards": True}
    if jetstream:
        limits |= dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
    return {"type": "account", "limits": limits}


def credentials(path, jwt, seed):
    path.write_text(f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
                    f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n")


def make_credentials(folder):
    operator, system, app, other = Nkey(folder, OPERATOR), *(Nkey(folder, ACCOUNT) for _ in range(3))
    preloaded = "".join(f"  {account.public}: {operator.jwt(account, name, account_claims(name == 'APP'))}\n"
                        for name, account in (("SYS", system), ("APP", app), ("OTHER", other)))
    trusted = operator.jwt(operator, "operator", {"type": "operator", "system_account": system.public})
    (folder / "operator.conf").write_text(f"operator: {trusted}\nsystem_account: {system.public}\nresolver: MEMORY\n"
                                          f"resolver_preload: {{\n{preloaded}}}\n")
    user, stranger = Nkey(folder, USER), Nkey(folder, USER)
    claims = {"type": "user", "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1}
    mine = app.jwt(user, "app", claims)
    credentials(folder / "app.creds", mine, user.seed)
    credentials(folder / "torn.creds", mine, stranger.seed)
    credentials(folder / "late.creds", app.jwt(user, "late", claims, expires=int(time.time()) - 60), user.seed)
    credentials(folder / "plain.creds", other.jwt(user, "plain", claims), user.seed)
    (folder / "empty.creds").write_text("made by nobody\n")


def make(folder):
    authority(folder, "ca")
    authority(folder, "elsewhere")
    certificate(folder, "server", "bus.example.com", "DNS:bus.example.com,IP:127.0.0.1", "ca")
    certificate(folder, "named", "bus.example.com", "DNS:bus.example.com", "ca")
    certificate(folder, "client", "app", "email:app@example.com", "ca")
    certificate(folder, "stranger", "stranger", "email:stranger@example.com", "elsewhere")
    make_credentials(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]))

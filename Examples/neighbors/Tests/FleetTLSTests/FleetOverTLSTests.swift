// Tests the operator's program and a process of a fleet on a real etcd with TLS.

import FleetTLS
import Foundation
import NeighborsTestSupport
import Testing

@Suite(.needsEtcd, .timeLimit(.minutes(10))) struct FleetOverTLSTests {
    private static let path = "Upstream/Quotes/Timeout"
    private let authority: Authority
    private let directory: TemporaryDirectory

    init() throws {
        authority = try Authority()
        directory = try TemporaryDirectory()
    }

    /// Runs the operator's program.
    private func operate(
        _ words: [String], at url: String, ca: Authority? = nil, _ client: Authority.Signed? = nil
    ) throws -> Ended {
        var variables = ["TWEAKS_FLEET": url, "TWEAKS_FLEET_CA": (ca ?? authority).file]
        variables["TWEAKS_FLEET_CERT"] = client?.certificate
        variables["TWEAKS_FLEET_KEY"] = client?.key
        return try end(of: [built("tweakctl-fleet-tls"), "quotes"] + words, variables)
    }

    private func set(_ value: String) -> [String] { ["set", "\(Self.path) = \(value)"] }

    /// Starts a process of the fleet.
    private func process(at url: String) throws -> Running {
        let state = directory.file("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        return try Running(
            [built("quotes-tls")],
            [
                "TWEAKS_FLEET": url, "TWEAKS_FLEET_CA": authority.file, "STATE_DIRECTORY": state,
                "XDG_RUNTIME_DIR": directory.path,
            ])
    }

    @Test func `A process follows what an operator sets, both over TLS with a private authority`() async throws {
        let etcd = try await SecureEtcd.start(try authority.sign("server", usage: "serverAuth"))
        let process = try process(at: etcd.url)
        try await process.wait(for: "timeout 2.0 seconds")
        // The second value comes by the watch that the first one may have found open, and by an address.
        for (value, url) in [("3s", etcd.url), ("4s", "https://127.0.0.1:\(etcd.port)")] {
            let set = try operate(set(value) + ["--new"], at: url)
            #expect(set.code == 0, "\(set.errors)")
            try await process.wait(for: "timeout \(value.dropLast()).0 seconds")
        }
        let values = try operate(["get", Self.path], at: etcd.url)
        #expect(values.code == 0 && values.output.contains("\(Self.path) = 4s"), "\(values)")
        #expect(process.stop() == 0)
    }

    @Test func `A member that does not prove who it is gets no request`() async throws {
        let other = try Authority()
        let cases: [(Authority.Signed, Authority, String)] = [
            (try authority.sign("server"), other, "of localhost is not signed by an authority, at least not by one of"),
            (try authority.sign("stranger", "DNS:example.org"), authority, "of localhost is for another name; use one"),
            (try authority.sign("expired", days: -1), authority, "of localhost has expired on 20"),
        ]
        for (certificate, trusted, text) in cases {
            let etcd = try await SecureEtcd.start(certificate)
            let failed = try operate(set("3s") + ["--new"], at: etcd.url, ca: trusted)
            #expect(failed.code == 3)
            #expect(failed.errors.contains("\(etcd.url): cannot connect: the certificate \(text)"), "\(failed.errors)")
        }
    }

    @Test func `An address that the certificate lacks is another name`() async throws {
        let etcd = try await SecureEtcd.start(try authority.sign("server", "DNS:localhost"))
        let failed = try operate(["status"], at: "https://127.0.0.1:\(etcd.port)")
        #expect(failed.code == 3 && failed.errors.contains("is for another name"), "\(failed.errors)")
    }

    @Test func `A member without TLS, and none, are errors that say so`() async throws {
        let etcd = try await SecureEtcd.start(nil)
        let plain = try operate(["status"], at: etcd.url)
        #expect(plain.code == 3 && plain.errors.contains("does its port speak TLS?"), "\(plain.errors)")
        let closed = try BoundPort()
        let absent = try operate(["status"], at: "https://127.0.0.1:\(closed.number)")
        #expect(absent.code == 3 && absent.errors.contains("Connection refused"), "\(absent.errors)")
        withExtendedLifetime(closed) {}
    }

    @Test func `A client certificate is given, missing, or another authority's`() async throws {
        let etcd = try await SecureEtcd.start(try authority.sign("server"), clients: authority)
        let mine = try authority.sign("ana", "DNS:ana", usage: "clientAuth")
        #expect(try operate(set("3s") + ["--new"], at: etcd.url, mine).code == 0)
        let missing = try operate(["status"], at: etcd.url)
        #expect(missing.code == 3)
        #expect(missing.errors.contains("localhost asks for a client certificate; name one and its key"))
        let other = try Authority()
        let refused = try operate(
            ["status"], at: etcd.url, try other.sign("eve", "DNS:eve", usage: "clientAuth"))
        #expect(refused.code == 3)
        // With TLS 1.3 the handshake is over before etcd refuses the certificate. It closes with the request unread, and
        // then the system may discard its alert.
        let texts = ["TLS: localhost has ended the connection", "Connection reset by peer"]
        #expect(texts.contains(where: refused.errors.contains), "\(refused.errors)")
    }

    @Test func `A user signs in with a password over TLS, also beside a client certificate`() async throws {
        let etcd = try await SecureEtcd.start(try authority.sign("server"), clients: authority)
        // With authentication, the gateway of etcd refuses client certificates that have a common name.
        let mine = try authority.sign("ana", "DNS:ana", usage: "clientAuth", subject: "/O=ana")
        let connector = try TLSConnector(authorities: authority.file, certificate: mine.certificate, key: mine.key)
        for (path, body) in [
            ("auth/role/add", #"{"name":"root"}"#), ("auth/user/add", #"{"name":"root","password":"secret"}"#),
            ("auth/user/grant", #"{"user":"root","role":"root"}"#), ("auth/enable", "{}"),
        ] { #expect(try etcd.post(path, body, connector).hasPrefix("HTTP/1.1 200"), "\(path)") }
        func operate(_ password: String?) throws -> Ended {
            let file = try password.map { try directory.write("password", $0) }
            let user = file.map { ["--user", "root", "--password-file", $0] } ?? []
            return try self.operate(set("3s") + ["--new"] + user, at: etcd.url, mine)
        }
        let signedIn = try operate("secret")
        #expect(signedIn.code == 0, "\(signedIn.errors)")
        for password in ["wrong", nil] {
            let refused = try operate(password)
            #expect(refused.code != 0 && refused.errors.contains("name a user with --user"), "\(refused)")
        }
    }
}

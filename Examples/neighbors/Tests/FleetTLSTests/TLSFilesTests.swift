// Tests the files of a connector: missing ones, wrong ones, and variables.

import FleetTLS
import Foundation
import NeighborsTestSupport
import Testing

@Suite(.needsEtcd) struct TLSFilesTests {
    private let authority: Authority
    private let directory: TemporaryDirectory

    init() throws {
        authority = try Authority()
        directory = try TemporaryDirectory()
    }

    private func problem(_ body: () throws -> TLSConnector) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `A file that is missing or of another kind is an error with its name`() throws {
        let (mine, other) = (try authority.sign("ana"), try authority.sign("bob"))
        let empty = try directory.write("empty", "")
        for path in [empty, directory.file("none"), mine.key] {
            let text = problem { try TLSConnector(authorities: path) }
            #expect(text == "\(path) is not there, or has no certificate in PEM; name a file that has")
        }
        let certificate = mine.certificate
        let noKey = problem { try TLSConnector(certificate: certificate, key: empty) }
        #expect(noKey == "\(empty) is not there, or is not a private key in PEM without a passphrase")
        let alone = problem { try TLSConnector(certificate: certificate) }
        #expect(alone == "a client certificate and its key go together; name both or neither")
        let mixed = problem { try TLSConnector(certificate: certificate, key: other.key) }
        #expect(mixed?.hasSuffix("does the key belong to the certificate?") == true)
    }

    @Test func `Variables name the files; an empty one names none`() throws {
        let mine = try authority.sign("ana")
        _ = try TLSConnector(environment: [:])
        _ = try TLSConnector(environment: ["TWEAKS_FLEET_CA": "", "TWEAKS_FLEET_CERT": "", "TWEAKS_FLEET_KEY": ""])
        _ = try TLSConnector(environment: [
            "TWEAKS_FLEET_CA": authority.file, "TWEAKS_FLEET_CERT": mine.certificate, "TWEAKS_FLEET_KEY": mine.key,
        ])
        let missing = problem { try TLSConnector(environment: ["TWEAKS_FLEET_CA": "/none"]) }
        #expect(missing?.hasPrefix("/none is not there") == true)
        let ended = try end(of: [built("tweakctl-fleet-tls"), "quotes", "status"], ["TWEAKS_FLEET_CA": "/none"])
        #expect(ended.code == 2 && ended.errors.hasPrefix("tweakctl-fleet: /none is not there"))
    }
}

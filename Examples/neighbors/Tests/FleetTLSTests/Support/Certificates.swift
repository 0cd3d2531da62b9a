// Makes the authorities and certificates of the tests with openssl.

import Foundation
import NeighborsTestSupport

/// A certificate authority of its own, and what it signs.
final class Authority: Sendable {
    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    private let directory: TemporaryDirectory
    /// The PEM file of its own certificate.
    var file: String { directory.file("ca.pem") }

    init() throws {
        directory = try TemporaryDirectory()
        _ = try run(
            ["openssl", "req", "-x509"] + Self.newKey
                + ["-keyout", directory.file("ca.key"), "-out", file, "-days", "2", "-subj", "/CN=An authority"])
    }

    /// A certificate and its key.
    struct Signed {
        let certificate: String
        let key: String
    }

    /// Signs a certificate.
    /// - Parameters:
    ///   - names: The names that it is for: `DNS:localhost,IP:127.0.0.1`.
    ///   - usage: The gateway of etcd uses that of its server as a client, too.
    ///   - subject: Its distinguished name; nil for the name as the common name.
    ///   - days: How long it is valid; -1 for one that has expired.
    func sign(
        _ name: String, _ names: String = "DNS:localhost,IP:127.0.0.1", usage: String = "serverAuth,clientAuth",
        subject: String? = nil, days: Int = 2
    ) throws -> Signed {
        let (key, request, certificate) =
            (directory.file("\(name).key"), directory.file("\(name).csr"), directory.file("\(name).pem"))
        _ = try run(
            ["openssl", "req"] + Self.newKey + ["-keyout", key, "-out", request, "-subj", subject ?? "/CN=\(name)"])
        let extensions = try directory.write(
            "\(name).ext", "subjectAltName=\(names)\nextendedKeyUsage=\(usage)\n")
        _ = try run([
            "openssl", "x509", "-req", "-in", request, "-CA", file, "-CAkey", directory.file("ca.key"),
            "-CAcreateserial", "-days", "\(days)", "-extfile", extensions, "-out", certificate,
        ])
        return Signed(certificate: certificate, key: key)
    }
}

// Tests lists of endpoints and password files, and the errors for invalid ones.

import Foundation
import Testing
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct EtcdConfigurationTests {
    @Test(arguments: [
        ("http://127.0.0.1:2379", ["http://127.0.0.1:2379"]),
        (" http://a:1 ,,http://b/, http://a:1", ["http://a:1", "http://b"]),
        ("HTTP://Host:2379/", ["http://Host:2379"]), ("http://[::1]:2379", ["http://[::1]:2379"]),
    ])
    func `A list of URLs is parsed and normalized`(_ text: String, _ endpoints: [String]) throws {
        #expect(try EtcdConfiguration(endpoints: text).endpoints == endpoints)
    }

    @Test(arguments: [
        ("", EtcdConfigurationProblem.noEndpoint), (" , ", .noEndpoint), ("127.0.0.1:2379", .scheme("127.0.0.1:2379")),
        ("ftp://a", .scheme("ftp://a")), ("localhost", .scheme("localhost")), ("http://", .host("http://")),
        ("http:///v3", .host("http:///v3")), ("http://a/v3", .path("http://a/v3")), ("http://a?x", .path("http://a?x")),
        ("http://a#x", .path("http://a#x")), ("http://me:secret@a", .userInformation),
        ("http://a:0", .host("http://a:0")), ("http://a:65536", .host("http://a:65536")),
        ("http://ok,nonsense", .scheme("nonsense")), ("http://a b", .host("http://a b")),
        ("http://a\r\nX: y", .host("http://a\r\nX: y")), ("http://ä", .host("http://ä")), ("://a", .scheme("://a")),
        ("http://a:1:2", .host("http://a:1:2")), ("http://[::1", .host("http://[::1")),
        ("https://a:1", .encrypted("https://a:1")),
    ])
    func `An invalid list is an error`(_ text: String, _ problem: EtcdConfigurationProblem) {
        #expect(throws: problem) { try EtcdConfiguration(endpoints: text) }
    }

    @Test func `A user requires a password file, and vice versa`() {
        #expect(throws: EtcdConfigurationProblem.noPasswordFile(user: "u")) {
            try EtcdConfiguration(endpoints: "http://localhost", user: "u")
        }
        #expect(throws: EtcdConfigurationProblem.noUser(passwordFile: "f")) {
            try EtcdConfiguration(endpoints: "http://localhost", passwordFile: "f")
        }
    }

    @Test(arguments: ["http://localhost:1", "http://127.0.0.1:1", "http://127.1.2.3", "http://[::1]:1"])
    func `A password is accepted for this machine`(_ url: String) throws {
        _ = try EtcdConfiguration(endpoints: url, user: "u", passwordFile: "f")
    }

    @Test(arguments: [
        "http://etcd.example.com", "http://127.example.com", "http://127.0.0.1.example.com", "http://10.0.0.1",
    ])
    func `A password is rejected for another machine without encryption`(_ url: String) {
        let problem = EtcdConfigurationProblem.plainPassword(url)
        #expect(throws: problem) {
            try EtcdConfiguration(endpoints: "http://127.0.0.1:1,\(url)", user: "u", passwordFile: "f")
        }
        #expect(problem.description.contains("https://"))
    }

    @Test(arguments: [
        ("secret\n", "secret"), ("secret", "secret"), ("a b\r\n", "a b"), ("two\nlines\n\n", "two\nlines\n"),
    ])
    func `A newline at the end is not part of a password`(_ content: String, _ password: String) throws {
        let directory = try TemporaryDirectory()
        #expect(try EtcdPassword.read(Self.file(directory, content)) == password)
    }

    @Test func `A missing, empty or public password file is an error`() throws {
        let directory = try TemporaryDirectory()
        for (path, text) in [
            (directory.file("none"), "is not there"), (try Self.file(directory, "\n", name: "empty"), "is empty"),
            (try Self.file(directory, "secret", mode: 0o644), "chmod 600"),
        ] { #expect { try EtcdPassword.read(path) } throws: { "\($0)".contains(text) } }
    }

    static func file(
        _ directory: TemporaryDirectory, _ content: String, name: String = "password", mode: Int = 0o600
    ) throws -> String {
        let path = directory.file(name)
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }
}

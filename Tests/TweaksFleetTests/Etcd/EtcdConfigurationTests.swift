// Checks which lists of endpoints are taken, and what is said of others.

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
    func `A list of URLs is read`(_ text: String, _ endpoints: [String]) throws {
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
    func `What is wrong with a list is said`(_ text: String, _ problem: EtcdConfigurationProblem) {
        #expect(throws: problem) { try EtcdConfiguration(endpoints: text) }
    }

    @Test func `A user and a password file come together`() {
        #expect(throws: EtcdConfigurationProblem.noPasswordFile(user: "u")) {
            try EtcdConfiguration(endpoints: "http://localhost", user: "u")
        }
        #expect(throws: EtcdConfigurationProblem.noUser(passwordFile: "f")) {
            try EtcdConfiguration(endpoints: "http://localhost", passwordFile: "f")
        }
    }

    @Test(arguments: ["http://localhost:1", "http://127.0.0.1:1", "http://127.1.2.3", "http://[::1]:1"])
    func `A password may go there`(_ url: String) throws {
        _ = try EtcdConfiguration(endpoints: url, user: "u", passwordFile: "f")
    }

    @Test(arguments: [
        "http://etcd.example.com", "http://127.example.com", "http://127.0.0.1.example.com", "http://10.0.0.1",
    ])
    func `A password goes nowhere in the clear`(_ url: String) {
        let problem = EtcdConfigurationProblem.plainPassword(url)
        #expect(throws: problem) {
            try EtcdConfiguration(endpoints: "http://127.0.0.1:1,\(url)", user: "u", passwordFile: "f")
        }
        #expect(problem.description.contains("https://"))
    }

    // MARK: The password

    @Test(arguments: [
        ("secret\n", "secret"), ("secret", "secret"), ("a b\r\n", "a b"), ("two\nlines\n\n", "two\nlines\n"),
    ])
    func `A newline at the end is not part of a password`(_ content: String, _ password: String) throws {
        let directory = try TemporaryDirectory()
        let path = try Self.file(directory, content)
        #expect(try EtcdPassword.read(path) == password)
    }

    @Test func `A password file has to be there, to say something, and to be nobody else's`() throws {
        let directory = try TemporaryDirectory()
        let path = try Self.file(directory, "\n")
        let texts = [
            Self.problem(directory.file("none")), Self.problem(path),
            Self.problem(try Self.file(directory, "secret", mode: 0o644)),
        ]
        #expect(texts[0].contains("is not there") && texts[1].contains("is empty") && texts[2].contains("chmod 600"))
    }

    static func file(_ directory: TemporaryDirectory, _ content: String, mode: Int = 0o600) throws -> String {
        let path = directory.file("password")
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private static func problem(_ path: String) -> String {
        do {
            return try EtcdPassword.read(path)
        } catch {
            return "\(error)"
        }
    }
}

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
        ("", "no URL of etcd"), (" , ", "no URL of etcd"), ("127.0.0.1:2379", "127.0.0.1:2379 is not a URL"),
        ("ftp://a", "ftp://a is not a URL"), ("localhost", "localhost is not a URL"),
        ("http://", "http:// lacks a host"),
        ("http:///v3", "http:///v3 lacks a host"), ("http://a/v3", "http://a/v3 has more than a host"),
        ("http://a?x", "http://a?x has more than a host"), ("http://a#x", "http://a#x has more than a host"),
        ("http://me:secret@a", "a URL of etcd has a user in it"), ("http://a:0", "http://a:0 lacks a host"),
        ("http://a:65536", "http://a:65536 lacks a host"), ("http://ok,nonsense", "nonsense is not a URL"),
        ("http://a b", "http://a b lacks a host"), ("http://a\r\nX: y", "http://a"),
        ("http://ä", "http://ä lacks a host"), ("://a", "://a is not a URL"),
        ("http://a:1:2", "http://a:1:2 lacks a host"), ("http://[::1", "http://[::1 lacks a host"),
        ("https://a:1", "https://a:1 asks for TLS"),
    ])
    func `An invalid list is an error`(_ text: String, _ reason: String) {
        #expect {
            try EtcdConfiguration(endpoints: text)
        } throws: {
            "\($0)".hasPrefix(reason) && !"\($0)".contains("secret")
        }
    }

    private struct NoConnector: EtcdConnector {
        func connect(host: String, port: Int) -> Int32 { -1 }
    }

    @Test(arguments: [
        ("https://etcd.example.org", ["https://etcd.example.org"]), ("HTTPS://A:1/", ["https://A:1"]),
        ("https://[::1]:2379", ["https://[::1]:2379"]), ("http://a:1,https://a:1", ["http://a:1", "https://a:1"]),
    ])
    func `With a connector URLs may be https://`(_ text: String, _ endpoints: [String]) throws {
        #expect(try EtcdConfiguration(endpoints: text, connector: NoConnector()).endpoints == endpoints)
    }

    @Test(arguments: [
        ("https://", "https:// lacks a host or has no such port; write https://HOST"),
        ("https://a:0", "https://a:0 lacks a host"), ("https://a/v3", "https://a/v3 has more than a host"),
        ("https://me:secret@a", "a URL of etcd has a user in it"), ("httpss://a", "httpss://a is not a URL"),
    ])
    func `An invalid https:// URL is an error, also with a connector`(_ text: String, _ reason: String) {
        #expect {
            try EtcdConfiguration(endpoints: text, connector: NoConnector())
        } throws: {
            "\($0)".hasPrefix(reason) && !"\($0)".contains("secret")
        }
    }

    @Test func `A password goes to another machine only over https://`() throws {
        func configuration(_ endpoints: String) throws -> EtcdConfiguration {
            try EtcdConfiguration(endpoints: endpoints, user: "u", passwordFile: "f", connector: NoConnector())
        }
        #expect(try configuration("https://etcd.example.org,http://127.0.0.1:1").endpoints.count == 2)
        #expect {
            try configuration("https://etcd.example.org,http://10.0.0.1:2379")
        } throws: {
            "\($0)" == "http://10.0.0.1:2379 would get the password in the clear; write https://10.0.0.1:2379"
        }
    }

    @Test func `A user requires a password file, and vice versa`() {
        #expect {
            try EtcdConfiguration(endpoints: "http://localhost", user: "u")
        } throws: {
            "\($0)".contains("user u has no password file")
        }
        #expect {
            try EtcdConfiguration(endpoints: "http://localhost", passwordFile: "f")
        } throws: {
            "\($0)".contains("password file f has no user")
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
        #expect {
            try EtcdConfiguration(endpoints: "http://127.0.0.1:1,\(url)", user: "u", passwordFile: "f")
        } throws: {
            "\($0)".hasPrefix("\(url) would get the password in the clear") && "\($0)".contains("https://")
        }
    }

    @Test(arguments: [
        ("secret\n", "secret"), ("secret", "secret"), ("a b\r\n", "a b"), ("two\nlines\n\n", "two\nlines\n"),
    ])
    func `A newline at the end is not part of a password`(_ content: String, _ password: String) throws {
        let directory = try TemporaryDirectory()
        #expect(try EtcdConfiguration.password(in: Self.file(directory, content)) == password)
    }

    @Test func `A missing, empty or public password file is an error`() throws {
        let directory = try TemporaryDirectory()
        for (path, text) in [
            (directory.file("none"), "is not there"), (try Self.file(directory, "\n", name: "empty"), "is empty"),
            (try Self.file(directory, "secret", mode: 0o644), "chmod 600"),
        ] { #expect { try EtcdConfiguration.password(in: path) } throws: { "\($0)".contains(text) } }
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

// Tests the settings of a fleet from the program and the environment, and the errors for invalid ones.

import Foundation
import Testing
import TweaksInterface

@testable import TweaksFleet

@Suite struct FleetSettingsTests {
    private func settings(
        _ environment: [String: String], _ change: (inout FleetSettings.ProgramSettings) -> Void = { _ in }
    ) throws(ServerError) -> FleetSettings? {
        var given = FleetSettings.ProgramSettings()
        change(&given)
        return try FleetSettings(given, daemon: "api", environment: environment)
    }

    /// Returns the error of invalid settings.
    private func problem(
        _ environment: [String: String], _ change: (inout FleetSettings.ProgramSettings) -> Void = { _ in }
    ) -> String? {
        do throws(ServerError) {
            _ = try settings(environment, change)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: [[:], ["TWEAKS_FLEET": ""], ["TWEAKS_FLEET": "off"], ["TWEAKS_FLEET": "OFF"]])
    func `Without TWEAKS_FLEET there is no fleet`(environment: [String: String]) throws {
        #expect(try settings(environment) == nil)
    }

    @Test func `The environment takes precedence over the program`() throws {
        let environment = [
            "TWEAKS_FLEET": "http://a:1,http://b:2", "TWEAKS_FLEET_LABELS": "zone=eu,version=1.4",
            "TWEAKS_FLEET_PREFIX": "/staging", "TWEAKS_FLEET_INSTANCE": "pod-7",
        ]
        let settings = try #require(
            try settings(environment) {
                ($0.endpoints, $0.prefix, $0.fleet) = ("http://c:3", "/other", "web")
                $0.labels = ["zone": "us", "rack": "9"]
            })
        #expect(settings.configuration.endpoints == ["http://a:1", "http://b:2"])
        #expect(settings.labels == ["zone": "eu", "version": "1.4", "rack": "9"])
        #expect(settings.keys == FleetKeys(prefix: "/staging", name: "web") && settings.instance == "pod-7")
        #expect(try self.settings(["TWEAKS_FLEET": "off"]) { $0.endpoints = "http://c:3" } == nil)
    }

    @Test func `By default the fleet is named after the daemon, and the prefix is /tweaks`() throws {
        #expect(try settings(["TWEAKS_FLEET": "http://a:1"])?.keys == FleetKeys(name: "api"))
    }

    @Test(arguments: [
        (["TWEAKS_FLEET": "localhost:2379"], "is not a URL of etcd; write it with http://"),
        (["TWEAKS_FLEET": "http://u:p@h:1"], "has a user in it"),
        (["TWEAKS_FLEET": "http://h:1/v3"], "has more than a host and a port"),
        (["TWEAKS_FLEET": ","], "no URL of etcd; name one"),
        (["TWEAKS_FLEET": "http://h:1", "TWEAKS_FLEET_LABELS": "zone"], "is not a label; write NAME=VALUE"),
        (["TWEAKS_FLEET": "http://h:1", "TWEAKS_FLEET_LABELS": "a=1,a=2"], "the label a is there twice"),
        (["TWEAKS_FLEET": "http://h:1", "TWEAKS_FLEET_LABELS": "a=é"], "is not a label's name or value"),
        (["TWEAKS_FLEET": "http://h:1", "TWEAKS_FLEET_PREFIX": "tweaks"], "a prefix begins with /"),
        (["TWEAKS_FLEET": "http://h:1", "TWEAKS_FLEET_PREFIX": "/a/"], "a prefix begins with /"),
        (["TWEAKS_FLEET": "http://h:1", "TWEAKS_FLEET_INSTANCE": "a b"], "use letters, digits"),
    ])
    func `The error of an invalid variable contains its name`(environment: [String: String], text: String) throws {
        let problem = try #require(self.problem(environment))
        #expect(problem.contains(text) && problem.contains("TWEAKS_FLEET"))
    }

    @Test func `The user and the password file of the environment take precedence`() throws {
        let environment = [
            "TWEAKS_FLEET": "http://127.0.0.1:1", "TWEAKS_FLEET_USER": "u", "TWEAKS_FLEET_PASSWORD_FILE": "/f",
        ]
        let configuration = try #require(
            try settings(environment) { ($0.user, $0.passwordFile) = ("other", "/other") }
        ).configuration
        #expect(configuration.user == "u" && configuration.passwordFile == "/f")
        let alone = problem(["TWEAKS_FLEET": "http://127.0.0.1:1", "TWEAKS_FLEET_USER": "u"])
        #expect(alone?.contains("user u has no password file") == true)
    }

    @Test func `A password is accepted only for this machine`() throws {
        func problem(_ url: String, user: String? = "u", file: String? = "/f") -> String? {
            self.problem([:]) { ($0.endpoints, $0.user, $0.passwordFile) = (url, user, file) }
        }
        #expect(problem("http://127.0.0.1:2379") == nil)
        #expect(problem("http://etcd.example.org:2379")?.contains("stunnel") == true)
        #expect(problem("https://etcd.example.org:2379", user: nil, file: nil)?.contains("stunnel") == true)
        #expect(problem("http://127.0.0.1:2379", file: nil)?.contains("password file") == true)
    }

    @Test func `An https:// URL of the environment needs a connector of the program`() throws {
        struct NoConnector: EtcdConnector {
            func connect(host: String, port: Int) -> Int32 { -1 }
        }
        let environment = ["TWEAKS_FLEET": "https://etcd.example.org:2379"]
        let text = "TWEAKS_FLEET: https://etcd.example.org:2379 asks for TLS, which is not spoken here; let stunnel"
        #expect(problem(environment)?.hasPrefix(text) == true)
        let settings = try #require(try settings(environment) { $0.connector = NoConnector() })
        #expect(settings.configuration.endpoints == ["https://etcd.example.org:2379"])
        #expect(settings.configuration.connector is NoConnector)
    }
}

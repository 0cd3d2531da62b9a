// Tests that the tables of guides have all that they list, and quote what the daemon says.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct GuideTableTests {
    private static let daemon = "Sources/TweaksDaemon/TweaksDaemon.docc"
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    private func guide(_ name: String) throws -> Document { try Document("\(Self.daemon)/\(name).md") }

    /// The name that a text begins with.
    private static func name(_ text: some StringProtocol) -> String {
        "TWEAKS_" + text.prefix { $0.isUppercase || $0 == "_" }
    }

    /// The text between the first two backticks.
    private static func code(_ cell: String) -> String { cell.components(separatedBy: "`").dropFirst().first ?? cell }

    // MARK: Environment

    @Test func everyVariableOfTheSourcesIsInTheGuide() throws {
        let sources = try Document.files("Sources", ".swift").flatMap { path in
            try Document(path).text.components(separatedBy: "TWEAKS_").dropFirst().map { Self.name($0) }
        }
        let listed = try guide("Environment").text.components(separatedBy: "`TWEAKS_").dropFirst().map { Self.name($0) }
        // The prefix alone is in both; the other two are for the manifest and the tests.
        #expect(Set(sources).count > 14)
        #expect(Set(listed).subtracting(["TWEAKS_TESTS", "TWEAKS_TEST_QUANTITY"]) == Set(sources))
    }

    @Test func aMistypedVariableIsLoggedAsTheGuideShows() throws {
        fixture.stop(try fixture.start(named: "bounce", ["TWEAKS_CONIFG": "/etc/bounce.conf"]))
        let line = try #require(fixture.logLines.first { $0.contains("TWEAKS_CONIFG") })
        #expect(try guide("Environment").text.contains("TWEAKS_CONIFG=/etc/bounce.conf\n\(line)\n"), "\(line)")
    }

    // MARK: The log

    @Test func everyEventOfTheLogIsInTheGuide() throws {
        let entries = try Document("Sources/TweaksInterface/LogEntry.swift").text
        let sources =
            try entries + Document("Sources/TweaksInterface/TweakDaemonEvent.swift").text
            + Document("Sources/TweaksInterface/TweakLogLimiter.swift").text
            + Document("Sources/TweaksInterface/TweakLogFormat.swift").text
        var words = sources.matches(of: /LogEntry(?:\.more)?\(\s*"(\w+)"/).map { String($0.output.1) }
        words += entries.matches(of: /\("(\w+)", (?:\[|Self\.facts)/).map { String($0.output.1) }
        let rows = try guide("RunningInProduction").rows(below: "### Formats and levels").map { $0[0] }
        #expect(Set(words).count > 25)
        for word in Set(words) { #expect(rows.contains { $0.contains("`\(word)`") }, "\(word)") }
    }

    // MARK: Troubleshooting

    @Test func everyErrorCodeIsExplained() throws {
        let rows = try guide("Troubleshooting").rows(below: "## Error codes")
        #expect(rows.map { Self.code($0[0]) }.sorted() == TweakError.Code.allCases.map(\.rawValue).sorted())
        #expect(rows.allSatisfy { $0.count == 3 && $0.allSatisfy { !$0.isEmpty } })
    }

    @Test func theErrorsOfAStartAreExplained() throws {
        let patterns = try guide("Troubleshooting").rows(below: "## The program does not start").map {
            Self.code($0[0])
        }
        let errors = try startErrors()
        for error in errors {
            #expect(patterns.count { Transcript.fits(error, $0) } == 1, "\(error)")
        }
        for pattern in patterns {
            #expect(errors.contains { Transcript.fits($0, pattern) }, "\(pattern)")
        }
    }

    @Test(arguments: [
        "there is no place for a Unix socket", "is not the user of this process", "is wrong, expired or revoked",
        "others can write in the state directory", "the state directory is used by ", "HOME is not set",
        "was written by a newer version", "last good: ", "is not in effect",
    ])
    func messagesAreQuotedAsTheyAre(_ message: String) throws {
        #expect(try guide("Troubleshooting").text.contains(message))
        let sources = Document.files("Sources", ".swift")
        #expect(try sources.contains { try Document($0).text.contains(message) })
    }

    /// One of each kind.
    private func startErrors() throws -> [String] {
        let taken = try BoundSocket(loopback: .version4)
        let (held, file) = (fixture.directory.file("held/bounce.sock"), fixture.directory.file("file/bounce.sock"))
        try fixture.start(named: "first", ["TWEAKS_SOCKET": held])
        for folder in ["file", "open"] { try fixture.directory.makeFolder(folder) }
        try fixture.save("", at: file)
        try #require(chmod(fixture.directory.file("open"), 0o777) == 0)
        let beyond = TweakDaemon.Panel(TweakPanel(port: 7780, address: "0.0.0.0"))
        let errors = [
            fixture.startError(["TWEAKS_PORT": "7000"]),
            fixture.startError(tcp: .open(port: 0), ["TWEAKS_PORT": "192.0.2.1:7000"]),
            fixture.startError(["TWEAKS_PANEL_PORT": "x"]),
            fixture.startError(["TWEAKS_METRICS_PORT": "x"]),
            fixture.startError(["TWEAKS_FROZEN": "maybe"]),
            fixture.startError(["TWEAKS_AUDIT_DAYS": "many"]),
            fixture.startError(["TWEAKS_LOG": "jsn"]),
            fixture.startError(tcp: .tokens(port: 7777)),
            fixture.startError(
                tcp: .tokens(port: taken.port), ["TWEAKS_TOKEN_FILE": fixture.directory.file("tokens")]),
            fixture.startError(panel: beyond),
            fixture.startError(["TWEAKS_STATE_DIR": "state"]),
            fixture.startError(["TWEAKS_SOCKET": "bounce.sock"]),
            fixture.startError(["TWEAKS_SOCKET": held]),
            fixture.startError(["TWEAKS_SOCKET": file]),
            fixture.startError(["TWEAKS_SOCKET": fixture.directory.file("open/bounce.sock")]),
            fixture.startError(named: "a name"),
            requiredFileError(),
        ]
        return errors.map { $0 ?? "it has started" }
    }

    private func requiredFileError() -> String? {
        do throws(ServerError) {
            try fixture.start(config: .init(fixture.config, atStart: .required))
            return nil
        } catch {
            return error.description
        }
    }

    // MARK: On a phone

    /// An app that comes back from the background starts its daemon again, with the tweaks that it has.
    @Test func aDaemonIsStartedAnewInTheSameProcess() throws {
        let first = try fixture.start(tcp: .open(port: 0), panel: .on)
        #expect(try fixture.connectTCP(first).ask("Content/Text/Size = 72").last == "ok rev 1")
        fixture.stop(first)
        let second = try fixture.start(tcp: .open(port: 0), panel: .on)
        let client = try fixture.connectTCP(second)
        #expect(try client.ask("modified").first?.hasPrefix("Content/Text/Size = 72 ") == true)
        let saved = try #require(try client.ask("Content/Text/Size = 80").last)
        #expect(saved.hasPrefix("ok rev ") && !saved.contains("unsaved"))
        #expect(try client.ask("undo").first?.hasPrefix("Content/Text/Size = 72 ") == true)
        fixture.stop(second)
        #expect(try fixture.storedPaths() == ["Content/Text/Size"])
        // A child process of another test may hold the panel's last port for a moment.
        let problems = fixture.events.all.filter { $0.isProblem && !$0.description.contains(" is taken") }
        #expect(problems.isEmpty)
    }

    /// Copies the tokens of the app into its container.
    func copyTokens(_ resource: URL, to file: URL) throws -> String {
        let folder = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let tokens = try Data(contentsOf: resource)
        let isMade = FileManager.default.createFile(
            atPath: file.path, contents: tokens, attributes: [.posixPermissions: 0o600])
        if !isMade { throw CocoaError(.fileWriteUnknown) }
        return file.path
    }

    @Test func tokensOfAnAppsResourcesAreAcceptedOnceTheyAreCopied() throws {
        let resource = URL(fileURLWithPath: fixture.directory.file("bounce.tokens"))
        try Data("phone \(ScramVerifier(token: "twk_phone").text) write\n".utf8).write(to: resource)
        try #require(chmod(resource.path, 0o644) == 0)
        let copy = URL(fileURLWithPath: fixture.directory.file("Library/bounce.tokens"))
        // A second start of the app replaces the copy of the first one.
        for _ in 1...2 {
            let tokens = try copyTokens(resource, to: copy)
            let daemon = try fixture.start(tcp: .tokens(port: 0), tokens: tokens)
            let answer = try fixture.connectTCP(daemon).ask("auth twk_phone")
            #expect(answer == ["ok token phone may write"], "\(fixture.logLines)")
            fixture.stop(daemon)
        }
    }

    @Test func theGuideShowsHowTheseTestsCopyTokens() throws {
        let blocks = DocumentedBlock.all("swift", of: "\(Self.daemon)/OnAPhone.md")
        let block = try #require(blocks.first { $0.text.contains("func copyTokens") })
        #expect(try Document("Tests/TweaksDaemonTests/GuideTableTests.swift").shows(block))
    }

    /// A panel that listens on all addresses is served at the one that a client has used.
    @Test func thePanelIsServedAtTheAddressOfTheDevice() throws {
        let tokens = fixture.directory.file("bounce.tokens")
        try Data("phone \(ScramVerifier(token: "twk_phone").text) write\n".utf8).write(to: URL(fileURLWithPath: tokens))
        try #require(chmod(tokens, 0o600) == 0)
        for (address, isServed) in [("0.0.0.0", true), ("127.0.0.1", false)] {
            let panel = TweakDaemon.Panel(TweakPanel(address: address))
            let daemon = try fixture.start(panel: panel, tokens: tokens)
            let status = try? PanelAddress(daemon).get("/api/whoami", host: "127.0.0.2").read(through: "\r\n")
            #expect(status == (isServed ? "HTTP/1.1 200 OK\r\n" : nil))
            fixture.stop(daemon)
        }
    }

    // MARK: Costs

    /// The guide rounds to hundreds of instructions, and to tenths of a megabyte.
    @Test func theCostsAreThoseThatAreChecked() throws {
        let rows = try Document("Sources/Tweaks/Tweaks.docc/Costs.md").rows(below: "## Overview")
        func shown(_ operation: String) throws -> String { try #require(rows.first { $0[0] == operation })[1] }
        let budgets = try Document(".ci/instructions").text.splitLines()
        for (operation, budget) in [
            ("set in the process, with one observer", "commit, one observer"),
            ("`get` over a Unix socket, one client", "unix get 1 × 1"),
            ("`set` over a Unix socket, one client", "unix set 1 × 1"),
        ] {
            let line = try #require(budgets.first { $0.hasPrefix("\(budget): ") })
            let limit = try #require(Double(line.dropFirst(budget.count + 2)))
            let figure = try #require(Double(shown(operation).filter(\.isNumber)))
            #expect(abs(figure / limit - 1) < 0.03, "\(operation): \(figure) of \(limit)")
        }
        let weights = try Document(".ci/weight").text.splitLines()
        for (what, name) in [
            ("`Examples/hello` with everything, stripped, release", "hello"),
            ("the same, with Swift's libraries linked statically", "hello, static"),
        ] {
            let line = try #require(weights.first { $0.hasPrefix("weigh \"\(name)\" ") })
            let limit = try #require(Double(line.split(separator: " ").last ?? ""))
            #expect(try shown(what) == "\((limit / 100_000).rounded() / 10) MB on disk")
        }
    }
}

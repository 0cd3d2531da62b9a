// Tests `audit verify`: it accepts what a program wrote, and finds every change to it.

import Foundation
import Testing
import TweaksStorage
import TweaksSystem
import TweaksTestSupport
import TweaksWire

@testable import tweakctl
@testable import Tweaks

@Suite(.blocking) struct AuditVerifyTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private var path: String { home.file("audit.log") }

    /// Writes 24 lines in some files, and returns the link of each, oldest first.
    private func write() throws -> [String] {
        let registry = TweakRegistry()
        let tweak = try registry.register("A", "B", "X", 0)
        let trail = AuditTrail(AuditSettings(path: path, maximumSize: 1_000, keep: 50), registry: registry) { _ in }
        for value in 1...24 { tweak.value = value }
        trail.close()
        let links = try files.flatMap { try lines($0) }.compactMap { AuditChain.Line(Array($0.utf8)[...])?.link }
        return links.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The names, oldest first.
    private var files: [String] {
        get throws { try AuditCommand.withOlder(path).map { String($0.split(separator: "/").last ?? "") } }
    }

    private func lines(_ name: String) throws -> [String] {
        try String(contentsOfFile: home.file(name), encoding: .utf8).split(separator: "\n").map { String($0) }
    }

    private func rewrite(_ name: String, _ lines: [String]) throws {
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: home.file(name)))
    }

    private func verify(head: String? = nil, _ paths: [String]? = nil) throws -> (code: Int32, output: String) {
        let fixture = try TweakctlFixture()
        let result = try fixture.run(arguments(head, paths))
        return (result.code, result.output + result.errors)
    }

    private func arguments(_ head: String?, _ paths: [String]?) -> [String] {
        ["audit", "verify"] + (paths ?? [path]) + (head.map { ["--head", $0] } ?? [])
    }

    @Test func whatAProgramWroteIsUnbroken() throws {
        let links = try write()
        let names = try files
        #expect(links.count == 24 && names.count > 3 && names.last == "audit.log")
        let all = try verify()
        #expect(all.code == 0 && all.output == "ok: 24 lines in \(names.count) files, unbroken\nhead \(links[23])\n")
        let noted = try verify(head: links[9])
        #expect(noted.code == 0 && noted.output.contains("  the given link is that of audit.log."))
        #expect(noted.output.contains(", followed by 14 lines\n"))
        #expect(try verify(head: links[23]).output.contains(", the last line\n"))
        // In the order of their names, and not of a glob.
        #expect(try verify(names.map { home.file($0) }).code == 0)
        #expect(try verify(names.reversed().map { home.file($0) }).code == 1)
    }

    /// What is done to the files, and a part of the report.
    private static let tampering: [(name: String, report: String)] = [
        ("edited", "was changed"), ("forged", "was changed"), ("reordered", "reordered"),
        ("removed", "was changed, or the lines before it were removed"), ("added", "has no link: it was added"),
        ("beginning", "the beginning was removed"), ("file", "does not follow the line before it"),
        ("oldest", "is in none of the files"), ("unlinked", "has no link"),
    ]

    @Test(arguments: Self.tampering) func eachChangeIsFound(_ name: String, _ report: String) throws {
        _ = try write()
        let names = try files
        let middle = names[1]
        var text = try lines(middle)
        try #require(text.count > 2)
        switch name {
        case "edited": text[1] = text[1].replacing(/"new":\d+/, with: "\"new\":666")
        case "forged":
            // With a link of its own, as one who can write the file would.
            var (line, head): ([UInt8], [UInt8]) = ([], AuditChain.start)
            AuditChain.append(Array("{\"new\":666}".utf8)[...], after: &head, isFirst: false, to: &line)
            text[1] = String(decoding: line.dropLast(), as: UTF8.self)
        case "removed": text.remove(at: 1)
        case "reordered": text.swapAt(1, 2)
        case "added": text.insert("{\"time\":\"2026-11-21T09:30:00.123Z\",\"new\":666}", at: 1)
        case "unlinked": text[1] = text[1].replacing(/,"chain":.*/, with: "}")
        case "beginning": try rewrite(names[0], Array(try lines(names[0]).dropFirst()))
        case "file": try FileManager.default.removeItem(atPath: home.file(middle))
        default: try FileManager.default.removeItem(atPath: home.file(names[0]))
        }
        if name != "file" { try rewrite(middle, text) }
        let result = try verify()
        #expect(result.code == 1 && result.output.contains(report), "\(result)")
    }

    /// One who can write the file can compute its links anew; the end of a chain has no successor that shows its removal.
    @Test(arguments: ["cut", "rewritten"]) func onlyANotedLinkShowsWhatTheChainCannot(_ name: String) throws {
        let links = try write()
        var text = try lines("audit.log")
        text.removeLast()
        if name == "rewritten" {
            var (head, line): ([UInt8], [UInt8]) = (Array(links[22].utf8), [])
            AuditChain.append(Array("{\"new\":666}".utf8)[...], after: &head, isFirst: false, to: &line)
            text.append(String(decoding: line.dropLast(), as: UTF8.self))
        }
        try rewrite("audit.log", text)
        #expect(try verify().code == 0)
        let result = try verify(head: links[23])
        #expect(result.code == 1 && result.output.contains("no line has the link \(links[23]): lines were removed"))
    }

    @Test func tornEarlierDroppedAndRestoredLinesAreRemarks() throws {
        _ = try write()
        let first = try files[0]
        let text = try lines(first)
        try rewrite(first, ["{\"time\":\"2026-11-20T00:00:00.000Z\"}"] + text + ["{\"time\":\"2026-11"])
        let result = try verify()
        #expect(result.code == 0 && result.output.contains("; 1 line before it cannot be verified"), "\(result)")
        #expect(result.output.contains("1 torn line, from a crash or a full disk: \(first):\(text.count + 2)"))
        var verifier = AuditVerifier(head: nil)
        var (head, bytes) = (Array(String(repeating: "a", count: 64).utf8), [UInt8]())
        let removed = String(decoding: head, as: UTF8.self)
        for (index, line) in [
            #"{"kind":"dropped","file":"x","last":"\#(removed)"}"#, #"{"from":"history","new":1}"#,
        ].enumerated() {
            bytes = []
            AuditChain.append(Array(line.utf8)[...], after: &head, isFirst: index == 0, to: &bytes)
            verifier.read(bytes.dropLast(), at: "audit.log:\(index + 1)")
        }
        verifier.finish()
        #expect(verifier.problems == [])
        #expect(
            verifier.remarks == [
                "older files were removed by the audit itself, as audit.log:1 says",
                "1 line restored from the history after a crash",
            ])
    }

    @Test func anAuditWithoutLinksAndOtherFilesAreRefused() throws {
        try rewrite("audit.log", ["{\"time\":\"2026-11-20T00:00:00.000Z\"}"])
        #expect(try verify().output.contains("no line has a link"))
        try Data((0..<100_000).map { _ in UInt8.random(in: .min ... .max) }).write(to: URL(fileURLWithPath: path))
        #expect(try verify().code == 1)
        #expect(try verify([home.path]).code == 1)
    }

    @Test(arguments: ["missing", "missing/audit.log"]) func aMissingFileIsNamedWithTheRemedy(_ name: String) throws {
        let result = try verify([home.file(name)])
        let remedy = "name the file that TWEAKS_AUDIT names, which tweakctl NAME stats shows as auditFile"
        #expect(result.code == 1 && result.output.contains("audit: \(home.file(name)) does not exist; \(remedy)"))
        #expect(!result.output.contains("TWEAKS_STATE_DIR"), "\(result)")
    }

    /// One who can write the file must not keep an operator from verifying it. If each chunk were searched from the line's
    /// beginning, the full quantity would take longer than a test run may.
    @Test(.tags(.quantity)) func aLongLineTakesNoTimeForEachOfItsChunks() throws {
        let count = quantity(60_000_000, few: 6_000_000)
        try Data(repeating: UInt8(ascii: "x"), count: count).write(to: URL(fileURLWithPath: path))
        #expect(try verify().output.contains("no line has a link"))
    }

    /// A line that the noted link does not cover proves nothing; one who can write the file can append it.
    @Test(arguments: [true, false]) func aLineAfterTheNotedLinkExcusesNoRemovedFile(_ isNoted: Bool) throws {
        var (head, bytes) = (Array(String(repeating: "a", count: 64).utf8), [UInt8]())
        let removed = String(decoding: head, as: UTF8.self)
        var lines: [[UInt8]] = []
        for (index, line) in [#"{"new":1}"#, #"{"kind":"dropped","file":"x","last":"\#(removed)"}"#].enumerated() {
            bytes = []
            AuditChain.append(Array(line.utf8)[...], after: &head, isFirst: index == 0, to: &bytes)
            lines.append(bytes.dropLast())
        }
        var verifier = AuditVerifier(head: AuditChain.Line(lines[isNoted ? 0 : 1][...])?.link)
        for (index, line) in lines.enumerated() { verifier.read(line[...], at: "audit.log:\(index + 1)") }
        verifier.finish()
        #expect(verifier.problems == [])
        #expect(
            verifier.remarks.first == "older files were removed by the audit itself, as audit.log:2 says"
                + (isNoted ? ", after the given link, which does not vouch for it" : ""))
    }

    @Test(
        arguments: [
            [], ["check"], ["verify"], ["verify", "x", "--head"], ["verify", "x", "--head", "abc"], ["verify", "-x"],
        ])
    func otherArgumentsAreUsageErrors(_ words: [String]) {
        #expect { try AuditCommand(words) } throws: { ($0 as? Failure)?.code == .usage }
    }
}

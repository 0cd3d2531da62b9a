// Runs the program of the guide “Your own source”, and replays its transcript.

import Foundation
import Testing
import TweaksTestSupport

@Suite(.blocking, .tags(.process)) struct OwnSourceProgramTests {
    private static let guide = "Sources/TweaksDaemon/TweaksDaemon.docc/YourOwnSource.md"

    @Test func `The program of the guide is the example`() throws {
        let example = try Document("Examples/features/main.swift").text.trimmingCharacters(in: .newlines)
        let blocks = DocumentedBlock.all("swift", of: Self.guide).map(\.text)
        #expect(blocks.contains { $0.hasPrefix("import Foundation") && example.hasSuffix($0) })
    }

    @Test(.enabled(if: Features.exists), arguments: DocumentedBlock.all("daemon-transcript", of: guide))
    func `It has values of a file, the environment and arguments, which explain tells apart`(
        _ block: DocumentedBlock
    ) throws {
        let program = try Features()
        try ShellTranscript(block.text).replay(with: program, in: program.root)
        try program.stop()
    }

    @Test(.enabled(if: Features.exists)) func `A hangup does not end it, and asks its source`() throws {
        let program = try Features()
        try program.start()
        try Data(#"{"Shop/Cart/Discount": "0.25"}"#.utf8).write(
            to: URL(fileURLWithPath: program.root.file("etc/features.json")))
        try program.reload()
        let line = program.log.firstIndex(from: 0) { $0.contains("Shop/Cart/Discount = 0.25") }
        #expect(line != nil, "\(program.log.all)")
        try program.stop()
    }

    @Test func `The guide has a transcript`() {
        #expect(DocumentedBlock.all("daemon-transcript", of: Self.guide).count == 1)
    }
}

/// The program `features`, with the files, variables and arguments that the guide names.
private final class Features: DocumentedProgram {
    static var exists: Bool { BuiltProgram.exists("features") }

    let name = "features"
    let root: TemporaryDirectory
    private var child: Child?

    init() throws {
        root = try TemporaryDirectory()
        for path in ["etc", "run"] { try root.makeFolder(path) }
    }

    var log: LogLines { child?.log ?? LogLines() }

    func start() throws {
        let environment = [
            "TWEAKS_SOCKET": root.file("run/features.sock"), "FEATURES_FILE": root.file("etc/features.json"),
            "TWEAK_SHOP_CART_LIMIT": "30",
        ]
        let child = try Child(
            in: root.path, ["--tweak", "Shop/Cart/Note=hello"], environment, program: name)
        self.child = child
        try child.waitForLine(containing: "tweaks at unix socket")
    }

    func stop() throws {
        child?.signal(SIGTERM)
        #expect(try child?.waitForEnd() == 0)
        child = nil
    }

    func kill() throws { try child?.kill() }

    func reload() throws { child?.signal(SIGHUP) }
}

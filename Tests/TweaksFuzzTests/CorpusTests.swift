// Runs the kept fuzz inputs, and those that once found a bug, as ordinary tests.

import Foundation
import Testing
import tweaks_fuzz

// The session targets share a socket.
@Suite(.serialized) struct CorpusTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Fuzz/Corpus").standardizedFileURL

    private static func files(_ target: FuzzTarget) throws -> [URL] {
        let folder = corpus.appendingPathComponent(target.rawValue)
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
    }

    @Test(arguments: FuzzTarget.allCases) func everyInputOfTheCorpusPasses(_ target: FuzzTarget) throws {
        let files = try Self.files(target)
        #expect(files.count >= 10)
        for file in files {
            let bytes = try InputFile.bytes(file.path)
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try target.run(bytes) }
        }
    }

    @Test func theCorpusIsSmallerThan300KB() throws {
        let sizes = try FuzzTarget.allCases.flatMap { try Self.files($0) }.map { file in
            try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        }
        #expect(sizes.reduce(0, +) < 300_000)
    }
}

// The compressed form, taken apart by the system's own gzip.

import Foundation
import Testing
import TweaksTestSupport

@testable import TweaksPanel

/// What comes back is what went in.
@Suite(.blocking) struct GzipTests {
    static let texts: [[UInt8]] = [
        [], [0], Array("abc".utf8), Array("aaaaaaaaaaaaaaaaaaaaaaaa".utf8), Array((0...255)),
        Array(repeating: 255, count: 70_000), Array("abcdefgh".utf8.map { $0 } + (0..<40_000).map { _ in 7 }),
        Array(String(repeating: "Die Größe – 大小\n", count: 5_000).utf8), PanelFiles.page,
        (0..<100_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) },
    ]

    @Test(arguments: texts.indices) func comesBack(_ index: Int) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("packed.gz")
        try Data(Gzip.compress(Self.texts[index])).write(to: URL(fileURLWithPath: path))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/gzip")
        process.arguments = ["-d", path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file("packed"))) == Data(Self.texts[index]))
    }

    @Test func isSmaller() {
        #expect(Gzip.compress(PanelFiles.page).count < PanelFiles.page.count / 2)
    }

    /// RFC 1952's own check value, of “123456789”.
    @Test func checksum() { #expect(Gzip.checksum(Array("123456789".utf8)) == 0xCBF4_3926) }
}

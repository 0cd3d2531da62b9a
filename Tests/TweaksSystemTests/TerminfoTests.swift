// Tests that the number of colors is read from terminfo entries, and that damaged ones do no harm.

import Foundation
import Testing
import TweaksSystem
import TweaksTestSupport

@Suite struct TerminfoTests {
    /// A compiled entry.
    private static func entry(
        _ numbers: [Int32], wide: Bool = false, names: String = "x|test\0", flags: Int = 3
    ) -> [UInt8] {
        func short(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8 & 0xFF)] }
        var bytes = short(wide ? 0o1036 : 0o432) + short(names.utf8.count) + short(flags) + short(numbers.count)
        bytes += short(1) + short(4) + Array(names.utf8) + [UInt8](repeating: 1, count: flags)
        if !bytes.count.isMultiple(of: 2) { bytes.append(0) }
        for number in numbers { bytes += short(Int(number)) + (wide ? short(Int(number >> 16)) : []) }
        return bytes + short(0) + Array("abc\0".utf8)
    }

    private static func numbers(_ colors: Int32) -> [Int32] {
        [80, 8, 24] + [Int32](repeating: -1, count: 10) + [colors, 64]
    }

    @Test(arguments: [(8, 8), (256, 256), (-1, 0), (-2, 0), (32_767, 32_767)] as [(Int32, Int)], [false, true])
    func theNumberOfColorsIsRead(_ colors: (stored: Int32, read: Int), _ isWide: Bool) {
        for names in ["x|test\0", "ab\0"] {
            let bytes = Self.entry(Self.numbers(colors.stored), wide: isWide, names: names)
            #expect(Terminfo.colors(in: bytes) == colors.read)
        }
    }

    @Test func allColorsFitIntoTheNewerFormat() {
        #expect(Terminfo.colors(in: Self.entry(Self.numbers(1 << 24), wide: true)) == 1 << 24)
        #expect(Terminfo.colors(in: Self.entry([80, 8])) == 0)
    }

    /// Cut anywhere, and with any byte replaced.
    @Test(arguments: [false, true]) func aDamagedEntryIsRefusedOrHasSomeNumber(_ isWide: Bool) {
        let numbers = Self.numbers(256)
        let whole = Self.entry(numbers, wide: isWide)
        let needed = whole.count - 2 - 4
        for count in whole.indices {
            let colors = Terminfo.colors(in: Array(whole.prefix(count)))
            #expect(colors == (count < needed ? nil : 256), "\(count)")
        }
        for position in whole.indices {
            for byte: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var bytes = whole
                bytes[position] = byte
                if let colors = Terminfo.colors(in: bytes) { #expect(colors >= 0) }
            }
        }
    }

    @Test(arguments: 0..<20) func randomBytesDoNoHarm(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let head: [UInt8] = Bool.random(using: &random) ? [0x1A, 0x01] : [0x1E, 0x02]
            let rest = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: Bool.random(using: &random) ? 0...3 : 0...255, using: &random)
            }
            if let colors = Terminfo.colors(in: head + rest) { #expect(colors >= 0) }
        }
        #expect(Terminfo.colors(in: [0x1A, 0x01] + [UInt8](repeating: 0, count: 40_000)) == nil)
    }

    @Test func entriesAreInTheDirectoryOfTheirLetterOrItsNumber() {
        #expect(
            Terminfo.paths(of: "xterm", in: ["/a", "/b"]) == ["/a/x/xterm", "/a/78/xterm", "/b/x/xterm", "/b/78/xterm"])
        let directories = Terminfo.directories(own: "/own", home: "/home/ada", list: ":/one::two:/three")
        #expect(directories.prefix(4) == ["/own", "/home/ada/.terminfo", "/one", "/three"])
        #expect(directories.dropFirst(4).prefix(3) == ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo"])
        #expect(Terminfo.directories(own: "b64:AAAA", home: nil, list: nil) == Array(directories.dropFirst(4)))
    }

    @Test(arguments: ["", "../../etc/passwd", ".x", "a/b", "a b", "ä", "a\u{1B}", String(repeating: "x", count: 129)])
    func aNameThatLeavesTheDirectoryHasNoEntry(_ name: String) {
        #expect(Terminfo.paths(of: name, in: ["/a"]).isEmpty)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/lib/terminfo/x/xterm-256color")))
    func theEntriesOfTheSystemAreRead() throws {
        for (name, colors) in [("x/xterm-256color", 256), ("x/xterm", 8), ("v/vt100", 0), ("l/linux", 8)] {
            let data = try Data(contentsOf: URL(filePath: "/lib/terminfo/\(name)"))
            #expect(Terminfo.colors(in: Array(data)) == colors, "\(name)")
        }
    }
}

// Tests parsing of inotify bytes: complete, truncated, and invalid.

import Testing
import TweaksStorage
import TweaksTestSupport

@Suite struct DirectoryEventTests {
    private let events = [
        DirectoryEvent(watch: 1, flags: .modify, name: "app.conf"),
        DirectoryEvent(watch: 2, flags: [.movedTo], name: "..data"),
        DirectoryEvent(watch: -1, flags: .overflow),
        DirectoryEvent(watch: 3, flags: [.deleteSelf, .ignored]),
        DirectoryEvent(watch: .max, flags: .create, name: "Größe 😀"),
    ]

    @Test func completeEventsAreParsed() {
        #expect(DirectoryEvent.parse(events.flatMap(\.bytes)[...]) == events)
        #expect(DirectoryEvent.parse([]).isEmpty)
    }

    /// The kernel pads names with zeros.
    @Test func paddingIsRemovedFromNames() {
        var bytes = DirectoryEvent(watch: 1, flags: .modify, name: "a").bytes
        bytes += [UInt8](repeating: 0, count: 14)
        bytes.replaceSubrange(12..<16, with: withUnsafeBytes(of: UInt32(16)) { Array($0) })
        #expect(DirectoryEvent.parse(bytes[...]) == [DirectoryEvent(watch: 1, flags: .modify, name: "a")])
    }

    @Test(arguments: 0..<8) func unalignedBytesAreParsed(offset: Int) {
        let bytes = [UInt8](repeating: 0xFF, count: offset) + events.flatMap(\.bytes)
        #expect(DirectoryEvent.parse(bytes[offset...]) == events)
    }

    @Test func aTruncatedEventIsLeftOut() {
        let bytes = events.flatMap(\.bytes)
        var (ends, end) = ([Int](), 0)
        for event in events {
            end += event.bytes.count
            ends.append(end)
        }
        for count in bytes.indices {
            let expected = Array(events.prefix(ends.prefix { $0 <= count }.count))
            #expect(DirectoryEvent.parse(bytes[..<count]) == expected)
        }
    }

    @Test(arguments: [1, 255, 0x7FFF_FFFF, 0x8000_0000, .max] as [UInt32])
    func namesLongerThanTheBytesAreLeftOut(length: UInt32) {
        var bytes = DirectoryEvent(watch: 1, flags: .modify).bytes
        bytes.replaceSubrange(12..<16, with: withUnsafeBytes(of: length) { Array($0) })
        #expect(DirectoryEvent.parse(bytes[...]).isEmpty)
    }

    @Test func randomBytesAreParsedSafely() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...80, using: &generator)
            // Many zeros, so that lengths are often small.
            let bytes = (0..<count).map { _ in UInt8(max(0, Int.random(in: -400...255, using: &generator))) }
            #expect(DirectoryEvent.parse(bytes[...]).count <= count / 16)
        }
    }
}

extension DirectoryEvent {
    /// The event in the kernel's encoding.
    var bytes: [UInt8] {
        let name = self.name.isEmpty ? [] : Array(self.name.utf8) + [0]
        let head: [UInt32] = [UInt32(bitPattern: watch), flags.rawValue, 0, UInt32(name.count)]
        return head.withUnsafeBytes { Array($0) } + name
    }
}

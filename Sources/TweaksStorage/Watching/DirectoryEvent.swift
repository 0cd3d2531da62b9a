// What inotify says, as bytes and as values; pure, so that it can be tested with bytes that no kernel would send.

/// Something that happened in a watched directory (inotify(7)).
package struct DirectoryEvent: Equatable, Sendable {
    /// What happened; the numbers are the kernel's.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let modify = Flags(rawValue: 0x2)
        package static let attributes = Flags(rawValue: 0x4)
        package static let closeWrite = Flags(rawValue: 0x8)
        package static let movedFrom = Flags(rawValue: 0x40)
        package static let movedTo = Flags(rawValue: 0x80)
        package static let create = Flags(rawValue: 0x100)
        package static let delete = Flags(rawValue: 0x200)
        package static let deleteSelf = Flags(rawValue: 0x400)
        package static let moveSelf = Flags(rawValue: 0x800)
        /// Events were lost.
        package static let overflow = Flags(rawValue: 0x4000)
        /// The watch is no more: its directory was deleted, unmounted, or nobody wants to know.
        package static let ignored = Flags(rawValue: 0x8000)
        /// Asked for: nothing but a directory.
        package static let onlyDirectory = Flags(rawValue: 0x0100_0000)
        /// Asked for: not what a link points to.
        package static let noLink = Flags(rawValue: 0x0200_0000)
    }

    /// Which watch it belongs to; -1 for an overflow.
    package let watch: Int32
    package let flags: Flags
    /// The entry of the directory; empty for the directory itself.
    package let name: String

    /// One with these values.
    package init(watch: Int32, flags: Flags, name: String = "") {
        self.watch = watch
        self.flags = flags
        self.name = name
    }

    /// The fixed part: watch, mask, cookie and the length of the name, four bytes each in the machine's order.
    private static let headSize = 16

    /// All whole events in what was read. A rest that is too short for what it promises is left out.
    package static func parse(_ bytes: ArraySlice<UInt8>) -> [DirectoryEvent] {
        var rest = bytes
        var events: [DirectoryEvent] = []
        while rest.count >= headSize {
            let length = Int(number(rest, 12))
            guard rest.count - headSize >= length else { break }
            let name = rest.dropFirst(headSize).prefix(length).prefix { $0 != 0 }
            events.append(
                DirectoryEvent(
                    watch: Int32(bitPattern: number(rest, 0)), flags: Flags(rawValue: number(rest, 4)),
                    name: String(decoding: name, as: UTF8.self)))
            rest = rest.dropFirst(headSize + length)
        }
        return events
    }

    /// Four bytes at an offset that the caller has checked.
    private static func number(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }

    /// The event as the kernel would write it.
    package var bytes: [UInt8] {
        let name = self.name.isEmpty ? [] : Array(self.name.utf8) + [0]
        let head: [UInt32] = [UInt32(bitPattern: watch), flags.rawValue, 0, UInt32(name.count)]
        return head.withUnsafeBytes { Array($0) } + name
    }
}

// Encodes and decodes inotify events; pure, so that tests can use bytes that no kernel would send.

/// An event in a watched directory (inotify(7)).
package struct DirectoryEvent: Equatable, Sendable {
    /// The event type; the values are the kernel's.
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
        /// The watch was removed: its directory was deleted or unmounted, or the watch was canceled.
        package static let ignored = Flags(rawValue: 0x8000)
        /// Option: only watch a directory.
        package static let onlyDirectory = Flags(rawValue: 0x0100_0000)
        /// Option: do not follow a symbolic link.
        package static let noLink = Flags(rawValue: 0x0200_0000)
    }

    /// The watch it belongs to; -1 for an overflow.
    package let watch: Int32
    package let flags: Flags
    /// The directory entry; empty for the directory itself.
    package let name: String

    /// Creates an event with these values.
    package init(watch: Int32, flags: Flags, name: String = "") {
        self.watch = watch
        self.flags = flags
        self.name = name
    }

    /// The fixed part: watch, mask, cookie and name length, four bytes each in native byte order.
    private static let headSize = 16

    /// Parses all complete events; an incomplete one at the end is ignored.
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

    /// The event in the kernel's encoding.
    package var bytes: [UInt8] {
        let name = self.name.isEmpty ? [] : Array(self.name.utf8) + [0]
        let head: [UInt32] = [UInt32(bitPattern: watch), flags.rawValue, 0, UInt32(name.count)]
        return head.withUnsafeBytes { Array($0) } + name
    }
}

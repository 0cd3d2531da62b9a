// Reads the number of colors of a terminal from its compiled terminfo entry, without ncurses.

/// A compiled entry, as term(5) describes it. Every number of it is checked: the file may be anyone's.
package enum Terminfo {
    /// The size limit of ncurses.
    private static let maxSize = 32_768
    private static let headerSize = 12
    /// The index of `max_colors` among the numbers.
    private static let colorsIndex = 13

    // MARK: Parsing

    /// The number of colors of an entry, 0 where it has none; nil if the bytes are no entry.
    package static func colors(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= headerSize, bytes.count <= maxSize else { return nil }
        let numberSize: Int
        switch short(bytes, at: 0) {
        case 0o432: numberSize = 2
        case 0o1036: numberSize = 4
        default: return nil
        }
        guard let names = short(bytes, at: 2), let flags = short(bytes, at: 4), let numbers = short(bytes, at: 6)
        else { return nil }
        // Numbers begin at an even byte.
        let start = (headerSize + names + flags + 1) / 2 * 2
        guard start + numbers * numberSize <= bytes.count else { return nil }
        guard numbers > colorsIndex else { return 0 }
        let position = start + colorsIndex * numberSize
        var value: UInt32 = 0
        for offset in (0..<numberSize).reversed() { value = value << 8 | UInt32(bytes[position + offset]) }
        // Negative numbers, in two's complement, mean that the entry does not have it.
        let sign: UInt32 = numberSize == 2 ? 0x8000 : 0x8000_0000
        return value & sign == 0 ? Int(value) : 0
    }

    /// A count of the header; nil if it is negative.
    private static func short(_ bytes: [UInt8], at position: Int) -> Int? {
        let value = Int(bytes[position]) | Int(bytes[position + 1]) << 8
        return value < 0x8000 ? value : nil
    }

    // MARK: Finding

    /// The number of colors of a terminal, by the first entry of its name; nil if there is no entry.
    package static func colors(of terminal: String) -> Int? {
        let directories = directories(
            own: System.variable("TERMINFO"), home: System.variable("HOME"), list: System.variable("TERMINFO_DIRS"))
        for path in paths(of: terminal, in: directories) {
            if let bytes = read(path), let colors = colors(in: bytes) { return colors }
        }
        return nil
    }

    /// The directories that may hold entries, in the order of ncurses, and the usual ones of each system.
    /// - Parameter list: Directories with colons between; an empty one stands for those of the system.
    package static func directories(own: String?, home: String?, list: String?) -> [String] {
        let system = ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/local/share/terminfo"]
        let more = (list ?? "").split(separator: ":", maxSplits: 32).map { String($0) }
        return ([own, home.map { $0 + "/.terminfo" }].compactMap(\.self) + more).filter { $0.hasPrefix("/") } + system
    }

    /// The files of an entry: in the directory of its first letter, or in that of the letter's number, where the file
    /// system ignores case. A name that leaves the directory has none.
    package static func paths(of terminal: String, in directories: [String]) -> [String] {
        let name = Array(terminal.utf8)
        guard let first = name.first, name.count <= 128, first != UInt8(ascii: "."),
            name.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") })
        else { return [] }
        let folders = [String(UnicodeScalar(first)), String(first, radix: 16)]
        return directories.flatMap { directory in folders.map { "\(directory)/\($0)/\(terminal)" } }
    }

    /// The content of a regular file within the size limit; nil for all else. It does not block on a pipe.
    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard System.isFile(descriptor), let bytes = System.read(descriptor), bytes.count <= maxSize else { return nil }
        return bytes
    }
}

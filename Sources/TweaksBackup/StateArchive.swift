// Packs the files of a state directory that hold its values into a ustar archive, and unpacks only such an archive.

package import Tweaks
import TweaksStorage

/// The files that hold the values of a state directory. Tokens, sign-ins and the audit are not among them.
package enum StateFile: Equatable, Sendable {
    case overrides
    case history
    /// The lines of the config file as last applied.
    case config
    case preset(PresetName)

    /// The directory of the presets.
    static let presets = "presets"
    private static let ending = ".conf"

    /// Nil for any other name: a path cannot lead elsewhere.
    package init?(name: String) {
        switch name {
        case StateDirectory.fileName: self = .overrides
        case HistoryWriter.fileName: self = .history
        case "config.last": self = .config
        default:
            let start = Self.presets + "/"
            guard name.hasPrefix(start), name.hasSuffix(Self.ending), name.count > start.count + Self.ending.count,
                let preset = try? PresetName(String(name.dropFirst(start.count).dropLast(Self.ending.count)))
            else { return nil }
            self = .preset(preset)
        }
    }

    package var name: String {
        switch self {
        case .overrides: StateDirectory.fileName
        case .history: HistoryWriter.fileName
        case .config: "config.last"
        case .preset(let name): "\(Self.presets)/\(name)\(Self.ending)"
        }
    }

    /// The largest size that any program reads; a program sets the limit of its presets itself.
    var sizeLimit: Int {
        switch self {
        case .overrides: OverridesFile.sizeLimit
        case .history: 4 * HistoryWriter.sizeLimit
        case .config, .preset: OverridesFile.sizeLimit
        }
    }
}

/// A file with its content.
package typealias StateFileContent = (file: StateFile, bytes: [UInt8])

/// A copy of a state directory, as one archive in the format ustar of POSIX.
///
/// Its first member is `backup.json`, the others are ``StateFile``s:
///
///     {"format":"tweaks-backup","version":1,"program":"bounce","time":"2026-11-21T09:30:00.000Z"}
package struct StateArchive: Sendable {
    /// Why an archive is refused.
    package struct Problem: Error, Equatable {
        package let text: String

        init(_ text: String) { self.text = text }
    }

    /// The name of the program whose state it is; it is not validated.
    package let program: String
    /// When it was made, in milliseconds since 1970.
    package let time: Int64
    package let files: [StateFileContent]

    /// Larger archives are not read.
    package static let sizeLimit = 1 << 30
    private static let format = "tweaks-backup"
    private static let version: Int64 = 1
    private static let manifestName = "backup.json"

    package init(program: String, time: Int64, files: [StateFileContent]) {
        self.program = program
        self.time = time
        self.files = files
    }

    // MARK: Writing

    /// The bytes of the archive.
    package var bytes: [UInt8] {
        let manifest: [(String, JSON)] = [
            ("format", .string(Self.format)), ("version", .int(Self.version)), ("program", .string(program)),
            ("time", .string(TimeText.print(time))),
        ]
        var bytes: [UInt8] = []
        TarMember(Self.manifestName, Array("\(JSON.object(manifest).text)\n".utf8)).append(to: &bytes, at: time / 1_000)
        for (file, content) in files { TarMember(file.name, content).append(to: &bytes, at: time / 1_000) }
        bytes += [UInt8](repeating: 0, count: 2 * TarMember.blockSize)
        return bytes
    }

    // MARK: Reading

    /// Checks the whole archive: its structure, names, sizes, and that there is nothing else in it.
    package init(_ bytes: [UInt8]) throws(Problem) {
        guard bytes.count <= Self.sizeLimit else { throw Problem("it has more than \(Self.sizeLimit) bytes") }
        var position = 0
        guard let first = try TarMember(bytes, at: &position), first.name == Self.manifestName else {
            throw Problem("its first member is not \(Self.manifestName): it is no backup of tweaks")
        }
        (program, time) = try Self.manifest(first.content)
        var files: [StateFileContent] = []
        var names: Set<String> = []
        while let member = try TarMember(bytes, at: &position) {
            let shown = Quoting.excerpt(member.name)
            guard let file = StateFile(name: member.name) else { throw Problem("\(shown) is no file of a state") }
            guard names.insert(member.name).inserted else { throw Problem("\(shown) is there twice") }
            guard member.content.count <= file.sizeLimit else {
                throw Problem("\(shown) has more than \(file.sizeLimit) bytes")
            }
            files.append((file, member.content))
        }
        self.files = files
    }

    private static func manifest(_ bytes: [UInt8]) throws(Problem) -> (program: String, time: Int64) {
        guard bytes.count < 65_536, let json = try? JSON(bytes), json["format"]?.string == format,
            let version = json["version"]?.wholeNumber, version > 0
        else { throw Problem("\(manifestName) is not that of a backup of tweaks") }
        if version > Self.version {
            throw Problem(
                "it was made by a newer version (format \(version), and this is \(Self.version)); use that version")
        }
        guard let program = json["program"]?.string, let time = json["time"]?.string.flatMap({ TimeText.parse($0) })
        else { throw Problem("\(manifestName) names no program or no time") }
        return (program, time)
    }
}

/// A regular file in an archive.
private struct TarMember {
    static let blockSize = 512

    let name: String
    let content: [UInt8]

    init(_ name: String, _ content: [UInt8]) { (self.name, self.content) = (name, content) }

    // MARK: Writing

    func append(to bytes: inout [UInt8], at seconds: Int64) {
        var header = [UInt8](repeating: 0, count: Self.blockSize)
        func put(_ text: String, at position: Int) {
            for (offset, byte) in text.utf8.enumerated() { header[position + offset] = byte }
        }
        put(name, at: 0)
        put("0000600", at: 100)
        for position in [108, 116] { put("0000000", at: position) }
        put(Self.octal(UInt64(content.count)), at: 124)
        put(Self.octal(UInt64(clamping: seconds)), at: 136)
        put("0", at: 156)
        put("ustar\u{0}00", at: 257)
        put(String(Self.octal(Self.sum(header)).suffix(6)) + "\u{0} ", at: 148)
        bytes += header
        bytes += content
        bytes += [UInt8](repeating: 0, count: Self.padding(content.count))
    }

    /// Eleven digits.
    private static func octal(_ number: UInt64) -> String {
        let digits = String(min(number, 0o77777777777), radix: 8)
        return String(repeating: "0", count: 11 - digits.utf8.count) + digits
    }

    /// The number of zeros up to the next block.
    private static func padding(_ size: Int) -> Int { (blockSize - size % blockSize) % blockSize }

    /// The sum of a header's bytes, with spaces in place of the sum itself.
    private static func sum(_ header: some Collection<UInt8>) -> UInt64 {
        var sum: UInt64 = 0
        for (position, byte) in header.enumerated() { sum += (148..<156).contains(position) ? 32 : UInt64(byte) }
        return sum
    }

    // MARK: Reading

    /// The next member; nil at the end.
    init?(_ bytes: [UInt8], at position: inout Int) throws(StateArchive.Problem) {
        guard bytes.count - position >= Self.blockSize else { throw Self.cutShort }
        let header = bytes[position..<(position + Self.blockSize)]
        if header.allSatisfy({ $0 == 0 }) {
            guard bytes[position...].allSatisfy({ $0 == 0 }) else {
                throw StateArchive.Problem("something follows its end")
            }
            return nil
        }
        func field(_ start: Int, _ count: Int) -> ArraySlice<UInt8> {
            header[(position + start)..<(position + start + count)]
        }
        guard Self.number(field(148, 8)) == Self.sum(header) else {
            throw StateArchive.Problem("it is damaged, or no tar archive: the checksum of a header is wrong")
        }
        name = String(decoding: field(0, 100).prefix { $0 != 0 }, as: UTF8.self)
        let shown = Quoting.excerpt(name)
        guard field(257, 5).elementsEqual("ustar".utf8), field(345, 155).allSatisfy({ $0 == 0 }) else {
            throw StateArchive.Problem("\(shown) is not in the form that a backup has (ustar, with short names)")
        }
        let type = bytes[position + 156]
        guard type == UInt8(ascii: "0") || type == 0 else {
            let isLink = type == UInt8(ascii: "1") || type == UInt8(ascii: "2")
            throw StateArchive.Problem("\(shown) is \(isLink ? "a link" : "not a regular file")")
        }
        let start = position + Self.blockSize
        guard let size = Self.number(field(124, 12)) else {
            throw StateArchive.Problem("\(shown) has no valid size")
        }
        guard size <= UInt64(bytes.count - start) else { throw Self.cutShort }
        let end = start + Int(size)
        content = Array(bytes[start..<end])
        position = end + Self.padding(Int(size))
    }

    private static let cutShort = StateArchive.Problem("it is cut short")

    /// An octal number that ends in a zero byte or a space; nil for other bytes, and for one that does not fit its field.
    private static func number(_ field: ArraySlice<UInt8>) -> UInt64? {
        let digits = field.drop { $0 == 32 }.prefix { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
        guard !digits.isEmpty, digits.count <= 11, field[digits.endIndex...].allSatisfy({ $0 == 0 || $0 == 32 }) else {
            return nil
        }
        return digits.reduce(0) { $0 << 3 | UInt64($1 & 7) }
    }
}

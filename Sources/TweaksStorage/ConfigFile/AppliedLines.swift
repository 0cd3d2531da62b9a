// Selects the lines of a config file that are kept for the next run, which records what was changed in between.

import Tweaks

/// The applied assignments to tweaks of the program, without those of secrets, and the copy of them on disk.
struct AppliedLines {
    var bytes: [UInt8] = []
    /// Where the copy is; nil if none is kept.
    var path: String?
    /// The content of the copy; nil if it is unknown.
    var saved: [UInt8]?

    /// Selects the lines of a file that was applied.
    static func selected(from bytes: [UInt8], _ file: ConfigFile, _ registry: TweakRegistry) -> [UInt8] {
        let view = TweakView(registry)
        let numbers = Set(
            file.entries.lazy.filter { view[$0.path].map { !$0.flags.contains(.secret) } ?? false }.map(\.line))
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.enumerated().lazy.filter { numbers.contains($0.offset + 1) }.flatMap { $0.element + [0x0a] }
    }

    /// The content of a copy; nil if it is missing, unreadable, or not what was written.
    static func content(of copy: String) -> [UInt8]? {
        guard case .bytes(let bytes) = FileContent(path: copy, isStrict: true) else { return nil }
        return ConfigFile(bytes, name: copy, listedProblems: 1).problems.isEmpty ? bytes : nil
    }

    /// The copy to be written; nil if it is up to date, or none is kept.
    var unsaved: (path: String, bytes: [UInt8])? { path.flatMap { bytes == saved ? nil : ($0, bytes) } }
}

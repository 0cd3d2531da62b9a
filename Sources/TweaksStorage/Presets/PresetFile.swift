// Reads and writes preset files: a heading in comments, then assignments as in a config file.

package import Tweaks

/// Reads and formats presets.
package enum PresetFile {
    /// The format version in the heading; it is raised when older programs cannot read the rest.
    package static let version = 1
    private static let title = "# Tweaks preset, format "
    /// The maximum number of lines in a heading.
    private static let headingLines = 16
    private static let headingBytes = 8_192
    /// The maximum length of a heading's text, which is shown in lists and may come from another writer.
    private static let longest = 128

    // MARK: Printing

    /// The whole file.
    static func bytes(_ draft: PresetDraft, program: String, at milliseconds: Int64) -> [UInt8] {
        var text = "\(title)\(version)\n# Program: \(Quoting.sanitized(program))\n"
        text += "# Saved: \(TimeText.seconds(milliseconds)) by \(draft.origin)\n"
        if let pattern = draft.pattern { text += "# Pattern: \(Quoting.sanitized(pattern))\n" }
        for line in draft.lines { text += line + "\n" }
        return Array(text.utf8)
    }

    // MARK: Reading

    /// Parses a file from any source.
    /// - Throws: `io` if a newer version wrote it.
    package static func preset(_ bytes: [UInt8], name: PresetName) throws(TweakError) -> Preset {
        let heading = try heading(bytes, name)
        let file = ConfigFile(bytes, name: name.text)
        return Preset(heading: heading, entries: Array(file.entries), problems: file.problems)
    }

    private static func heading(_ bytes: [UInt8], _ name: PresetName) throws(TweakError) -> PresetHeading {
        var heading = PresetHeading()
        let lines = bytes.dropFirst(TextEncoding.markLength(bytes)).prefix(headingBytes).split(
            separator: UInt8(ascii: "\n"))
        for line in lines.prefix(headingLines) {
            let text = String(decoding: line, as: UTF8.self)
            guard text.utf8.starts(with: "#".utf8) else { break }
            if let number = rest(of: text, title).flatMap({ Int($0) }), number > version {
                throw TweakError(
                    .io,
                    "the preset \(name) was written by a newer version (format \(number), and this is \(version)); "
                        + "load it with that version, or remove its heading")
            }
            if let program = rest(of: text, "# Program: ") { heading.program = program }
            if let pattern = rest(of: text, "# Pattern: ") { heading.pattern = pattern }
            if let saved = rest(of: text, "# Saved: ") { (heading.saved, heading.by) = moment(saved) }
        }
        return heading
    }

    /// The rest of a line after a prefix, without the CR of a CRLF line ending.
    private static func rest(of line: String, _ beginning: String) -> String? {
        guard line.utf8.starts(with: beginning.utf8) else { return nil }
        let text = String(decoding: line.utf8.dropFirst(beginning.utf8.count), as: UTF8.self)
        return Quoting.sanitized(String(text.prefix { $0 != "\r" }.prefix(longest)))
    }

    /// `2026-11-21T19:10:00Z by uid 1000`.
    private static func moment(_ text: String) -> (String?, String?) {
        let words = text.split(separator: " ", maxSplits: 2)
        guard let time = words.first.map({ String($0) }), TimeText.parse(time) != nil else { return (nil, nil) }
        return (time, words.count == 3 && words[1] == "by" ? String(words[2]) : nil)
    }
}

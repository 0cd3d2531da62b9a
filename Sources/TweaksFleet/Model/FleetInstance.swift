// Determines the ID of a process in its fleet, configured, saved or new, and its labels.

import Tweaks
import TweaksSystem

/// The identity of a process in its fleet.
package struct FleetInstance: Hashable, Sendable {
    /// Letters, digits, `.`, `_`, `-` and `:`, at most 63.
    package var id: String
    package var labels: Labels
    /// What the process knows of rollouts.
    package var edition: Int64

    package init(id: String, labels: Labels = [:], edition: Int64 = FleetStatus.strataEdition) {
        self.id = id
        self.labels = labels
        self.edition = edition
    }

    /// Whether it has all of some labels.
    func has(_ all: Labels) -> Bool { all.allSatisfy { labels[$0.key] == $0.value } }

    package static func isID(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || "._-:".unicodeScalars.contains($0))
            }
    }
}

/// A process's ID and labels, and whether the ID survives a restart.
package struct FleetIdentity: Hashable, Sendable {
    package let instance: FleetInstance
    /// The ID changes with each restart.
    package let isUnstable: Bool

    private static let file = "instance-id"

    /// The name of this machine.
    package static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// - Parameters:
    ///   - given: The configured ID, if any.
    ///   - directory: The state directory, locked by this process.
    package init(_ given: String?, labels: Labels, directory: String?) {
        if let given {
            instance = FleetInstance(id: given, labels: labels)
            isUnstable = false
            return
        }
        let saved = directory.flatMap { Self.savedID(in: $0) }
        instance = FleetInstance(id: saved ?? Self.random, labels: labels)
        isUnstable = saved == nil
    }

    /// Reads the ID saved in the directory; creates one if there is none.
    private static func savedID(in directory: String) -> String? {
        guard let folder = try? Folder(directory) else { return nil }
        if let content = try? folder.content(of: file, limit: 1_024) {
            let line = content.bytes.last == UInt8(ascii: "\n") ? content.bytes.dropLast() : content.bytes[...]
            let text = String(decoding: line, as: UTF8.self)
            if FleetInstance.isID(text) { return text }
        }
        let new = random
        guard (try? folder.replace(file, with: Array("\(new)\n".utf8))) != nil else { return nil }
        return new
    }

    /// With 64 bits, collisions among a million processes are very unlikely.
    private static var random: String { String(UInt64.random(in: 0 ... .max), radix: 16).padded(to: 16) }
}

/// The labels of a process, or a rollout's selector: all must match. An empty selector matches every process.
package typealias Labels = [String: String]

extension Labels {
    /// The maximum number of labels, and their maximum size as text: both fit into a status.
    package static let maxCount = 8
    package static let maxBytes = 256

    /// Parses `zone=eu,version=1.4`.
    package init(parsing text: String) throws(FleetProblem) {
        self.init()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) where !text.isEmpty {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2 else {
                throw FleetProblem(
                    "\(Quoting.excerpt(String(part))) is not a label; write NAME=VALUE, with commas between")
            }
            guard updateValue(String(words[1]), forKey: String(words[0])) == nil else {
                throw FleetProblem("the label \(words[0]) is there twice; keep one of them")
            }
        }
        _ = try validated()
    }

    /// Returns the labels if they are valid.
    package func validated() throws(FleetProblem) -> Labels {
        guard count <= Self.maxCount else { throw FleetProblem("there are more than \(Self.maxCount) labels") }
        for word in Array(keys) + Array(values) where !Self.isWord(word) {
            throw FleetProblem(
                "\(Quoting.excerpt(word)) is not a label's name or value; use letters, digits, “.”, “_” and “-”, at most 63"
            )
        }
        guard text.utf8.count <= Self.maxBytes else {
            throw FleetProblem("the labels are longer than \(Self.maxBytes) bytes together; shorten some")
        }
        return self
    }

    /// Whether a text can be the name or the value of a label.
    package static func isWord(_ text: String) -> Bool { FleetInstance.isID(text) && !text.utf8.contains(0x3A) }

    /// The labels as text, sorted by name.
    package var text: String { sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",") }

    init(_ fields: [(String, JSON)]) throws(FleetProblem) {
        self.init()
        for (name, value) in fields {
            guard let text = value.string else {
                throw FleetProblem("the label \(Quoting.excerpt(name)) is not a text")
            }
            self[name] = text
        }
        _ = try validated()
    }

    var json: JSON { .object(sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }) }
}

// Defines labels of processes, which rollouts select by.

import Tweaks

/// The labels of a process, or a rollout's selector: all must match. An empty selector matches every process.
package typealias Labels = [String: String]

extension Labels {
    /// The maximum number of labels, and their maximum size as text: both fit into a status.
    package static let (maxCount, maxBytes) = (8, 256)

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

    private static func isWord(_ text: String) -> Bool { FleetInstance.isID(text) && !text.utf8.contains(0x3A) }

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

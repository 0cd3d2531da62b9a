// Writes server-sent events in the format of the HTML standard, section 9.2.

import Tweaks
import TweaksWire

/// Writes events; the ID of an event lets a client resume after it.
struct EventWriter {
    /// Random for each start of the process: revisions of another start are not comparable.
    let instance: String

    /// Writes one event.
    /// - Parameter json: One line of JSON, with or without its line break.
    func append(_ name: String, revision: UInt64?, json: some Collection<UInt8>, to bytes: inout [UInt8]) {
        appendHead(name, revision: revision, to: &bytes)
        bytes.append(contentsOf: json)
        appendEnd(to: &bytes)
    }

    /// Writes the fields before an event's data.
    func appendHead(_ name: String, revision: UInt64?, to bytes: inout [UInt8]) {
        if let revision { bytes.append("id: \(instance)-\(revision)\n") }
        bytes.append("event: \(name)\ndata: ")
    }

    /// Writes the end of an event; a line break of the data is not repeated.
    func appendEnd(to bytes: inout [UInt8]) {
        bytes.append(bytes.last == UInt8(ascii: "\n") ? "\n" : "\n\n")
    }

    /// The revision from which a client resumes; nil for an ID of another start, or one that is malformed.
    ///
    /// It is the revision before that of the ID: a client that lost the connection within a commit gets all of it
    /// again.
    func revision(after id: String?) -> UInt64? {
        guard let id, let dash = id.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        let (start, number) = (id[..<dash], id[id.index(after: dash)...])
        guard start == instance, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(number).map { $0 == 0 ? 0 : $0 - 1 }
    }
}

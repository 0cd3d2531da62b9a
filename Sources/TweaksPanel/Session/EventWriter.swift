// Server-sent events: what a stream says, in the format of the HTML standard, section 9.2.

import Tweaks
import TweaksWire

/// Writes events; each has an identity by which a client goes on after it.
struct EventWriter {
    /// Random for each start of the process: revisions of another start mean nothing here.
    let instance: String

    /// Writes one event.
    /// - Parameter json: One line of JSON, with or without its end.
    func append(_ name: String, revision: UInt64?, json: some Collection<UInt8>, to bytes: inout [UInt8]) {
        appendHead(name, revision: revision, to: &bytes)
        bytes.append(contentsOf: json)
        appendEnd(to: &bytes)
    }

    /// Writes what stands before an event's data.
    func appendHead(_ name: String, revision: UInt64?, to bytes: inout [UInt8]) {
        if let revision { bytes.append("id: \(instance)-\(revision)\n") }
        bytes.append("event: \(name)\ndata: ")
    }

    /// Writes what stands behind it; a line break is there already.
    func appendEnd(to bytes: inout [UInt8]) {
        bytes.append(bytes.last == UInt8(ascii: "\n") ? "\n" : "\n\n")
    }

    /// The revision from which a client goes on; nil where it was another start, or no identity of ours.
    ///
    /// It is the one before: whoever was cut off within a commit gets all of it again.
    func revision(after identity: String?) -> UInt64? {
        guard let identity, let dash = identity.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        let (start, number) = (identity[..<dash], identity[identity.index(after: dash)...])
        guard start == instance, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(number).map { $0 == 0 ? 0 : $0 - 1 }
    }
}

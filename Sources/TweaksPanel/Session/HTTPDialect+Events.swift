// Streams events to a client: hello, a snapshot of the watched tweaks, then each change.

import Tweaks
import TweaksServer
import TweaksWire

extension HTTPDialect {
    /// Begins the stream with the events hello and snapshot.
    func beginEvents(_ reply: Reply, _ bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        guard let framing = exchange?.framing, case .ok(let words, var fields) = reply.status else { return nil }
        let revision = fields.lazy.compactMap { $0.0 == "rev" ? $0.1.wholeNumber : nil }.first ?? 0
        // A revision that does not exist yet cannot be resumed from: the snapshot is then complete.
        isResumed = exchange?.resumeRevision.map { $0 <= revision } ?? false
        fields.append(("resumed", .bool(isResumed)))
        var reply = reply
        reply.status = .ok(words: words, fields: fields)
        let headers = [HTTPField("Content-Type", "text/event-stream"), HTTPField("X-Accel-Buffering", "no")]
        let stream = PanelPage.writer.appendStream(.ok, headers, to: framing, into: &bytes)
        exchange?.stream = stream
        if framing.isHead {
            end(stream, &bytes)
            return nil
        }
        isStreaming = true
        var part: [UInt8] = []
        let hello = JSON.object([("ok", .bool(true))] + fields).text
        // No ID: a client that loses the connection before the snapshot cannot resume.
        appendEvent("hello", revision: nil, json: hello.utf8, to: &part)
        appendEventHead("snapshot", revision: revision, to: &part)
        let rest = Self.json.append(reply.snapshot, to: &part)
        if rest == nil { appendEventEnd(to: &part) }
        stream.append(part, to: &bytes)
        return rest
    }

    func write(_ event: Event, line: [UInt8], to bytes: inout [UInt8]) {
        guard isStreaming, let stream = exchange?.stream else { return }
        var part: [UInt8] = []
        switch event {
        case .change(let change, _):
            // Metrics are sampled between commits, so earlier changes may not have been sent yet.
            let isMetric = change.node.definition.flags.contains(.readOnly)
            appendEvent("change", revision: isMetric ? nil : change.revision, json: line, to: &part)
        case .lagged(let revision, _): appendEvent("lagged", revision: revision, json: line, to: &part)
        // Requests for rights do not occur over HTTP: rights come from the token.
        case .decided: return
        }
        stream.append(part, to: &bytes)
    }

    func writeHeartbeat(listingChanged: Bool, revision: UInt64, to bytes: inout [UInt8]) {
        guard isStreaming, let stream = exchange?.stream else { return }
        var part: [UInt8] = []
        if listingChanged {
            appendEvent("listing", revision: nil, json: "{\"rev\":\(revision)}".utf8, to: &part)
        } else {
            part.append(": beat\n\n")
        }
        stream.append(part, to: &bytes)
    }

    // MARK: The format

    /// Writes an event in the format of the HTML standard, section 9.2; its ID lets a client resume after it.
    /// - Parameter json: One line of JSON, with or without its line break.
    func appendEvent(_ name: String, revision: UInt64?, json: some Collection<UInt8>, to bytes: inout [UInt8]) {
        appendEventHead(name, revision: revision, to: &bytes)
        bytes.append(contentsOf: json)
        appendEventEnd(to: &bytes)
    }

    /// Writes the fields before an event's data.
    private func appendEventHead(_ name: String, revision: UInt64?, to bytes: inout [UInt8]) {
        if let revision { bytes.append("id: \(instance)-\(revision)\n") }
        bytes.append("event: \(name)\ndata: ")
    }

    /// Writes the end of an event; a line break of the data is not repeated.
    func appendEventEnd(to bytes: inout [UInt8]) {
        bytes.append(bytes.last == UInt8(ascii: "\n") ? "\n" : "\n\n")
    }

    /// The revision from which a client resumes; nil for an ID of another start, or one that is malformed.
    ///
    /// It is the revision before that of the ID: a client that lost the connection within a commit gets all of it
    /// again.
    func revision(after id: String?) -> UInt64? {
        guard let id, let dash = id.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        guard id[..<dash] == instance, let number = UInt64(digits: String(id[id.index(after: dash)...])) else {
            return nil
        }
        return number == 0 ? 0 : number - 1
    }
}

extension Reply {
    /// The reply without fields that have their default values, which halves the size for a thousand tweaks.
    var snapshot: Reply {
        var reply = self
        switch body {
        case .none: break
        case .items(let items): reply.body = .items(items.map(\.brief))
        case .stream(let next): reply.body = .stream { next($0)?.brief }
        }
        if case .ok(let words, let fields) = status {
            let shown = ["rev", "watching", "resumed"]
            reply.status = .ok(words: words, fields: fields.filter { shown.contains($0.0) })
        }
        return reply
    }
}

extension Reply.Item {
    fileprivate var brief: Reply.Item {
        guard case .tweak(var line) = self else { return self }
        line.isBrief = true
        return .tweak(line)
    }
}

// Implements the line protocol of telnet and nc: one request per line, and lines as replies.

import Tweaks
import TweaksWire

/// The line protocol, as typed by users and sent by programs.
final class LineDialect: SessionDialect {
    private(set) var encoder = ReplyEncoder()
    let inputLimit: Int
    private(set) var inputCount = 0
    private var reader: LineReader
    /// A telnet client has sent an interrupt, and its timing mark has not arrived.
    private var awaitsMark = false

    /// - Parameter limit: The maximum number of bytes in a line.
    init(limit: Int) {
        inputLimit = limit
        reader = LineReader(limit: limit)
    }

    var memorySize: Int { reader.bufferCapacity }
    var pipelines: Bool { true }
    var acceptsErrorInReply: Bool { true }
    /// A TLS client, for example, would wait forever.
    var invalidInputError: TweakError? {
        reader.unfinishedLineIsInvalid() ? ParsedLine.badLine(reader.wideEncoding) : nil
    }
    var incompleteInputError: TweakError? {
        if !reader.hasUnfinishedLine { return nil }
        return TweakError(.badLine, "the input ended inside a line; it was not run: end it with LF")
    }

    func use(_ encoder: ReplyEncoder) { self.encoder = encoder }

    func limitRequests(to bytes: Int) { reader.limit = bytes }

    func forgetInput() {
        reader.removeAll()
        inputCount = 0
    }

    /// Answers telnet commands. After Ctrl-C a telnet client shows nothing until its timing mark is answered, so a
    /// prompt that was sent before the mark arrived is sent again.
    func receive(_ bytes: UnsafeRawBufferPointer) -> DialectEcho? {
        var count = 0
        let response = Self.append(bytes, to: &reader, &count)
        inputCount = count
        if response.reply.isEmpty, !response.wasInterrupted { return nil }
        let isMarked = awaitsMark && !response.reply.isEmpty
        if response.wasInterrupted {
            awaitsMark = response.reply.isEmpty
        } else if isMarked {
            awaitsMark = false
        }
        return DialectEcho(bytes: response.reply, redrawsPrompt: response.wasInterrupted || isMarked)
    }

    private static func append(
        _ bytes: UnsafeRawBufferPointer, to reader: inout LineReader, _ count: inout Int
    ) -> TelnetFilter.Response {
        defer { count = reader.count }
        return bytes.withMemoryRebound(to: UInt8.self) { reader.append($0) }
    }

    func next(budget: Int, to bytes: inout [UInt8], _ answer: PlainAnswer) -> DialectStep? {
        var round = Round(encoder: encoder)
        let step = Self.next(&reader, &round, limit: bytes.count + budget, &bytes, answer)
        if round.hasLine { awaitsMark = false }
        (encoder, inputCount) = (round.encoder, round.inputCount)
        return step
    }

    /// The state of one call of `next`.
    private struct Round {
        var encoder: ReplyEncoder
        var hasLine = false
        var inputCount = 0
    }

    /// Plain requests are so cheap that the clock is read once for several of them.
    private static let maxRequestsPerStep = 16

    private static func next(
        _ reader: inout LineReader, _ round: inout Round, limit: Int, _ bytes: inout [UInt8], _ answer: PlainAnswer
    ) -> DialectStep? {
        defer { round.inputCount = reader.count }
        for _ in 0..<maxRequestsPerStep {
            guard let event = reader.next() else {
                reader.compact()
                return nil
            }
            guard case .line(let line) = event else { return .tooLong(limit: reader.limit) }
            (round.encoder.usesCRLF, round.hasLine) = (line.endsWithCRLF, true)
            if line.isPoisoned { return .line(.failure(ParsedLine.badLine, .fatalUnlessProven)) }
            let encoder = round.encoder
            let step = reader.withBytes(of: line) { text -> DialectStep? in
                guard let hot = FastPath(text) else { return .line(ParsedLine(text)) }
                return answer(hot, text, encoder, &bytes) ? nil : .perform(hot.request(in: text))
            }
            if case .line(let line)? = step { return .line(line.explained(by: reader.wideEncoding)) }
            if let step { return step }
            if bytes.count >= limit { break }
        }
        return .answered
    }

    // MARK: Replies

    func write(_ reply: Reply, _ encoder: ReplyEncoder, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        encoder.append(reply, to: &bytes)
    }

    func write(_ rest: ReplyEncoder.Remainder, budget: Int, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        encoder.append(rest, budget: budget, to: &bytes)
    }

    func abort(_ rest: ReplyEncoder.Remainder, _ error: TweakError, to bytes: inout [UInt8]) {
        encoder.abort(rest, error, to: &bytes)
    }

    func write(_ event: Event, line: [UInt8], to bytes: inout [UInt8]) { bytes.append(contentsOf: line) }

    // MARK: Unsupported features

    var showsLayers: Bool { false }
    var isInRequest: Bool { false }
    var isStreaming: Bool { false }
    var isResumed: Bool { false }
    var streamEndReason: TweakError? { nil }
    var idleTime: Duration? { nil }

    func prepareToEnd() {}
    func end(to bytes: inout [UInt8]) {}
    func writeHeartbeat(listingChanged: Bool, revision: UInt64, to bytes: inout [UInt8]) {}
}

// Translates bytes to requests and replies to bytes, by the protocol of a connection.

package import Tweaks
import TweaksInterface
package import TweaksWire

/// The protocol spoken on one connection. It only translates: rights, requests, replies, events and limits are those of
/// the session and the server. Made for one connection, and used on the I/O thread only.
package protocol SessionDialect: AnyObject {
    var encoder: ReplyEncoder { get }
    /// The number of bytes received and not yet consumed.
    var inputCount: Int { get }
    /// At this number of unconsumed bytes, reading stops.
    var inputLimit: Int { get }
    var memorySize: Int { get }
    /// Whether the next request may begin while replies to earlier ones wait for the disk.
    var pipelines: Bool { get }
    /// Whether the client understands an error inside a reply.
    var acceptsErrorInReply: Bool { get }
    /// Whether events show every layer rather than only the current value.
    var showsLayers: Bool { get }
    /// Whether a request has begun to arrive and is incomplete; it has a deadline.
    var isInRequest: Bool { get }
    /// The error of received bytes that can never become a request; nil if they can.
    var invalidInputError: TweakError? { get }
    /// The error for incomplete input at the end of input.
    var incompleteInputError: TweakError? { get }
    /// Whether the reply is an endless stream of events.
    var isStreaming: Bool { get }
    /// Whether the stream resumes an earlier one, whose client does not know the tweaks registered since.
    var isResumed: Bool { get }
    /// Why a stream must end although its session has not; checked before each heartbeat.
    var streamEndReason: TweakError? { get }
    /// The maximum idle time without work in progress; nil means the server's limit.
    var idleTime: Duration? { get }

    /// Changes the reply format from here on.
    func use(_ encoder: ReplyEncoder)

    /// Limits the length of requests until the client is authenticated.
    func limitRequests(to bytes: Int)

    /// Receives bytes.
    /// - Returns: Bytes to send immediately, even during other work; usually nil.
    func receive(_ bytes: UnsafeRawBufferPointer) -> DialectEcho?

    /// Returns the next step; nil if more input is needed. Without pipelining, called only after all earlier replies
    /// were written.
    /// - Parameters:
    ///   - budget: The approximate number of bytes to write for plain requests.
    ///   - answer: Answers a plain request, given with its line; returns false if it needs the normal path.
    func next(budget: Int, to bytes: inout [UInt8], _ answer: PlainAnswer) -> DialectStep?

    /// Discards the bytes that are not consumed.
    func forgetInput()

    /// Writes the reply to the last request as far as it is available, or an unsolicited error, after which the
    /// connection ends.
    /// - Parameter encoder: The dialect's encoder at the time of the request.
    /// - Returns: The rest of the reply.
    func write(_ reply: Reply, _ encoder: ReplyEncoder, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder?

    /// Continues a long reply.
    func write(_ rest: ReplyEncoder.Remainder, budget: Int, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder?

    /// Ends a long reply early.
    func abort(_ rest: ReplyEncoder.Remainder, _ error: TweakError, to bytes: inout [UInt8])

    /// Writes an event.
    /// - Parameter line: The event as the encoder writes it.
    func write(_ event: Event, line: [UInt8], to bytes: inout [UInt8])

    /// Announces that the connection ends after the next reply.
    func prepareToEnd()

    /// Ends a stream.
    func end(to bytes: inout [UInt8])

    /// Writes a heartbeat; called every few seconds while it streams.
    /// - Parameter listingChanged: Tweaks were registered or removed since the last heartbeat.
    func writeHeartbeat(listingChanged: Bool, revision: UInt64, to bytes: inout [UInt8])
}

/// Writes the reply to a plain request, if it is available immediately.
package typealias PlainAnswer = (FastPath, UnsafeBufferPointer<UInt8>, ReplyEncoder, inout [UInt8]) -> Bool

/// The immediate response of a dialect to input.
package struct DialectEcho {
    package var bytes: [UInt8]
    /// Whether the line at the prompt is gone, so that the prompt is sent again.
    package var redrawsPrompt: Bool
}

/// The next step that a dialect asks for.
package enum DialectStep {
    /// Carry out a request and pass its reply to the dialect.
    case perform(Request)
    /// Some plain requests were answered, and more may wait.
    case answered
    /// Carry out or refuse a line that is not a plain request.
    case line(ParsedLine)
    /// A request exceeds the limit; the input after it is unusable.
    case tooLong(limit: Int)
    /// Revoke what the session had by a token or a request: another client uses the connection from here on.
    case forget
    /// Expect a proof of this key: the client has asked for a challenge. Nil: expect none any more.
    case expect(ExpectedKey?)
    /// Set the display text of the client program.
    case clientDescription(String)
    /// Set the client's own identification: a browser window, whose connections are one session to users, and a user's
    /// name.
    case identity(window: String?, DisplayName?)
    /// Mark the following changes as one gesture, such as a drag; 0 ends it.
    case gesture(UInt64)
    /// Whether the following replies wait for the disk.
    case waitForDisk(Bool)
    /// Let the program answer, and pass its reply to the dialect.
    case ask(ProgramRequest)
    case send([UInt8])
    /// End the connection. `isForeignProtocol`: the client does not speak this protocol.
    case end(isForeignProtocol: Bool)
}

/// A request that the program answers, and not this server's commands.
package struct ProgramRequest: Sendable {
    /// What the client needs for everything: nothing says which tweaks it concerns.
    package let need: TweakScope.Kind
    /// Begins to answer. It is called on the I/O thread, and calls its argument once, on any thread.
    package let answer: @Sendable (_ reply: @escaping @Sendable (Reply) -> Void) -> Void

    package init(
        _ need: TweakScope.Kind, answer: @escaping @Sendable (_ reply: @escaping @Sendable (Reply) -> Void) -> Void
    ) { (self.need, self.answer) = (need, answer) }
}

/// A key that a client has named and is about to prove.
package struct ExpectedKey: Hashable, Sendable {
    /// The key id of the token that the key stands for.
    package let token: String
    /// What names the key: the key id of a token or of a one-time code, or the ID of a browser's sign-in. Connections
    /// that name the same share places, so that who knows one name takes no place from the others of its token.
    package let name: String

    /// - Parameter name: By default the key is the token's own.
    package init(_ token: String, name: String? = nil) { (self.token, self.name) = (token, name ?? token) }
}

/// An endpoint that speaks its own dialect, in addition to the server's listeners. Clients have no rights until they show a
/// token.
package protocol Endpoint: Sendable {
    /// A numeric address; nil means the loopback addresses.
    var address: String? { get }
    /// The ports to try in order; 0 picks a free one.
    var ports: [Int] { get }
    /// The name in `stats` and errors.
    var name: String { get }
    /// Whether clients show tokens there, which must not cross a network without a token file.
    var needsTokens: Bool { get }

    /// Creates the dialect of a new connection.
    func makeDialect(_ place: EndpointAddress) -> any SessionDialect

    /// The bytes to send to a rejected connection.
    func refusal(_ error: TweakError) -> [UInt8]
}

/// An endpoint with a page and a token of its own.
package protocol SignInEndpoint: Endpoint {
    /// The tokens that it accepts in addition to the token file.
    var tokens: [TokenEntry] { get }

    /// The address to open in a browser, including a code that signs in one browser.
    func link(port: Int) -> String

    /// Its own token, for programs.
    var secret: String { get }

    /// Replaces its own token and the address of its page.
    func rotate()
}

extension SignInEndpoint {
    package var needsTokens: Bool { true }
}

extension TweakServerHooks {
    /// The tokens of the endpoints.
    var ownTokens: [TokenEntry] { serverEndpoints.flatMap { ($0 as? any SignInEndpoint)?.tokens ?? [] } }
}

/// The local address of a connection to an endpoint.
package struct EndpointAddress: Sendable {
    package let port: UInt16
    /// The server's numeric address, if it listens on all; nil on loopback.
    package let address: String?
    /// Random for each start of the process.
    package let instance: String
    package let readiness: Readiness
}

/// An endpoint whose address the daemon announces, and which stores files in the daemon's state directory.
package protocol DaemonEndpoint: SignInEndpoint {
    /// Restores what an earlier run has stored. Called before it listens, and only in the process that holds the
    /// directory's lock.
    func restore(from directory: String, reportProblem: @escaping @Sendable (String) -> Void)

    /// Starts to store what must survive a restart. Called once the server listens.
    /// - Parameters:
    ///   - directory: The state directory; nil if there is none.
    ///   - hasTokenFile: Whether the daemon also accepts tokens from a file.
    ///   - reportProblem: Called with problems with the files.
    ///   - announce: Called on the I/O thread with news for the log: a new token of its own, or the next address where
    ///     no file has it.
    func persist(
        in directory: String?, _ server: TweakServer, hasTokenFile: Bool,
        reportProblem: @escaping @Sendable (String) -> Void, announce: @escaping @Sendable (String) -> Void)

    /// The text to show where clients can connect; nil if it does not listen.
    /// - Parameter isOnTerminal: Whether the text goes to a terminal rather than a log.
    func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String?

    /// Writes the file of the announcement again if something has removed it. Called on the I/O thread, which must not
    /// wait for a disk.
    /// - Parameter report: Called later, with what was done; not if the file is there, or was never written.
    func restoreAnnouncement(for server: TweakServer, report: @escaping @Sendable (String) -> Void)

    /// Withdraws what was announced. Called before the server stops.
    func withdraw(from server: TweakServer)

    /// Waits until everything is written. Called after the server has stopped.
    func finish()
}

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
        let step = Self.next(&reader, &round, limit: bytes.count + budget, to: &bytes, answer)
        if round.hasLine { awaitsMark = false }
        encoder = round.encoder
        inputCount = round.inputCount
        return step
    }

    private struct Round {
        var encoder: ReplyEncoder
        var hasLine = false
        var inputCount = 0
    }

    /// Plain requests are so cheap that the clock is read once for several of them.
    private static let maxRequestsPerStep = 16

    private static func next(
        _ reader: inout LineReader, _ round: inout Round, limit: Int, to bytes: inout [UInt8], _ answer: PlainAnswer
    ) -> DialectStep? {
        defer { round.inputCount = reader.count }
        for _ in 0..<maxRequestsPerStep {
            guard let event = reader.next() else {
                reader.compact()
                return nil
            }
            guard case .line(let line) = event else { return .tooLong(limit: reader.limit) }
            round.encoder.usesCRLF = line.endsWithCRLF
            round.hasLine = true
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

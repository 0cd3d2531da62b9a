// Defines the protocol of a connection: bytes to requests, replies to bytes.

package import Tweaks
package import TweaksWire

/// The protocol spoken on one connection. It only translates: rights, requests, replies, events and limits are those of
/// the session and the server. Made for one connection, and used on the I/O thread only.
package protocol SessionDialect: AnyObject {
    /// The reply format, as far as the session can choose it.
    var encoder: ReplyEncoder { get }
    /// The number of bytes received and not yet consumed.
    var inputCount: Int { get }
    /// At this number of unconsumed bytes, reading stops.
    var inputLimit: Int { get }
    /// The bytes of memory that it holds.
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
    /// Send bytes as they are.
    case send([UInt8])
    /// End the connection. `isForeignProtocol`: the client does not speak this protocol.
    case end(isForeignProtocol: Bool)
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

/// An endpoint that speaks its own dialect, in addition to the server's listeners. Every client must show a token.
package protocol Endpoint: Sendable {
    /// A numeric address; nil means the loopback addresses.
    var address: String? { get }
    /// The ports to try in order; 0 picks a free one.
    var ports: [Int] { get }
    /// The name in `stats` and errors.
    var name: String { get }
    /// The tokens that it accepts in addition to the token file.
    var tokens: [TokenEntry] { get }

    /// The address to open in a browser, including a code that signs in one browser.
    func link(port: Int) -> String

    /// Its own token, for programs.
    var secret: String { get }

    /// Replaces its own token and the address of its page.
    func rotate()

    /// Creates the dialect of a new connection.
    func makeDialect(_ place: EndpointAddress) -> any SessionDialect

    /// The bytes to send to a rejected connection.
    func refusal(_ error: TweakError) -> [UInt8]
}

/// The local address of a connection to an endpoint.
package struct EndpointAddress: Sendable {
    /// The server's port.
    package let port: UInt16
    /// The server's numeric address, if it listens on all; nil on loopback.
    package let address: String?
    /// Random for each start of the process.
    package let instance: String
}

// How a server is spoken with on one connection: bytes to requests, replies to bytes.

package import Tweaks
package import TweaksWire

/// The dialect of one connection. The session behind it is one like any other: rights, requests, replies, events and limits
/// are those of the server; a dialect only translates. Made for one connection, and used on the I/O thread alone.
package protocol SessionDialect: AnyObject {
    /// How replies are written, as far as the session may choose.
    var encoder: ReplyEncoder { get }
    /// How many bytes have come of which nothing was made yet.
    var inputCount: Int { get }
    /// With so many of them no more are read.
    var inputLimit: Int { get }
    /// How much memory they take.
    var heldBytes: Int { get }
    /// Whether the next request may be begun while replies to earlier ones wait for the disk.
    var pipelines: Bool { get }
    /// Whether an error can be understood that is said in the midst of a reply.
    var takesInterruptions: Bool { get }
    /// Whether events tell of each layer, and not of the value in force alone.
    var showsLayers: Bool { get }
    /// Something has begun to come and is not whole; there is only so much time for that.
    var isInRequest: Bool { get }
    /// What has come of the next request can never become one.
    var isHopeless: Bool { get }
    /// What is wrong with the input where nothing comes behind it.
    var incompleteness: TweakError? { get }
    /// What it was asked for does not end: events.
    var isStreaming: Bool { get }
    /// The stream goes on from an earlier one: what was registered in between is not known there.
    var isResumed: Bool { get }
    /// Why a stream is to end, though the session's rights have not; asked before each beat.
    var ending: TweakError? { get }
    /// How long it may be silent when nothing is under way; nil: as long as the server's limits say.
    var idleTime: Duration? { get }

    /// Writes replies otherwise from here on.
    func use(_ encoder: ReplyEncoder)

    /// Bounds a request until more is known of who asks.
    func limitRequests(to bytes: Int)

    /// Takes what has come.
    /// - Returns: What is said to that at once, whatever else is under way; mostly nil.
    func take(_ bytes: UnsafeRawBufferPointer) -> DialectEcho?

    /// What to do now; nil: nothing, before more has come. Where it does not pipeline, asked only when every reply so far was
    /// written.
    /// - Parameters:
    ///   - budget: About so many bytes may be written for plain requests.
    ///   - answer: Answers a plain request at once, given with its line; false where it needs the ordinary way.
    func next(budget: Int, to bytes: inout [UInt8], _ answer: PlainAnswer) -> DialectStep?

    /// Forgets what has come of which nothing was made.
    func forgetInput()

    /// Writes the reply to the last request, as far as it is known; or what is to be said of an error that no request
    /// has led to, behind which the connection ends.
    /// - Parameter encoder: The one that the dialect had when that was asked.
    /// - Returns: What remains of it.
    func write(_ reply: Reply, _ encoder: ReplyEncoder, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder?

    /// Goes on with a long reply.
    func write(_ rest: ReplyEncoder.Remainder, budget: Int, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder?

    /// Ends a long reply early.
    func cut(_ rest: ReplyEncoder.Remainder, _ error: TweakError, to bytes: inout [UInt8])

    /// Writes an event.
    /// - Parameter line: The event as the encoder writes it.
    func write(_ event: Event, line: [UInt8], to bytes: inout [UInt8])

    /// The connection ends behind the reply that comes next.
    func prepareToEnd()

    /// Ends a stream that nothing more comes of.
    func end(to bytes: inout [UInt8])

    /// Shows that it is still there; asked every few seconds while it streams.
    /// - Parameter isRelisted: Tweaks were registered or removed since the last time.
    func beat(isRelisted: Bool, revision: UInt64, to bytes: inout [UInt8])
}

/// Writes the answer to a plain request, if that is known at once.
package typealias PlainAnswer = (HotLine, UnsafeBufferPointer<UInt8>, ReplyEncoder, inout [UInt8]) -> Bool

/// What a dialect says to input at once.
package struct DialectEcho {
    package var bytes: [UInt8]
    /// The line at the prompt is gone: another prompt follows.
    package var redrawsPrompt: Bool
}

/// What a dialect wants done next.
package enum DialectStep {
    /// A request is carried out; its reply is written by the dialect.
    case perform(Request)
    /// Some plain requests were answered, and more may wait.
    case answered
    /// A line that is no plain request is carried out, or refused.
    case line(ParsedLine)
    /// A request is longer than may be; nothing behind it can be trusted.
    case tooLong(limit: Int)
    /// What the session had by a token, or by asking for it, is forgotten: another client asks from here on.
    case forget
    /// What is known of the program at the other end, for people.
    case introduce(String)
    /// Who is there, as it says itself: a window of a browser, whose connections are one session to people, and the name
    /// of a person.
    case person(window: String?, PersonName?)
    /// The changes that follow are part of one gesture, such as a drag; 0: of none.
    case gesture(UInt64)
    /// The replies that follow need not wait for the disk; or have to.
    case waitForDisk(Bool)
    /// Bytes are sent as they are.
    case send([UInt8])
    /// Everything was said. A stranger has said something that it does not understand.
    case end(isStranger: Bool)
}

/// A place where clients are spoken with in a dialect, beside the listeners of a server. Everybody there has to show a
/// token.
package protocol ServerFront: Sendable {
    /// A numeric address; nil: the loopback addresses.
    var address: String? { get }
    /// The ports to try, best first; 0 is a free one.
    var ports: [Int] { get }
    /// What `stats` and errors call it.
    var name: String { get }
    /// Tokens that are taken beside those of the file.
    var tokens: [TokenEntry] { get }

    /// The address that people go to, with a token in it.
    func link(port: Int) -> String

    /// Makes another token in the place of its own.
    func rotate()

    /// How a new connection is spoken with.
    func makeDialect(_ place: FrontPlace) -> any SessionDialect

    /// What a connection is told that is turned away.
    func refusal(_ error: TweakError) -> [UInt8]
}

/// Where a connection to a front was made, and to whom.
package struct FrontPlace: Sendable {
    /// The server's own port.
    package let port: UInt16
    /// The server's own address, in numbers, where it listens on all; nil on loopback.
    package let address: String?
    /// Random for each start of the process.
    package let instance: String
}

// Translates between HTTP and the server: requests to steps, replies to responses and events.

import Tweaks
import TweaksServer
import TweaksWire

/// The HTTP dialect of one connection to the panel. Requests are performed one after the other.
final class HTTPDialect: SessionDialect {
    let port: Int
    let requestGuard: HTTPGuard
    /// Random for each start of the process: revisions of another start are not comparable.
    let instance: String
    let readiness: Readiness
    var parser = HTTPParser(limits: HTTPDialect.limits)
    /// Steps to return before the next request is parsed.
    var steps: ArraySlice<DialectStep> = []
    var exchange: Exchange?
    let endpoint: PanelEndpoint
    var signIns: SignInStore { endpoint.signIns }
    /// The address that the current request was sent to.
    var place = PanelPlace.programs
    /// The fingerprint of the credential that was verified last.
    var verifiedFingerprint: [UInt8]?
    /// The ID of the browser's sign-in.
    var signInID: String?
    /// The number of following replies to discard.
    var repliesToDiscard = 0
    /// Whether the session has the name of the client program.
    var hasUserAgent = false
    /// The gesture, and whether replies wait for the disk, as last sent to the session.
    var requestOptions: (gesture: UInt64, waits: Bool) = (0, true)
    /// The window and the user's name as last sent to the session.
    var identity: (window: String?, name: DisplayName?) = (nil, nil)
    var isStreaming = false
    var isResumed = false
    private var hasEnded = false
    /// The one request of a session that has no other; nil on a connection that sends them as bytes.
    private(set) var mounted: MountedRequest?
    /// Whether a complete request has been received.
    var hasReceivedRequest = false

    init(
        _ place: EndpointAddress, _ requestGuard: HTTPGuard, _ endpoint: PanelEndpoint, mounted: MountedRequest? = nil
    ) {
        self.mounted = mounted
        self.endpoint = endpoint
        port = Int(place.port)
        self.requestGuard = requestGuard
        instance = place.instance
        readiness = place.readiness
    }

    private static let limits = {
        var limits = HTTPLimits()
        limits.body = unauthenticatedBodyLimit
        return limits
    }()

    var inputCount: Int { parser.count }
    var inputLimit: Int { parser.limits.body + 65_536 }
    var isInRequest: Bool { parser.hasBegun && exchange == nil }
    var memorySize: Int { parser.count + (exchange?.collected?.bytes.count ?? 0) }
    var idleTime: Duration? { .seconds(75) }
    /// Replies are merged, so each response is written before the next request is parsed.
    var pipelines: Bool { false }
    /// An interruption would be parsed as part of the response.
    var acceptsErrorInReply: Bool { false }
    var showsLayers: Bool { true }
    var invalidInputError: TweakError? { nil }
    var incompleteInputError: TweakError? { nil }

    /// The encoder of events; export as text is chosen by the route.
    var encoder: ReplyEncoder { Self.json }

    /// Ignored: each route has its own encoder.
    func use(_ encoder: ReplyEncoder) {}

    /// Ignored: unauthenticated clients are limited by ``unauthenticatedBodyLimit``.
    func limitRequests(to bytes: Int) {}
    func forgetInput() {}

    func receive(_ bytes: UnsafeRawBufferPointer) -> DialectEcho? {
        // Input is ignored once the client reads an event stream.
        if !isStreaming, !hasEnded { parser.append(bytes) }
        return nil
    }

    func next(budget: Int, to bytes: inout [UInt8], _ answer: PlainAnswer) -> DialectStep? {
        while steps.isEmpty, exchange == nil, !hasEnded {
            if let request = mounted?.request.take() { begin(request) }
            if mounted != nil { break }
            guard let event = parser.next() else { return nil }
            handle(event)
        }
        return steps.popFirst()
    }

    private func handle(_ event: HTTPEvent) {
        switch event {
        case .head(let request): prepare(for: request)
        case .expectsContinue: steps.append(.send(HTTPWriter.continueResponse))
        case .request(let request): begin(request)
        case .failure(let failure):
            exchange = Exchange(ResponseFraming(failure))
            respond(failure.response, isProtocolError: true)
        }
    }

    // MARK: Replies

    func write(_ reply: Reply, _ encoder: ReplyEncoder, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        if repliesToDiscard > 0 {
            repliesToDiscard -= 1
            return nil
        }
        guard exchange != nil, !isStreaming else {
            if case .error(let error) = reply.status { endConnection(error, &bytes) }
            return nil
        }
        if exchange?.isAuthenticating == true { return finishAuthenticating(reply, &bytes) }
        if case .error(let error) = reply.status {
            refuse(error, &bytes)
            return nil
        }
        exchange?.repliesLeft -= 1
        if (exchange?.repliesLeft ?? 0) > 0 {
            exchange?.collect(reply)
            return nil
        }
        return answer(reply, &bytes)
    }

    /// Responds with an error, and aborts an open batch.
    func refuse(_ error: TweakError, _ bytes: inout [UInt8]) {
        guard let exchange else { return }
        steps = []
        if case .script(let script) = exchange.purpose, script.isBatch {
            let hasBegun = script.requests.count > exchange.repliesLeft
            // A failed commit ends its batch, except for errors that leave it open.
            let isOpen = hasBegun && (exchange.repliesLeft > 1 || error.leavesBatchOpen)
            if isOpen {
                repliesToDiscard = 1
                steps = [.perform(Request(.abort))]
            }
        }
        switch exchange.output {
        case .flag(let key)?: return write(OFREP.response(error, key: key), &bytes)
        case .flags?: return write(OFREP.response(error, key: nil), &bytes)
        default: break
        }
        var body: [UInt8] = []
        _ = Self.json.append(.error(error), to: &body)
        write(HTTPResponse(HTTPStatus(error), Self.jsonHeaders, body: body), &bytes)
    }

    /// Writes the response once the last reply has been received.
    private func answer(_ reply: Reply, _ bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        guard let exchange else { return nil }
        var whole = exchange.merged(reply)
        switch exchange.purpose {
        case .response, .bodyAdmission, .login: return nil
        case .events: return beginEvents(whole, &bytes)
        case .script(let script):
            var headers = Self.jsonHeaders
            switch script.output {
            case .last, .all: break
            case .text: headers = [HTTPField("Content-Type", "text/plain; charset=utf-8")]
            case .metrics(let format):
                headers = [format.header]
                whole = metrics(reply, format)
            case .flag(let key):
                writeFlag(key, reply, &bytes)
                return nil
            case .flags:
                whole = OFREP.flags(in: reply)
                self.exchange?.collected = OFREP.Flags()
            }
            var body: [UInt8] = []
            let rest = bodyEncoder.append(whole, to: &body)
            guard let rest else {
                write(HTTPResponse(.ok, headers, body: body), &bytes)
                return nil
            }
            return begin(rest, after: body, headers, to: &bytes)
        }
    }

    /// Begins a response of unknown length.
    private func begin(
        _ rest: ReplyEncoder.Remainder, after body: [UInt8], _ headers: [HTTPField], to bytes: inout [UInt8]
    ) -> ReplyEncoder.Remainder? {
        guard let framing = exchange?.framing else { return nil }
        if exchange?.collected != nil { return rest }
        let stream = PanelPage.writer.appendStream(.ok, headers, to: framing, into: &bytes)
        stream.append(body, to: &bytes)
        exchange?.stream = stream
        if !framing.isHead { return rest }
        end(stream, &bytes)
        return nil
    }

    func write(_ rest: ReplyEncoder.Remainder, budget: Int, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        if case .flags(let known)? = exchange?.output {
            return collectFlags(rest, budget: budget, known: known, to: &bytes)
        }
        guard let stream = exchange?.stream else { return nil }
        var part: [UInt8] = []
        let more = bodyEncoder.append(rest, budget: budget, to: &part)
        if more == nil, isStreaming { appendEventEnd(to: &part) }
        stream.append(part, to: &bytes)
        if more == nil, !isStreaming { end(stream, &bytes) }
        return more
    }

    func abort(_ rest: ReplyEncoder.Remainder, _ error: TweakError, to bytes: inout [UInt8]) {
        if exchange?.collected != nil { return refuse(error, &bytes) }
        guard let stream = exchange?.stream else { return }
        var part: [UInt8] = []
        bodyEncoder.abort(rest, error, to: &part)
        if isStreaming { appendEventEnd(to: &part) }
        stream.append(part, to: &bytes)
        if !isStreaming { end(stream, &bytes) }
    }

    private var bodyEncoder: ReplyEncoder {
        switch exchange?.output {
        case .text?, .metrics?, .flags?: Self.file
        case .last?, .all?, .flag?, nil: Self.json
        }
    }

    static let file = {
        var encoder = ReplyEncoder()
        encoder.isForFile = true
        return encoder
    }()

    static let json = {
        var encoder = ReplyEncoder()
        encoder.isJSON = true
        return encoder
    }()
    static let jsonHeaders = [HTTPField("Content-Type", "application/json")]

    // MARK: Endings

    /// Writes a complete response, and ends the exchange.
    func write(_ response: HTTPResponse, _ bytes: inout [UInt8]) {
        guard let framing = exchange?.framing else { return }
        PanelPage.writer.append(response, to: framing, into: &bytes)
        end(closes: framing.closes)
    }

    func prepareToEnd() { exchange?.framing.closes = true }

    func end(to bytes: inout [UInt8]) {
        hasEnded = true
        if isStreaming, let stream = exchange?.stream { end(stream, &bytes) }
    }

    func end(_ stream: ResponseFraming, _ bytes: inout [UInt8]) {
        stream.appendEnd(to: &bytes)
        if mounted != nil { bytes.append(MountedRequest.endOfBody) }
        end(closes: stream.closes)
    }

    private func end(closes: Bool) {
        exchange = nil
        isStreaming = false
        if closes { steps.append(.end(isForeignProtocol: false)) }
    }

    /// Sends a response that needs no reply of the server.
    func respond(
        _ response: HTTPResponse, isProtocolError: Bool = false, by writer: HTTPWriter = PanelPage.writer
    ) {
        guard let framing = exchange?.framing else { return }
        var bytes: [UInt8] = []
        writer.append(response, to: framing, into: &bytes)
        exchange = nil
        steps.append(.send(bytes))
        if framing.closes { steps.append(.end(isForeignProtocol: isProtocolError)) }
    }

    /// Ends the connection on the server's initiative.
    private func endConnection(_ error: TweakError, _ bytes: inout [UInt8]) {
        // On an idle connection a response would be read as the answer to a request that is on its way. A connection
        // without any request so far may receive `too-many`.
        let hasBegun = parser.hasBegun || mounted?.request != nil
        let isIdle = exchange == nil && !hasBegun && (hasReceivedRequest || error.code != .tooMany)
        // Responses that are ready are still sent.
        for case .send(let ready) in steps { bytes += ready }
        hasEnded = true
        steps = []
        if isStreaming, let stream = exchange?.stream {
            var line: [UInt8] = []
            var part: [UInt8] = []
            _ = Self.json.append(.error(error), to: &line)
            appendEvent("closing", revision: nil, json: line, to: &part)
            stream.append(part, to: &bytes)
            end(stream, &bytes)
        } else if !isIdle {
            var framing = ResponseFraming()
            var failure = HTTPFailure(error)
            framing.closes = true
            if error.code == .timeout {
                failure.status = .requestTimeout
                failure.message = "no complete request with a token came in time; send it again on another connection"
            }
            PanelPage.writer.append(failure.response, to: framing, into: &bytes)
        }
        steps = []
    }
}

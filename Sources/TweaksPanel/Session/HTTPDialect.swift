// A session over HTTP: requests to steps of the server, replies to responses and events.

import Tweaks
import TweaksServer
import TweaksWire

/// The dialect of one connection to the panel. Requests are carried out one after the other.
final class HTTPDialect: SessionDialect {
    let port: Int
    let gate: HTTPGuard
    let events: EventWriter
    var parser = HTTPParser(limits: HTTPDialect.limits)
    /// What is to be done before the next request is looked at.
    var steps: ArraySlice<DialectStep> = []
    var exchange: Exchange?
    let signIns: SignIns
    /// Tells what was shown and taken last.
    var identity: [UInt8]?
    /// The sign-in of the browser that asks.
    var page: String?
    /// So many replies that come next are nobody's.
    var unheard = 0
    /// The program at the other end was named.
    var isIntroduced = false
    /// The gesture, and whether replies wait for the disk, as the session was told last.
    var manner: (gesture: UInt64, waits: Bool) = (0, true)
    /// The window and the name that the session was told last.
    var person: (window: String?, name: PersonName?) = (nil, nil)
    var isStreaming = false
    var isResumed = false
    private var hasEnded = false
    /// A request has come, whole.
    var hasBegun = false

    init(_ place: FrontPlace, _ gate: HTTPGuard, _ signIns: SignIns) {
        self.signIns = signIns
        port = Int(place.port)
        self.gate = gate
        events = EventWriter(instance: place.instance)
    }

    private static let limits = {
        var limits = HTTPLimits()
        limits.body = strangersBody
        return limits
    }()

    var inputCount: Int { parser.count }
    var inputLimit: Int { parser.limits.body + 65_536 }
    var isInRequest: Bool { parser.hasBegun && exchange == nil }
    var heldBytes: Int { parser.count }
    var idleTime: Duration? { .seconds(75) }
    /// Replies are merged, and each is told before the next request is looked at.
    var pipelines: Bool { false }
    /// It would be taken for a part of the response.
    var takesInterruptions: Bool { false }
    var showsLayers: Bool { true }
    var isHopeless: Bool { false }
    var incompleteness: TweakError? { nil }

    /// Of events; a text is asked for by its route.
    var encoder: ReplyEncoder { Self.json }

    /// Each route has its own.
    func use(_ encoder: ReplyEncoder) {}

    /// Who is not known yet is bounded by ``strangersBody``.
    func limitRequests(to bytes: Int) {}
    func forgetInput() {}

    func take(_ bytes: UnsafeRawBufferPointer) -> DialectEcho? {
        // Whoever reads events has nothing more to say.
        if !isStreaming, !hasEnded { parser.append(bytes) }
        return nil
    }

    func next(budget: Int, to bytes: inout [UInt8], _ answer: PlainAnswer) -> DialectStep? {
        while steps.isEmpty, exchange == nil, !hasEnded {
            guard let event = parser.next() else { return nil }
            take(event)
        }
        return steps.popFirst()
    }

    private func take(_ event: HTTPEvent) {
        switch event {
        case .head(let request): prepare(for: request)
        case .expectsContinue: steps.append(.send(HTTPWriter.goOn))
        case .request(let request): begin(request)
        case .failure(let failure):
            exchange = Exchange(HTTPExchange(failure))
            respond(failure.response, isStranger: true)
        }
    }

    // MARK: Replies

    func write(_ reply: Reply, _ encoder: ReplyEncoder, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        if unheard > 0 {
            unheard -= 1
            return nil
        }
        guard exchange != nil, !isStreaming else {
            if case .error(let error) = reply.status { endUnasked(error, &bytes) }
            return nil
        }
        if exchange?.isAuthenticating == true { return finishAuthenticating(reply, &bytes) }
        if case .error(let error) = reply.status {
            refuse(error, &bytes)
            return nil
        }
        exchange?.repliesLeft -= 1
        if (exchange?.repliesLeft ?? 0) > 0 {
            exchange?.keepIfShown(reply)
            return nil
        }
        return answer(reply, &bytes)
    }

    /// Answers with an error; what was begun is taken back.
    func refuse(_ error: TweakError, _ bytes: inout [UInt8]) {
        guard let exchange else { return }
        steps = []
        if case .script(let script) = exchange.purpose, script.isBatch {
            let hasBegun = script.requests.count > exchange.repliesLeft
            // A commit that fails has ended its batch, unless it came too soon.
            let isOpen = hasBegun && (exchange.repliesLeft > 1 || error.leavesBatchOpen)
            if isOpen { (unheard, steps) = (1, [.perform(Request(.abort))]) }
        }
        var body: [UInt8] = []
        _ = Self.json.append(.error(error), to: &body)
        write(HTTPResponse(HTTPStatus(error), Self.jsonHeaders, body: body), &bytes)
    }

    /// Answers what is asked for, now that the last reply is there.
    private func answer(_ reply: Reply, _ bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        guard let exchange else { return nil }
        let whole = exchange.merged(reply)
        switch exchange.purpose {
        case .response, .admission, .login: return nil
        case .events: return beginEvents(whole, &bytes)
        case .script(let script):
            let isText = script.shows == .text
            let headers = isText ? [HTTPField("Content-Type", "text/plain; charset=utf-8")] : Self.jsonHeaders
            var body: [UInt8] = []
            let rest = bodyEncoder.append(whole, to: &body)
            guard let rest else {
                write(HTTPResponse(.ok, headers, body: body), &bytes)
                return nil
            }
            return begin(rest, body, headers, &bytes)
        }
    }

    /// Begins a response whose length is not known.
    private func begin(
        _ rest: ReplyEncoder.Remainder, _ body: [UInt8], _ headers: [HTTPField], _ bytes: inout [UInt8]
    ) -> ReplyEncoder.Remainder? {
        guard let framing = exchange?.framing else { return nil }
        let stream = PanelPage.writer.appendStream(.ok, headers, to: framing, into: &bytes)
        stream.append(body, to: &bytes)
        exchange?.stream = stream
        if !framing.isHead { return rest }
        end(stream, &bytes)
        return nil
    }

    func write(_ rest: ReplyEncoder.Remainder, budget: Int, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        guard let stream = exchange?.stream else { return nil }
        var part: [UInt8] = []
        let more = bodyEncoder.append(rest, budget: budget, to: &part)
        if more == nil, isStreaming { events.appendEnd(to: &part) }
        stream.append(part, to: &bytes)
        if more == nil, !isStreaming { end(stream, &bytes) }
        return more
    }

    func cut(_ rest: ReplyEncoder.Remainder, _ error: TweakError, to bytes: inout [UInt8]) {
        guard let stream = exchange?.stream else { return }
        var part: [UInt8] = []
        bodyEncoder.cut(rest, error, to: &part)
        if isStreaming { events.appendEnd(to: &part) }
        stream.append(part, to: &bytes)
        if !isStreaming { end(stream, &bytes) }
    }

    private var bodyEncoder: ReplyEncoder {
        if case .script(let script)? = exchange?.purpose, script.shows == .text { return Self.file }
        return Self.json
    }

    private static let file = {
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

    /// Writes a whole response, and ends the exchange.
    func write(_ response: HTTPResponse, _ bytes: inout [UInt8]) {
        guard let framing = exchange?.framing else { return }
        PanelPage.writer.append(response.challenging, to: framing, into: &bytes)
        end(closes: framing.closes)
    }

    func prepareToEnd() { exchange?.framing.closes = true }

    func end(to bytes: inout [UInt8]) {
        hasEnded = true
        if isStreaming, let stream = exchange?.stream { end(stream, &bytes) }
    }

    func end(_ stream: HTTPStream, _ bytes: inout [UInt8]) {
        stream.appendEnd(to: &bytes)
        end(closes: stream.closes)
    }

    private func end(closes: Bool) {
        (exchange, isStreaming) = (nil, false)
        if closes { steps.append(.end(isStranger: false)) }
    }

    /// Answers a request that is known without asking anybody.
    func respond(_ response: HTTPResponse, isStranger: Bool = false) {
        guard let framing = exchange?.framing else { return }
        var bytes: [UInt8] = []
        PanelPage.writer.append(response.challenging, to: framing, into: &bytes)
        exchange = nil
        steps.append(.send(bytes))
        if framing.closes { steps.append(.end(isStranger: isStranger)) }
    }

    /// The server ends this connection for a reason of its own.
    private func endUnasked(_ error: TweakError, _ bytes: inout [UInt8]) {
        // What nobody asked for would be taken for the answer to a request that is on its way. Who never asked anything
        // may be told that there is no room.
        let isIdle = exchange == nil && !parser.hasBegun && (hasBegun || error.code != .tooMany)
        // What is known already is still said.
        for case .send(let ready) in steps { bytes += ready }
        (hasEnded, steps) = (true, [])
        if isStreaming, let stream = exchange?.stream {
            var (line, part) = ([UInt8](), [UInt8]())
            _ = Self.json.append(.error(error), to: &line)
            events.append("closing", revision: nil, json: line, to: &part)
            stream.append(part, to: &bytes)
            end(stream, &bytes)
        } else if !isIdle {
            var (framing, failure) = (HTTPExchange(), HTTPFailure(error))
            framing.closes = true
            if error.code == .timeout {
                failure.status = .requestTimeout
                failure.message = "no whole request with a token came in time; send it again, on another connection"
            }
            PanelPage.writer.append(failure.response, to: framing, into: &bytes)
        }
        steps = []
    }
}

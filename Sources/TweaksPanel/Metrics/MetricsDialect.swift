// Translates HTTP on the port of the metrics, where every request is answered without the server.

import Tweaks
import TweaksServer
import TweaksWire

/// The dialect of one connection to the port of the metrics.
final class MetricsDialect: SessionDialect {
    private let endpoint: MetricsEndpoint
    private let place: EndpointAddress
    private var parser = HTTPParser(limits: MetricsDialect.limits)
    /// The response that is being written.
    private var page: Page?
    private var hasReceivedRequest = false
    private var hasEnded = false
    private var closes = false

    /// The rest of a response with metrics.
    private struct Page {
        let framing: ResponseFraming
        let part: (Int) -> [UInt8]?
        var position = 0
    }

    init(_ place: EndpointAddress, _ endpoint: MetricsEndpoint) {
        self.place = place
        self.endpoint = endpoint
    }

    /// No request here has a body.
    private static let limits = {
        var limits = HTTPLimits()
        limits.body = 0
        return limits
    }()

    // MARK: Requests

    func receive(_ bytes: UnsafeRawBufferPointer) -> DialectEcho? {
        if !hasEnded { parser.append(bytes) }
        return nil
    }

    func next(budget: Int, to bytes: inout [UInt8], _ answer: PlainAnswer) -> DialectStep? {
        if page != nil {
            write(budget: budget, to: &bytes)
            return .answered
        }
        if closes {
            hasEnded = true
            return .end(isForeignProtocol: false)
        }
        if hasEnded { return nil }
        switch parser.next() {
        case nil: return nil
        case .head?, .expectsContinue?: return .answered
        case .request(let request)?: return .send(respond(to: request))
        case .failure(let failure)?:
            closes = true
            return .send(Self.bytes(failure.response, ResponseFraming(failure)))
        }
    }

    /// Begins a response; that with metrics goes on in slices.
    private func respond(to request: HTTPRequest) -> [UInt8] {
        hasReceivedRequest = true
        let framing = ResponseFraming(request)
        closes = framing.closes
        do throws(HTTPFailure) {
            if let probe = try route(request) { return Self.bytes(probe.response(place.readiness), framing) }
        } catch {
            return Self.bytes(error.response, framing)
        }
        let format = MetricsFormat(request)
        var bytes: [UInt8] = []
        let stream = MetricsEndpoint.writer.appendStream(.ok, [format.header], to: framing, into: &bytes)
        closes = stream.closes
        page = Page(framing: stream, part: framing.isHead ? { _ in nil } : endpoint.parts(format, place.readiness))
        return bytes
    }

    /// The probe that a request is for; nil for the metrics.
    /// - Throws: 404, 405 and 421.
    private func route(_ request: HTTPRequest) throws(HTTPFailure) -> HealthProbe? {
        let probe = request.path.count == 1 ? HealthProbe(rawValue: request.path[0]) : nil
        guard probe != nil || request.path == ["metrics"] else {
            throw HTTPFailure(.unknownCommand, "this port has the paths /metrics, /healthz and /readyz, and no other")
        }
        guard ["GET", "HEAD"].contains(request.method) else {
            var failure = HTTPFailure(.methodNotAllowed, "unknown-command", "this port supports GET and HEAD; use GET")
            failure.headers = [HTTPField("Allow", "GET, HEAD")]
            throw failure
        }
        // A page of another site reaches loopback by a name of its own. Beyond it, names are the operator's.
        if probe == nil, place.address == nil, !HTTPGuard.isLoopback(request) {
            throw .misdirected("the header Host names another server; use http://127.0.0.1:\(place.port)/metrics")
        }
        return probe
    }

    private static func bytes(_ response: HTTPResponse, _ framing: ResponseFraming) -> [UInt8] {
        var bytes: [UInt8] = []
        MetricsEndpoint.writer.append(response, to: framing, into: &bytes)
        return bytes
    }

    /// Writes the next slice of the metrics.
    private func write(budget: Int, to bytes: inout [UInt8]) {
        guard var page else { return }
        var slice: [UInt8] = []
        let last = page.position + Self.partsPerSlice
        while slice.count < budget, page.position < last {
            guard let part = page.part(page.position) else {
                page.framing.append(slice, to: &bytes)
                page.framing.appendEnd(to: &bytes)
                self.page = nil
                return
            }
            slice += part
            page.position += 1
        }
        page.framing.append(slice, to: &bytes)
        self.page = page
    }

    /// Parts can be empty.
    private static let partsPerSlice = 256

    // MARK: The end of a connection

    func write(_ reply: Reply, _ encoder: ReplyEncoder, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        guard case .error(let error) = reply.status, !hasEnded else { return nil }
        hasEnded = true
        // Inside a response an error would be taken for a part of it, and on an idle connection for the answer to a
        // request that is on its way. A connection without any request so far may receive `too-many`.
        let isExpected = parser.hasBegun || !hasReceivedRequest && error.code == .tooMany
        if page == nil, isExpected { bytes += endpoint.refusal(error) }
        page = nil
        return nil
    }

    func end(to bytes: inout [UInt8]) { hasEnded = true }

    var inputCount: Int { parser.count }
    var inputLimit: Int { 65_536 }
    var memorySize: Int { parser.count }
    var isInRequest: Bool { parser.hasBegun && page == nil }
    var idleTime: Duration? { .seconds(75) }

    // MARK: Unsupported features

    let encoder = ReplyEncoder()
    var pipelines: Bool { false }
    var acceptsErrorInReply: Bool { false }
    var showsLayers: Bool { false }
    var isStreaming: Bool { false }
    var isResumed: Bool { false }
    var streamEndReason: TweakError? { nil }
    var invalidInputError: TweakError? { nil }
    var incompleteInputError: TweakError? { nil }

    func use(_ encoder: ReplyEncoder) {}
    func limitRequests(to bytes: Int) {}
    func forgetInput() {}
    func prepareToEnd() {}
    func abort(_ rest: ReplyEncoder.Remainder, _ error: TweakError, to bytes: inout [UInt8]) {}
    func write(_ event: Event, line: [UInt8], to bytes: inout [UInt8]) {}
    func writeHeartbeat(listingChanged: Bool, revision: UInt64, to bytes: inout [UInt8]) {}

    func write(_ rest: ReplyEncoder.Remainder, budget: Int, to bytes: inout [UInt8]) -> ReplyEncoder.Remainder? { nil }
}

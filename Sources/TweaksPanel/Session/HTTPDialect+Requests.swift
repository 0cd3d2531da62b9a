// Validates HTTP requests and turns each into steps for the server.

import Tweaks
import TweaksServer
import TweaksWire

extension HTTPDialect {
    /// The body limit in bytes for unauthenticated clients: a sign-in fits, and they may send nothing else.
    static let unauthenticatedBodyLimit = 4_096

    /// Verifies the credential of a request before a long body is accepted.
    func prepare(for request: HTTPRequest) {
        place = requestGuard.place(of: request) ?? .programs
        let credential = HTTPCredential(request, port: port)
        // An ended sign-in is reported once the request is complete.
        var steps: [DialectStep]?
        if let credential { steps = try? self.steps(for: credential) }
        parser.limits.body = steps?.isEmpty == true ? HTTPLimits().body : Self.unauthenticatedBodyLimit
        let length = request[header: "content-length"].flatMap { Int($0) } ?? .max
        guard let credential, let steps, !steps.isEmpty, length > Self.unauthenticatedBodyLimit else { return }
        if case .bearer(let token) = credential, !TokenSecret.isWellFormed(token) { return }
        exchange = Exchange(ResponseFraming(request), .bodyAdmission)
        // If the response is sent now, the body would be parsed as the next request.
        exchange?.framing.closes = true
        setUserAgent(request)
        if let failure = requestGuard.originFailure(of: request) { return refuse(failure, request) }
        authenticate(credential.fingerprint, steps)
    }

    /// Begins a complete request.
    func begin(_ request: HTTPRequest) {
        exchange = Exchange(ResponseFraming(request))
        hasReceivedRequest = true
        place = requestGuard.place(of: request) ?? .programs
        // Each step of a sign-in ends what an earlier one has begun on this connection, also if it cannot be read.
        if request.path == ["login"] { steps.append(.expect(nil)) }
        setUserAgent(request)
        do throws(HTTPFailure) {
            // Probes name the address of a container, and their answer is no secret.
            if !HealthProbe.isNamed(by: request), let failure = requestGuard.originFailure(of: request) {
                if failure.status == .misdirectedRequest, Self.isDocument(request) { return notice(failure.status) }
                throw failure
            }
            if let addition = endpoint.addition, addition.serves(request) { return try ask(addition, request) }
            try perform(try action(for: request), request)
        } catch {
            refuse(error, request)
        }
    }

    /// Lets the program answer, with the rules of the other routes.
    private func ask(_ addition: PanelExtension, _ request: HTTPRequest) throws(HTTPFailure) {
        if let failure = requestGuard.contentFailure(of: request) { throw failure }
        try identify(request)
        run([], .script(PanelScript([Request]())))
        exchange?.repliesLeft = 1
        steps.append(addition.step(request))
    }

    /// The action of a request. An unknown path or method is reported before an invalid body.
    private func action(for request: HTTPRequest) throws(HTTPFailure) -> PanelAction {
        let action = Result { () throws(HTTPFailure) in try PanelRouter.action(for: request) }
        if case .failure(let failure) = action, [.notFound, .methodNotAllowed].contains(failure.status) {
            throw failure
        }
        if let failure = requestGuard.contentFailure(of: request) { throw failure }
        return try action.get()
    }

    private func refuse(_ failure: HTTPFailure, _ request: HTTPRequest) {
        if failure.endsConnection { exchange?.framing.closes = true }
        respond(OFREP.isNamed(by: request) ? OFREP.response(failure, key: OFREP.key(of: request)) : failure.response)
    }

    private func perform(_ action: PanelAction, _ request: HTTPRequest) throws(HTTPFailure) {
        switch action {
        case .page where place.hasPage: respond(endpoint.page.markup(isMounted: place == .mounted))
        case .page: notice(place == .programs ? .ok : .misdirectedRequest)
        case .file(let name, let version): respond(try file(name, version))
        case .openAPI: respond(PanelPage.openAPI)
        case .probe(let probe): respond(probe.response(readiness))
        case .logout where place == .mounted, .login where place == .mounted: throw Self.noSignIn
        case .logout: logOut(request)
        case .login(let step): try logIn(step, request)
        case .script(let script):
            // Before authentication: a refusal drops the steps that follow it.
            updateRequestOptions(dragID(request, try fingerprint(request)), waits: script.waitsForDisk)
            try identify(request)
            run(script.requests, .script(script))
        case .events(let patterns, let lastID):
            try identify(request)
            let since = revision(after: lastID)
            let watch = Request(.watch, patterns, number: since)
            exchange?.resumeRevision = since
            let about = [Request(.hello, [], [.json], number: 1), Request(.whoami)]
            // HEAD starts no stream, so it watches nothing; `get` is refused in the same cases as `watch`.
            let isHead = exchange?.framing.isHead == true
            run(about + [isHead ? Request(.get, patterns) : watch], .events)
        }
    }

    private static let noSignIn = HTTPFailure(
        .notFound, "unknown-command", "the panel has no sign-in here: the site has authenticated this request already")

    /// Responds with the page that says how to open the panel.
    private func notice(_ status: HTTPStatus) {
        var response = PanelNotice.response
        response.status = status
        respond(response, by: PanelNotice.writer)
    }

    /// Whether a browser asks for a document, which its user sees.
    private static func isDocument(_ request: HTTPRequest) -> Bool {
        ["GET", "HEAD"].contains(request.method) && request.path.isEmpty
            && request[header: "sec-fetch-dest"].map { HTTPSyntax.isSame($0, "document") } ?? false
    }

    private func file(_ name: String, _ version: String) throws(HTTPFailure) -> HTTPResponse {
        guard place.hasPage else { throw Self.elsewhere }
        if let file = endpoint.page.file(name, version: version) { return file }
        let message = "this version of the page has no file \(Quoting.excerpt(name)); reload /"
        throw HTTPFailure(.notFound, "unknown-command", message)
    }

    private func run(_ requests: [Request], _ purpose: Exchange.Purpose) {
        exchange?.purpose = purpose
        exchange?.repliesLeft = requests.count
        steps += requests.map(DialectStep.perform)
    }

    /// Sends the options of the following changes to the session, where they differ from the last ones.
    private func updateRequestOptions(_ gesture: UInt64, waits: Bool) {
        if requestOptions.gesture != gesture { steps.append(.gesture(gesture)) }
        if requestOptions.waits != waits { steps.append(.waitForDisk(waits)) }
        requestOptions = (gesture, waits)
    }

    /// The ID of the drag that a change is part of, 0 for none. It depends on the credential, too, so that clients
    /// cannot join each other's drags.
    private func dragID(_ request: HTTPRequest, _ fingerprint: [UInt8]) -> UInt64 {
        guard let name = request[header: "tweaks-drag"], !name.isEmpty else { return 0 }
        let digest = SHA256.digest(fingerprint + Array(name.utf8))
        return digest.prefix(8).reduce(1) { $0 << 8 | UInt64($1) } | 1
    }

    /// Sends the browser window and the name of its user to the session, where they differ from the last ones.
    func updatePerson(_ request: HTTPRequest) throws(HTTPFailure) {
        let window = request[header: "tweaks-window"]
        if let window, !(8...64).contains(window.utf8.count) || !Base64.isForURL(window) {
            throw HTTPFailure(.usage, "Tweaks-Window: write 8 to 64 letters and digits, made at random")
        }
        let name = try request[header: "tweaks-name"].flatMap { text throws(HTTPFailure) in try Self.name(text) }
        if (window, name) == identity { return }
        identity = (window, name)
        steps.append(.identity(window: window, name))
    }

    /// The name is percent-encoded, because a header holds only ASCII.
    private static func name(_ text: String) throws(HTTPFailure) -> DisplayName? {
        if text.isEmpty { return nil }
        guard let decoded = HTTPSyntax.decoded(text) else {
            throw HTTPFailure(.usage, "Tweaks-Name: write it as in an address, as encodeURIComponent does")
        }
        do throws(TweakError) {
            return try DisplayName(decoded)
        } catch {
            throw HTTPFailure(TweakError(error.code, "Tweaks-Name: \(error.message)"))
        }
    }

    /// Sends the name of the browser to the session, once per connection.
    private func setUserAgent(_ request: HTTPRequest) {
        guard !hasUserAgent, let agent = request[header: "user-agent"] else { return }
        hasUserAgent = true
        steps.append(.clientDescription(Browser.name(agent)))
    }
}

/// Names of browsers in the header User-Agent.
enum Browser {
    private static let known = [
        ("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]

    /// The name of a browser; for another program, the first word of the header.
    static func name(_ agent: String) -> String {
        if let found = known.first(where: { !agent.occurrences(of: $0.0).isEmpty }) { return found.1 }
        let first = agent.prefix { $0 != " " }
        return String(first.unicodeScalars.prefix(40).map(Character.init))
    }
}

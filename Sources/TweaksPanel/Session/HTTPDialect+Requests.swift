// A whole request: whether it may be asked, what it comes to, and who asks.

import Tweaks
import TweaksServer
import TweaksWire

extension HTTPDialect {
    /// What somebody may send who has not shown a token that is one; a token is all that there is to say then.
    static let strangersBody = 4_096

    /// A body is on its way. A long one is taken from those alone whose token is one, so it is looked at first.
    func prepare(for request: HTTPRequest) {
        let credential = HTTPCredential(request, port: port)
        // What is no sign-in any more is said when the request is whole.
        var steps: [DialectStep]?
        if let credential { steps = try? self.steps(for: credential) }
        parser.limits.body = steps?.isEmpty == true ? HTTPLimits().body : Self.strangersBody
        let length = request[header: "content-length"].flatMap { Int($0) } ?? .max
        guard let credential, let steps, !steps.isEmpty, length > Self.strangersBody else { return }
        if case .bearer(let token) = credential, !TokenSecret.isWellFormed(token) { return }
        exchange = Exchange(HTTPExchange(request), .admission)
        // Where it is answered now, the body would be taken for the next request.
        exchange?.framing.closes = true
        introduce(request)
        if let failure = gate.originFailure(of: request) { return refuse(failure) }
        authenticate(credential.fingerprint, steps)
    }

    /// Begins to carry out a request.
    func begin(_ request: HTTPRequest) {
        exchange = Exchange(HTTPExchange(request))
        hasBegun = true
        introduce(request)
        do throws(HTTPFailure) {
            if let failure = gate.originFailure(of: request) { throw failure }
            try carryOut(try action(for: request), request)
        } catch {
            refuse(error)
        }
    }

    /// What it asks for. That there is no such thing, or not in this way, is said before what is wrong with its body.
    private func action(for request: HTTPRequest) throws(HTTPFailure) -> PanelAction {
        let action = Result { () throws(HTTPFailure) in try PanelRouter.action(for: request) }
        if case .failure(let failure) = action, [.notFound, .methodNotAllowed].contains(failure.status) {
            throw failure
        }
        if let failure = gate.contentFailure(of: request) { throw failure }
        return try action.get()
    }

    private func refuse(_ failure: HTTPFailure) {
        if failure.endsConnection { exchange?.framing.closes = true }
        respond(failure.response)
    }

    private func carryOut(_ action: PanelAction, _ request: HTTPRequest) throws(HTTPFailure) {
        switch action {
        case .page: respond(PanelPage.markup)
        case .file(let name, let version): respond(try file(name, version))
        case .openAPI: respond(PanelPage.openAPI)
        case .logout: logOut(request)
        case .login(let step): try logIn(step, request)
        case .script(let script):
            // First: whoever is turned away takes all steps behind that along.
            takeManner(gesture(request, try credential(request)), waits: script.waitsForDisk)
            try identify(request)
            run(script.requests, .script(script))
        case .events(let patterns, let lastID):
            try identify(request)
            let since = events.revision(after: lastID)
            let watch = Request(.watch, patterns, number: since)
            exchange?.since = since
            let about = [Request(.hello, [], [.json], number: 1), Request(.whoami)]
            // Where there is to be no stream, nothing is watched; what is refused is the same.
            let isHead = exchange?.framing.isHead == true
            run(about + [isHead ? Request(.get, patterns) : watch], .events)
        }
    }

    private func file(_ name: String, _ version: String) throws(HTTPFailure) -> HTTPResponse {
        if let file = PanelPage.file(name, version: version) { return file }
        let message = "the page of this program has no file \(Quoting.excerpt(name)) in that version; load / again"
        throw HTTPFailure(.notFound, "unknown-command", message)
    }

    private func run(_ requests: [Request], _ purpose: Exchange.Purpose) {
        exchange?.purpose = purpose
        exchange?.repliesLeft = requests.count
        steps += requests.map(DialectStep.perform)
    }

    /// Tells the session in which manner the changes that follow are made, where that is another one than before.
    private func takeManner(_ gesture: UInt64, waits: Bool) {
        if manner.gesture != gesture { steps.append(.gesture(gesture)) }
        if manner.waits != waits { steps.append(.waitForDisk(waits)) }
        manner = (gesture, waits)
    }

    /// The drag that a change is part of; whose it is makes a part of it.
    private func gesture(_ request: HTTPRequest, _ credential: HTTPCredential) -> UInt64 {
        guard let name = request[header: "tweaks-drag"], !name.isEmpty else { return 0 }
        let digest = SHA256.digest(credential.fingerprint + Array(name.utf8))
        return digest.prefix(8).reduce(1) { $0 << 8 | UInt64($1) } | 1
    }

    /// Tells the session which window of a browser asks, and how the person there is called, where that is new.
    func takePerson(_ request: HTTPRequest) throws(HTTPFailure) {
        let window = request[header: "tweaks-window"]
        if let window, !(8...64).contains(window.utf8.count) || !Base64.isForURL(window) {
            throw HTTPFailure(.usage, "Tweaks-Window: write 8 to 64 letters and digits, made at random")
        }
        let name = try request[header: "tweaks-name"].flatMap { text throws(HTTPFailure) in try Self.name(text) }
        if (window, name) == person { return }
        person = (window, name)
        steps.append(.person(window: window, name))
    }

    /// A header holds ASCII alone, so the name is written as in an address.
    private static func name(_ text: String) throws(HTTPFailure) -> PersonName? {
        if text.isEmpty { return nil }
        guard let decoded = HTTPTarget.decoded(text) else {
            throw HTTPFailure(.usage, "Tweaks-Name: write it as in an address, as encodeURIComponent does")
        }
        do throws(TweakError) {
            return try PersonName(decoded)
        } catch {
            throw HTTPFailure(TweakError(error.code, "Tweaks-Name: \(error.message)"))
        }
    }

    /// Names the browser for people, once.
    private func introduce(_ request: HTTPRequest) {
        guard !isIntroduced, let agent = request[header: "user-agent"] else { return }
        isIntroduced = true
        steps.append(.introduce(Browser.name(agent)))
    }
}

extension HTTPResponse {
    /// Says how to show who one is, where that is what is lacking (RFC 9110, section 15.5.2).
    var challenging: HTTPResponse {
        if status != .unauthorized { return self }
        var response = self
        response.headers.append(HTTPField("WWW-Authenticate", "Bearer realm=\"tweaks\""))
        return response
    }
}

/// What programs say they are.
enum Browser {
    private static let known = [
        ("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]

    /// The name of a browser; of another program what stands first.
    static func name(_ agent: String) -> String {
        if let found = known.first(where: { !agent.places(of: $0.0).isEmpty }) { return found.1 }
        let first = agent.prefix { $0 != " " }
        return String(first.unicodeScalars.prefix(40).map(Character.init))
    }
}

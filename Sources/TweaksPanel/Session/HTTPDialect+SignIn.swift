// Authenticates HTTP requests: the token of a program, or a browser that signs in, is signed in, and signs out.

import Tweaks
import TweaksServer
import TweaksWire

extension HTTPDialect {
    /// What the request shows.
    func credential(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPCredential {
        if let credential = HTTPCredential(request, port: port) { return credential }
        throw Self.unauthorized(
            "show a token: open the address that the process has printed, or send Authorization: Bearer")
    }

    static func unauthorized(_ message: String) -> HTTPFailure { HTTPFailure(TweakError(.authRequired, message)) }

    /// The steps by which what is shown is looked at; none for what this connection has shown before and is still good.
    func steps(for credential: HTTPCredential) throws(HTTPFailure) -> [DialectStep] {
        let proof: Request.Proof
        switch credential {
        case .bearer(let token): proof = .plain(token)
        case .page(let id, let key):
            // Looked up each time: a sign-in ends with a logout on any connection.
            guard let signIn = signIns.signIn(id, pageKey: key) else {
                throw Self.unauthorized("this page's key has ended, or is not this browser's; load the page again")
            }
            proof = .keyID(signIn.keyID)
        }
        return identity == credential.fingerprint ? [] : [.forget, .perform(Request(.auth, payload: .proof(proof)))]
    }

    /// Has what is shown looked at, unless it is what this connection has shown before.
    func identify(_ request: HTTPRequest) throws(HTTPFailure) {
        let credential = try credential(request)
        let steps = try steps(for: credential)
        // First: by its token it gets into the window.
        try takePerson(request)
        if case .page(let id, _) = credential { page = id } else { page = nil }
        if !steps.isEmpty { authenticate(credential.fingerprint, steps) }
    }

    func authenticate(_ fingerprint: [UInt8], _ steps: [DialectStep]) {
        identity = nil
        exchange?.fingerprint = fingerprint
        exchange?.isAuthenticating = true
        self.steps += steps
    }

    var ending: TweakError? {
        guard let page, signIns[page] == nil else { return nil }
        return TweakError(.closing, "this browser is signed out, or has been signed in for too long; sign in again")
    }

    // MARK: Signing in

    func logIn(_ step: PanelLogin, _ request: HTTPRequest) throws(HTTPFailure) {
        // The connection is one of its window from now on. A name that is none is refused with what is asked next.
        try? takePerson(request)
        switch step {
        case .begin(let first):
            do throws(TweakError) {
                say([(Scram.field, .string(try signIns.begin(first)))])
            } catch {
                throw HTTPFailure(error)
            }
        case .finish(let last):
            guard let scram = signIns.exchange(of: last) else {
                throw HTTPFailure(.usage, "there is no such challenge, or it was answered, or is too old; begin again")
            }
            exchange?.purpose = .login(nil, keyID: scram.user)
            exchange?.replaced = HTTPCredential.signIn(in: request, port: port)
            authenticate([], [.forget, .perform(Request(.auth, payload: .proof(.exchange(scram, last: last))))])
        case .ask: say([("challenge", .string(signIns.challenge()))])
        case .answer(let challenge, let answer):
            guard let id = HTTPCredential.signIn(in: request, port: port),
                let signIn = signIns.signIn(id, answering: challenge, answer)
            else { throw Self.unauthorized("this browser is not signed in any more; sign in with a token") }
            exchange?.purpose = .login(signIn, keyID: signIn.keyID)
            authenticate(Array(id.utf8), [.forget, .perform(Request(.auth, payload: .proof(.keyID(signIn.keyID))))])
        }
    }

    private func say(_ fields: [(String, JSON)]) {
        var body: [UInt8] = []
        _ = Self.json.append(.ok("", fields), to: &body)
        respond(HTTPResponse(.ok, Self.jsonHeaders, body: body))
    }

    /// Ends the sign-in of a browser; its cookie says which.
    func logOut(_ request: HTTPRequest) {
        if let id = HTTPCredential.signIn(in: request, port: port) { signIns.remove(id) }
        identity = nil
        steps.append(.forget)
        respond(HTTPResponse(.noContent, [HTTPCredential.logout(port: port)]))
    }

    // MARK: What came of it

    /// Goes on when a token was judged: with what was asked for, or with nothing.
    func finishAuthenticating(_ reply: Reply, _ bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        exchange?.isAuthenticating = false
        guard case .ok = reply.status, let fingerprint = exchange?.fingerprint else {
            steps = []
            guard case .error(let error) = reply.status else { return nil }
            // The token is another one by now, or none. Where there is no room at the moment, it is as good as before.
            if error.code == .denied, case .login(let signIn?, _)? = exchange?.purpose { signIns.remove(signIn.id) }
            refuseToken(error, &bytes)
            return nil
        }
        identity = fingerprint
        switch exchange?.purpose {
        case .admission?:
            parser.limits.body = HTTPLimits().body
            exchange = nil
        case .login(let signIn, let keyID)?: admit(signIn, keyID, reply, &bytes)
        default: break
        }
        return nil
    }

    /// Gives a page its key; and a browser that has just shown a token a cookie.
    private func admit(_ known: SignIn?, _ keyID: String, _ reply: Reply, _ bytes: inout [UInt8]) {
        guard case .ok(let words, var fields) = reply.status else { return }
        var headers = Self.jsonHeaders
        guard let signIn = known ?? Self.takeKey(&fields).map({ signIns.add(keyID: keyID, key: $0) }) else { return }
        identity = Array(signIn.id.utf8)
        if known == nil {
            if let old = exchange?.replaced { signIns.remove(old) }
            headers.append(HTTPCredential.login(signIn.id, port: port))
        }
        var (reply, body) = (reply, [UInt8]())
        reply.status = .ok(words: words, fields: fields + [("key", .string(signIns.pageKey(signIn)))])
        _ = Self.json.append(reply, to: &body)
        write(HTTPResponse(.ok, headers, body: body), &bytes)
    }

    /// What is not for the client.
    private static func takeKey(_ fields: inout [(String, JSON)]) -> [UInt8]? {
        guard let position = fields.firstIndex(where: { $0.0 == Request.Proof.sessionKey }),
            case .string(let text) = fields.remove(at: position).1
        else { return nil }
        return Base64.decode(text)
    }

    /// A wrong token is no lack of rights: another one may help. What is wrong with it is not said.
    private func refuseToken(_ error: TweakError, _ bytes: inout [UInt8]) {
        var failure = HTTPFailure(error)
        if error.code == .denied { failure.status = .unauthorized }
        write(failure.response, &bytes)
    }
}

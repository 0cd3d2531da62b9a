// Authenticates HTTP requests by token or browser sign-in, and signs browsers in and out.

import Tweaks
import TweaksServer
import TweaksWire

extension HTTPDialect {
    /// The credential of a request.
    func credential(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPCredential {
        if let credential = HTTPCredential(request, port: port) { return credential }
        throw Self.unauthorized(
            "a token is required: open the address that the process has printed, or send Authorization: Bearer")
    }

    static func unauthorized(_ message: String) -> HTTPFailure { HTTPFailure(TweakError(.authRequired, message)) }

    /// The steps that verify a credential; none for the one that this connection has verified before and is still
    /// valid.
    func steps(for credential: HTTPCredential) throws(HTTPFailure) -> [DialectStep] {
        let proof: Request.Proof
        switch credential {
        case .bearer(let token): proof = .plain(token)
        case .page(let id, let key):
            // Looked up for each request: a logout on another connection may have ended the sign-in.
            guard let signIn = signIns.signIn(id, pageKey: key) else {
                throw Self.unauthorized("this page's key has expired, or belongs to another browser; reload the page")
            }
            proof = .keyID(signIn.keyID)
        }
        if verifiedFingerprint == credential.fingerprint { return [] }
        return [.forget, .perform(Request(.auth, payload: .proof(proof)))]
    }

    /// Authenticates a request, unless this connection has verified the same credential before.
    func identify(_ request: HTTPRequest) throws(HTTPFailure) {
        let credential = try credential(request)
        let steps = try steps(for: credential)
        // Before authentication, which assigns the connection to its window.
        try updatePerson(request)
        if case .page(let id, _) = credential { signInID = id } else { signInID = nil }
        if !steps.isEmpty { authenticate(credential.fingerprint, steps) }
    }

    func authenticate(_ fingerprint: [UInt8], _ steps: [DialectStep]) {
        verifiedFingerprint = nil
        exchange?.fingerprint = fingerprint
        exchange?.isAuthenticating = true
        self.steps += steps
    }

    var streamEndReason: TweakError? {
        guard let signInID, signIns[signInID] == nil else { return nil }
        return TweakError(.closing, "this browser has signed out, or its sign-in has expired; sign in again")
    }

    // MARK: Signing in

    func logIn(_ step: PanelLogin, _ request: HTTPRequest) throws(HTTPFailure) {
        // Assigns the connection to its window. An invalid name is refused with the next request.
        try? updatePerson(request)
        switch step {
        case .begin(let first):
            do throws(TweakError) {
                let challenge = try signIns.begin(first)
                steps.append(.expect(keyID: try Scram.Server(first).user))
                respond([(Scram.field, .string(challenge))])
            } catch {
                throw HTTPFailure(error)
            }
        case .finish(let last):
            guard let scram = signIns.exchange(of: last) else {
                throw HTTPFailure(.usage, "there is no such challenge, or it was answered or has expired; begin again")
            }
            exchange?.purpose = .login(nil, keyID: scram.user)
            exchange?.replacedSignInID = HTTPCredential.signIn(in: request, port: port)
            authenticate([], [.forget, .perform(Request(.auth, payload: .proof(.exchange(scram, last: last))))])
        case .challenge: respond([("challenge", .string(signIns.challenge()))])
        case .answer(let challenge, let answer):
            guard let id = HTTPCredential.signIn(in: request, port: port),
                let signIn = signIns.signIn(id, answering: challenge, answer)
            else { throw Self.unauthorized("this browser is no longer signed in; sign in with a token") }
            exchange?.purpose = .login(signIn, keyID: signIn.keyID)
            authenticate(Array(id.utf8), [.forget, .perform(Request(.auth, payload: .proof(.keyID(signIn.keyID))))])
        }
    }

    private func respond(_ fields: [(String, JSON)]) {
        var body: [UInt8] = []
        _ = Self.json.append(.ok("", fields), to: &body)
        respond(HTTPResponse(.ok, Self.jsonHeaders, body: body))
    }

    /// Ends the sign-in that the browser's cookie names.
    func logOut(_ request: HTTPRequest) {
        if let id = HTTPCredential.signIn(in: request, port: port) { signIns.remove(id) }
        verifiedFingerprint = nil
        steps.append(.forget)
        respond(HTTPResponse(.noContent, [HTTPCredential.logout(port: port)]))
    }

    // MARK: Results

    /// Continues the request after authentication, or refuses it.
    func finishAuthenticating(_ reply: Reply, _ bytes: inout [UInt8]) -> ReplyEncoder.Remainder? {
        exchange?.isAuthenticating = false
        guard case .ok = reply.status, let fingerprint = exchange?.fingerprint else {
            steps = []
            guard case .error(let error) = reply.status else { return nil }
            // Denied: the token was renewed or removed. Other errors, such as a lack of room, leave the sign-in valid.
            if error.code == .denied, case .login(let signIn?, _)? = exchange?.purpose { signIns.remove(signIn.id) }
            refuseToken(error, &bytes)
            return nil
        }
        verifiedFingerprint = fingerprint
        switch exchange?.purpose {
        case .bodyAdmission?:
            parser.limits.body = HTTPLimits().body
            exchange = nil
        case .login(let signIn, let keyID)?: completeSignIn(signIn, keyID, reply, &bytes)
        default: break
        }
        return nil
    }

    /// Sends a page its key, and a browser with a new sign-in its cookie.
    private func completeSignIn(_ known: SignIn?, _ keyID: String, _ reply: Reply, _ bytes: inout [UInt8]) {
        guard case .ok(let words, var fields) = reply.status else { return }
        var headers = Self.jsonHeaders
        guard let signIn = known ?? Self.removeSessionKey(&fields).map({ signIns.add(keyID: keyID, key: $0) }) else {
            return
        }
        verifiedFingerprint = Array(signIn.id.utf8)
        if known == nil {
            if let old = exchange?.replacedSignInID { signIns.remove(old) }
            headers.append(HTTPCredential.login(signIn.id, port: port))
        }
        var (reply, body) = (reply, [UInt8]())
        reply.status = .ok(words: words, fields: fields + [("key", .string(signIns.pageKey(signIn)))])
        _ = Self.json.append(reply, to: &body)
        write(HTTPResponse(.ok, headers, body: body), &bytes)
    }

    /// Removes the session key from the fields, which must not reach the client.
    private static func removeSessionKey(_ fields: inout [(String, JSON)]) -> [UInt8]? {
        guard let position = fields.firstIndex(where: { $0.0 == Request.Proof.sessionKey }),
            case .string(let text) = fields.remove(at: position).1
        else { return nil }
        return Base64.decode(text)
    }

    /// Refuses a token with 401 and not 403, since another token may be accepted. The reason is not disclosed.
    private func refuseToken(_ error: TweakError, _ bytes: inout [UInt8]) {
        var failure = HTTPFailure(error)
        if error.code == .denied { failure.status = .unauthorized }
        write(failure.response, &bytes)
    }
}

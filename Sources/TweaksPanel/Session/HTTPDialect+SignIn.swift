// Authenticates HTTP requests by token or browser sign-in, and signs browsers in and out.

import Tweaks
import TweaksServer
import TweaksWire

extension HTTPDialect {
    /// The credential of a request.
    func credential(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPCredential {
        if let credential = HTTPCredential(request, port: port) { return credential }
        throw Self.unauthorized(
            "a token is required: send Authorization: Bearer with what tweakctl NAME panel token prints, or open the "
                + "panel by tweakctl NAME panel")
    }

    /// The failure of a request for the page, or for a sign-in, at an address that has none.
    static let elsewhere = HTTPFailure.misdirected(
        "this address of the panel is of an earlier start, or for programs; tweakctl NAME panel opens the panel")

    static func unauthorized(_ message: String) -> HTTPFailure { HTTPFailure(TweakError(.authRequired, message)) }

    /// The steps that verify a credential; none for the one that this connection has verified before and is still
    /// valid.
    func steps(for credential: HTTPCredential) throws(HTTPFailure) -> [DialectStep] {
        let proof: Request.Proof
        switch credential {
        case .bearer(let token):
            if case .earlier = place { throw Self.elsewhere }
            proof = .plain(token)
        case .page(let id, let key):
            // Looked up for each request: a logout on another connection may have ended the sign-in.
            guard let signIn = signIns.signIn(id, pageKey: key), signIn.origin == place.origin else {
                throw Self.unauthorized("this page's key has expired, or belongs to another browser; reload the page")
            }
            proof = .keyID(signIn.keyID)
        }
        if verifiedFingerprint == credential.fingerprint { return [] }
        return [.forget, .perform(Request(.auth, payload: .proof(proof)))]
    }

    /// Authenticates a request, unless this connection has verified the same credential before.
    func identify(_ request: HTTPRequest) throws(HTTPFailure) {
        if mounted != nil { return try updatePerson(request) }
        let credential = try credential(request)
        let steps = try steps(for: credential)
        // Before authentication, which assigns the connection to its window.
        try updatePerson(request)
        if case .page(let id, _) = credential { signInID = id } else { signInID = nil }
        if !steps.isEmpty { authenticate(credential.fingerprint, steps) }
    }

    /// Identifies the client of a request among others; contains no secret.
    func fingerprint(_ request: HTTPRequest) throws(HTTPFailure) -> [UInt8] {
        if let mounted { return mounted.caller }
        return try credential(request).fingerprint
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
        case .begin(let first): try begin(first)
        case .finish(let last): try finish(last, request)
        case .challenge: challenge(request)
        case .prove(let key, let nonce): try prove(key, nonce, request)
        case .answer(let challenge, let answer): try check(answer, to: challenge, request)
        }
    }

    private func begin(_ first: String) throws(HTTPFailure) {
        if case .earlier = place { throw Self.elsewhere }
        do throws(TweakError) {
            let challenge = try signIns.begin(first)
            let user = try Scram.Server(first).user
            // A code stands for the panel's own token.
            steps.append(.expect(ExpectedKey(endpoint.code(keyID: user)?.keyID ?? user, name: user)))
            respond([(Scram.field, .string(challenge))])
        } catch {
            throw HTTPFailure(error)
        }
    }

    private func finish(_ last: String, _ request: HTTPRequest) throws(HTTPFailure) {
        if case .earlier = place { throw Self.elsewhere }
        guard let scram = signIns.exchange(of: last) else {
            throw HTTPFailure(.usage, "there is no such challenge, or it was answered or has expired; begin again")
        }
        let code = endpoint.code(keyID: scram.user)
        exchange?.purpose = .login(
            Exchange.Login(
                keyID: code?.keyID ?? scram.user, code: code,
                replaced: HTTPCredential.signIn(in: request, port: port), exchange: scram.nonce))
        let proof = Request.Proof.exchange(scram, last: last, code: code)
        authenticate([], [.forget, .perform(Request(.auth, payload: .proof(proof)))])
    }

    private func challenge(_ request: HTTPRequest) {
        let signIn = HTTPCredential.signIn(in: request, port: port).flatMap { signIns[$0] }
        if let signIn, isSignedIn(signIn, by: .browser) { expectKey(of: signIn) }
        respond([("challenge", .string(signIns.challenge()))])
    }

    private func prove(_ key: SignIn.Key, _ nonce: String, _ request: HTTPRequest) throws(HTTPFailure) {
        guard let id = HTTPCredential.signIn(in: request, port: port), let signIn = signIns[id],
            isSignedIn(signIn, by: key), let (challenge, proof) = signIns.prove(key, of: id, nonce: nonce)
        else { throw Self.signedOut }
        expectKey(of: signIn)
        respond([("challenge", .string(challenge)), ("proof", .string(Base64.encode(proof)))])
    }

    private func expectKey(of signIn: SignIn) {
        steps.append(.expect(ExpectedKey(signIn.keyID, name: signIn.id)))
    }

    private func check(
        _ answer: [UInt8], to challenge: String, _ request: HTTPRequest
    ) throws(HTTPFailure) {
        guard let id = HTTPCredential.signIn(in: request, port: port),
            let (signIn, key) = signIns.signIn(id, answering: challenge, answer), isSignedIn(signIn, by: key)
        else { throw Self.signedOut }
        let login = Exchange.Login(known: signIn, keyID: signIn.keyID, exchange: key == .page ? nil : challenge)
        exchange?.purpose = .login(login)
        authenticate(Array(id.utf8), [.forget, .perform(Request(.auth, payload: .proof(.keyID(signIn.keyID))))])
    }

    private static let signedOut = unauthorized(
        "this browser is not signed in here any more; open the panel again by tweakctl NAME panel")

    /// Whether a key of a sign-in is valid at this address. The key that a browser stores is not valid at an earlier one:
    /// a program that had the port meanwhile can use it there.
    private func isSignedIn(_ signIn: SignIn?, by key: SignIn.Key) -> Bool {
        guard let signIn, signIn.origin == place.origin else { return false }
        switch place {
        case .mounted: return false
        case .programs: return key == .browser
        case .page: return true
        case .name, .earlier: return key == .page
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
            if error.code == .denied, case .login(let login)? = exchange?.purpose, let known = login.known {
                signIns.remove(known.id)
            }
            refuseToken(error, &bytes)
            return nil
        }
        verifiedFingerprint = fingerprint
        switch exchange?.purpose {
        case .bodyAdmission?:
            parser.limits.body = HTTPLimits().body
            exchange = nil
        case .login(let login)?: completeSignIn(login, reply, &bytes)
        default: break
        }
        return nil
    }

    /// Sends a page its keys, and a browser with a new sign-in its cookie.
    private func completeSignIn(_ login: Exchange.Login, _ reply: Reply, _ bytes: inout [UInt8]) {
        guard case .ok(let words, var fields) = reply.status else { return }
        let sessionKey = Self.removeSessionKey(&fields)
        if let code = login.code, !endpoint.spend(code) {
            verifiedFingerprint = nil
            steps.append(.forget)
            let message = "another browser has used this code a moment ago; tweakctl NAME panel prints the next one"
            return write(Self.unauthorized(message).response, &bytes)
        }
        guard let signIn = login.known ?? sessionKey.map({ add(login, key: $0) }) else { return }
        verifiedFingerprint = Array(signIn.id.utf8)
        var headers = Self.jsonHeaders
        var isStored = login.known == nil
        if case .name = place { isStored = false }
        if isStored { headers.append(HTTPCredential.login(signIn.id, port: port)) }
        fields.append(("key", .string(signIns.pageKey(signIn))))
        if place != .programs, let text = login.exchange {
            fields.append(("signIn", .string(signIn.id)))
            fields.append(("openKey", .string(Base64.encode(signIn.sealedOpenKey(text)))))
        }
        var reply = reply
        var body: [UInt8] = []
        reply.status = .ok(words: words, fields: fields)
        _ = Self.json.append(reply, to: &body)
        write(HTTPResponse(.ok, headers, body: body), &bytes)
    }

    /// Adds a sign-in in place of the browser's previous one.
    private func add(_ login: Exchange.Login, key: [UInt8]) -> SignIn {
        let signIn = signIns.add(keyID: login.keyID, key: key, origin: place.origin)
        if let old = login.replaced { signIns.remove(old) }
        return signIn
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

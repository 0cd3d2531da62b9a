// Makes one call: each endpoint once, and once again with a new token where the old one is not taken.

extension EtcdClient {
    /// - Parameter isRepeatable: Whether another endpoint may be asked though this one may have done it.
    @concurrent func call<Value: Sendable>(
        _ path: String, _ body: [UInt8], isRepeatable: Bool = true,
        parse: @Sendable ([UInt8]) throws(EtcdError) -> Value
    ) async throws(EtcdError) -> Value {
        var mayRenew = configuration.user != nil
        var last = EtcdError.unreachable("no endpoint is configured")
        for endpoint in session.order {
            do throws(EtcdTransportError) {
                return try await authenticated(endpoint, &mayRenew) { headers async throws(EtcdTransportError) in
                    try await self.post(endpoint, path, body, headers, parse)
                }
            } catch {
                guard error.error.isWorthAnotherEndpoint else { throw error.error }
                session.leave(endpoint)
                last = error.error.said(of: configuration.endpoints[endpoint])
                if error.mayBeDone, !isRepeatable { throw last.said(of: "it may have been done all the same") }
            }
        }
        throw last
    }

    /// Does something with a token, and once more with a new one where that is not taken.
    func authenticated<Value>(
        _ endpoint: Int, _ mayRenew: inout Bool,
        _ body: ([String: String]) async throws(EtcdTransportError) -> Value
    ) async throws(EtcdTransportError) -> Value {
        let token = try await token(endpoint)
        do throws(EtcdTransportError) {
            return try await body(Self.headers(token))
        } catch {
            guard mayRenew, case .unauthenticated = error.error else { throw error }
            mayRenew = false
            session.forget(token)
        }
        return try await body(Self.headers(try await self.token(endpoint)))
    }

    private static func headers(_ token: EtcdSession.Token) -> [String: String] {
        if case .token(let text) = token { ["Authorization": text] } else { [:] }
    }

    /// What is known, or what etcd gives for the password that the file holds now.
    private func token(_ endpoint: Int) async throws(EtcdTransportError) -> EtcdSession.Token {
        let known = session.token
        guard known == .unknown, let user = configuration.user, let file = configuration.passwordFile else {
            return known
        }
        var token = EtcdSession.Token.notNeeded
        do throws(EtcdTransportError) {
            let password: String
            do throws(EtcdError) {
                password = try EtcdPassword.read(file)
            } catch {
                throw EtcdTransportError(error, mayBeDone: false)
            }
            let body = EtcdRequests.authenticate(user, password)
            token = .token(try await post(endpoint, "auth/authenticate", body, [:], EtcdAnswers.token))
        } catch {
            // Nothing but the token has been asked for yet.
            if !EtcdAnswers.isAuthenticationOff(error.error) { throw EtcdTransportError(error.error, mayBeDone: false) }
        }
        session.keep(token)
        return token
    }

    private func post<Value>(
        _ endpoint: Int, _ path: String, _ body: [UInt8], _ headers: [String: String],
        _ parse: ([UInt8]) throws(EtcdError) -> Value
    ) async throws(EtcdTransportError) -> Value {
        let (status, answer) = try await transport.post(
            url(endpoint, path), body, headers: headers, timeout: configuration.timeout)
        do throws(EtcdError) {
            guard status == 200 else { throw EtcdAnswers.failure(status: status, answer) }
            return try parse(answer)
        } catch {
            throw EtcdTransportError(error, mayBeDone: error.mayBeDone)
        }
    }

    func url(_ endpoint: Int, _ path: String) -> String { "\(configuration.endpoints[endpoint])/v3/\(path)" }
}

extension EtcdError {
    /// Whether another member might do what this one did not.
    var isWorthAnotherEndpoint: Bool {
        switch self {
        case .unreachable, .unavailable: true
        default: false
        }
    }

    /// Whether etcd may have done what it answers with this: a proposal that timed out can still be taken.
    fileprivate var mayBeDone: Bool {
        guard case .unavailable(let text) = self else { return false }
        return !text.contains("no leader") && !text.contains("too many requests")
    }

    /// The same with a subject in front.
    func said(of subject: String) -> EtcdError {
        switch self {
        case .unreachable(let text): .unreachable("\(subject): \(text)")
        case .unavailable(let text): .unavailable("\(subject): \(text)")
        default: self
        }
    }
}

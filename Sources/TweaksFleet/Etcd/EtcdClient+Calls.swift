// Sends one call to the endpoints in turn, and retries once with a new token if the old one is rejected.

extension EtcdClient {
    /// - Parameter isRepeatable: Whether to try another endpoint although this one may have applied the request.
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
                session.skip(endpoint)
                last = error.error.prefixed(with: configuration.endpoints[endpoint])
                if error.mayHaveTakenEffect, !isRepeatable {
                    throw last.prefixed(with: "it may have been done all the same")
                }
            }
        }
        throw last
    }

    /// Runs a request with the current token, and once more with a new one if the token is rejected.
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
            session.discard(token)
        }
        return try await body(Self.headers(try await self.token(endpoint)))
    }

    private static func headers(_ token: EtcdSession.Token) -> [String: String] {
        if case .token(let text) = token { ["Authorization": text] } else { [:] }
    }

    /// Returns the cached token, or requests one with the password that the file contains now.
    private func token(_ endpoint: Int) async throws(EtcdTransportError) -> EtcdSession.Token {
        let known = session.token
        guard known == .notRequested, let user = configuration.user, let file = configuration.passwordFile else {
            return known
        }
        var token = EtcdSession.Token.notNeeded
        do throws(EtcdTransportError) {
            let password: String
            do throws(EtcdError) {
                password = try EtcdPassword.read(file)
            } catch {
                throw EtcdTransportError(error, mayHaveTakenEffect: false)
            }
            let body = EtcdRequests.authenticate(user, password)
            token = .token(try await post(endpoint, "auth/authenticate", body, [:], EtcdReplies.token))
        } catch {
            // Only the token has been requested so far.
            if !EtcdReplies.isAuthenticationOff(error.error) {
                throw EtcdTransportError(error.error, mayHaveTakenEffect: false)
            }
        }
        session.store(token)
        return token
    }

    private func post<Value>(
        _ endpoint: Int, _ path: String, _ body: [UInt8], _ headers: [String: String],
        _ parse: ([UInt8]) throws(EtcdError) -> Value
    ) async throws(EtcdTransportError) -> Value {
        let (status, reply) = try await transport.post(
            url(endpoint, path), body, headers: headers, timeout: configuration.timeout)
        do throws(EtcdError) {
            guard status == 200 else { throw EtcdReplies.failure(status: status, reply) }
            return try parse(reply)
        } catch {
            throw EtcdTransportError(error, mayHaveTakenEffect: error.mayHaveTakenEffect)
        }
    }

    func url(_ endpoint: Int, _ path: String) -> String { "\(configuration.endpoints[endpoint])/v3/\(path)" }
}

extension EtcdError {
    /// Whether another member might succeed.
    var isWorthAnotherEndpoint: Bool {
        switch self {
        case .unreachable, .unavailable: true
        default: false
        }
    }

    /// Whether etcd may have applied the request anyway: a proposal that timed out can still be committed.
    fileprivate var mayHaveTakenEffect: Bool {
        guard case .unavailable(let text) = self else { return false }
        return !text.contains("no leader") && !text.contains("too many requests")
    }

    /// Returns the error with a subject in front of its text.
    func prefixed(with subject: String) -> EtcdError {
        switch self {
        case .unreachable(let text): .unreachable("\(subject): \(text)")
        case .unavailable(let text): .unavailable("\(subject): \(text)")
        default: self
        }
    }
}

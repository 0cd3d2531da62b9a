// Waits for the end of a TLS handshake, and says why one has failed.

import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// Why there is no connection: the subject, what is wrong, and the remedy.
public struct TLSProblem: Error, Hashable, CustomStringConvertible {
    /// The text of the problem.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// A member asks for a client certificate, and none is named.
struct ClientCertificateMissing: Error {}

/// Completes a promise at the end of the handshake, and reports a refusal after it.
final class Handshake: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let host: String
    private let files: TLSFiles
    private let established: EventLoopPromise<Void>
    private let report: @Sendable (String) -> Void
    private var isDone = false

    init(
        of host: String, _ files: TLSFiles, _ established: EventLoopPromise<Void>,
        _ report: @escaping @Sendable (String) -> Void
    ) {
        self.host = host
        self.files = files
        self.established = established
        self.report = report
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            isDone = true
            established.succeed()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isDone {
            let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
            established.fail(TLSProblem(handshake: error, of: host, certificate, files))
        } else if case .sslError? = error as? BoringSSLError {
            report("\(host) has ended the connection: \(TLSProblem.reason(error)); is it the right client certificate?")
        }
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        established.fail(TLSProblem("\(host) has closed the connection during the TLS handshake"))
        context.fireChannelInactive()
    }
}

extension TLSProblem {
    /// Why there is no TCP connection.
    init(connecting error: any Error, to host: String, _ port: Int) {
        if case .connectTimeout? = error as? ChannelError {
            self.init("\(host), port \(port), does not answer within 3 s; is it there, and does a firewall drop this?")
            return
        }
        guard let error = error as? NIOConnectionError else {
            self.init("\(error)")
            return
        }
        // Of several addresses the last one.
        if let failure = error.connectionErrors.last {
            let reason = (failure.error as? IOError).map { String(cString: strerror($0.errnoCode)) }
            self.init("\(error.host), port \(error.port): \(reason ?? "\(failure.error)")")
        } else {
            self.init("\(error.host) has no address: \(error.dnsAError ?? error.dnsAAAAError ?? error)")
        }
    }

    /// Why a handshake has failed.
    /// - Parameter certificate: That of the member, as far as it is known.
    init(handshake error: any Error, of host: String, _ certificate: NIOSSLCertificate?, _ files: TLSFiles) {
        let reason = Self.reason(error)
        if error is ClientCertificateMissing {
            self.init("\(host) asks for a client certificate; name one and its key")
        } else if (error as? NIOSSLExtraError) == .failedToValidateHostname {
            self.init("the certificate of \(host) is for another name; use one that is in it, or issue it for \(host)")
        } else if reason.contains("CERTIFICATE_VERIFY_FAILED") {
            self.init("the certificate of \(host) \(Self.doubt(certificate, files))")
        } else if error is IOError || reason.contains("WRONG_VERSION_NUMBER") || reason.contains("EOF") {
            self.init("\(host) has ended the TLS handshake; does its port speak TLS?")
        } else {
            self.init("no TLS with \(host): \(reason)")
        }
    }

    /// What is wrong with a certificate, by its dates.
    private static func doubt(_ certificate: NIOSSLCertificate?, _ files: TLSFiles) -> String {
        let now = time(nil)
        if let end = certificate?.notValidAfter, end < now { return "has expired on \(date(end)); renew it" }
        if let start = certificate?.notValidBefore, start > now {
            return "is valid only from \(date(start)); is the clock of this machine right?"
        }
        let authorities = files.authorities.map { "one of \($0)" } ?? "one that this system trusts"
        return "is not signed by an authority, at least not by \(authorities); name the file of the one that did"
    }

    private static func date(_ time: time_t) -> String {
        Date(timeIntervalSince1970: TimeInterval(time)).formatted(.iso8601.year().month().day())
    }

    /// BoringSSL's name of an error, such as `CERTIFICATE_VERIFY_FAILED`.
    static func reason(_ error: any Error) -> String {
        let stack: NIOBoringSSLErrorStack
        switch error {
        case NIOSSLError.handshakeFailed(.sslError(let errors)), BoringSSLError.sslError(let errors): stack = errors
        default: return "\(error)"
        }
        // `Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at FILE:LINE`
        let text = stack.first?.description ?? "\(error)"
        return text.split(separator: " at ").first?.split(separator: ":").last.map { String($0) } ?? text
    }
}

// Connects to etcd with TLS by SwiftNIO, for processes that follow a fleet and for its operators.

import Foundation
import NIOCore
import NIOPosix
import NIOSSL
public import TweaksFleet

/// Connects to members of etcd with TLS 1.2 or newer, and proves that they are who their URLs say.
///
/// ```swift
/// let connector = try TLSConnector(authorities: "/etc/etcd/ca.pem")
/// try TweakDaemon.start("quotes", sources: [.etcd("https://etcd-1.example.org:2379", connector: connector)])
/// ```
/// The files are read for each connection, so that a certificate can be renewed while the process runs.
public struct TLSConnector: EtcdConnector {
    /// The time limit of a connection: less than the five seconds of a request, so that its own error is the one shown.
    private static let timeLimit = TimeAmount.seconds(4)
    private static let connectTimeLimit = TimeAmount.seconds(3)

    /// Finds the addresses of hosts; nil for the system's.
    var resolver: (any Resolver & Sendable)?
    private let files: TLSFiles
    private let report: @Sendable (String) -> Void

    /// Checks the files.
    /// - Parameters:
    ///   - authorities: A PEM file of the authorities that sign members' certificates; nil for those of the system.
    ///   - certificate: A PEM file of the client certificate, with those between it and its authority, if members ask for
    ///     one. Without it a member that asks is refused, even if it would do without.
    ///   - key: The PEM file of its private key.
    ///   - report: Called by a thread of NIO when a member refuses a connection after the handshake, as TLS 1.3 has it for a
    ///     client certificate that it does not accept. The fleet's own log tells only that the connection is lost.
    /// - Throws: ``TLSProblem`` if a file is missing or has no certificate or key.
    public init(
        authorities: String? = nil, certificate: String? = nil, key: String? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        files = TLSFiles(authorities: authorities, certificate: certificate, key: key)
        self.report = report
        _ = try files.context()
    }

    /// Takes the files from the variables `TWEAKS_FLEET_CA`, `TWEAKS_FLEET_CERT` and `TWEAKS_FLEET_KEY`, and reports on
    /// standard error.
    public init(environment: [String: String]) throws {
        func file(_ variable: String) -> String? { environment[variable].flatMap { $0.isEmpty ? nil : $0 } }
        try self.init(
            authorities: file("TWEAKS_FLEET_CA"), certificate: file("TWEAKS_FLEET_CERT"), key: file("TWEAKS_FLEET_KEY")
        ) { problem in
            // Standard error can be a pipe that nothing reads, and a thread of NIO must not wait for that.
            DispatchQueue.global().async {
                try? FileHandle.standardError.write(contentsOf: Data("TLS: \(problem)\n".utf8))
            }
        }
    }

    /// Returns one end of a socket pair once the handshake is done; a thread of NIO encrypts what is written there.
    public func connect(host: String, port: Int) throws -> Int32 {
        let context = try files.context()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (ours, theirs) = try Self.socketPair()
        let connection = loop.flatSubmit {
            let near = NIOLoopBound(Pump(), eventLoop: loop)
            return Self.adopt(theirs, near).flatMap { channel in
                let connection = open(host, port, context, near)
                connection.whenFailure { _ in channel.close(promise: nil) }
                return connection
            }
        }
        do {
            try connection.wait()
            return ours
        } catch {
            Foundation.close(ours)
            throw error
        }
    }

    private static func socketPair() throws -> (Int32, Int32) {
        #if canImport(Darwin)
            let stream = SOCK_STREAM
        #else
            let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #endif
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, stream, 0, &ends) == 0 else {
            throw TLSProblem("no socket pair: \(String(cString: strerror(errno))); allow more open files")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Gives NIO its end of the socket pair.
    private static func adopt(_ socket: Int32, _ pump: NIOLoopBound<Pump>) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: pump.eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(pump.value) }
            }
            .withConnectedSocket(socket)
    }

    /// Connects to a member; the result is there when the handshake is done.
    private func open(
        _ host: String, _ port: Int, _ context: NIOSSLContext, _ near: NIOLoopBound<Pump>
    ) -> EventLoopFuture<Void> {
        let loop = near.eventLoop
        let established = loop.makePromise(of: Void.self)
        let connected = ClientBootstrap(group: loop)
            .resolver(resolver)
            .connectTimeout(Self.connectTimeLimit)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .detectingDeadPeers()
            // Runs for each address that is tried.
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: context, serverHostname: Self.isAddress(host) ? nil : host),
                        Handshake(of: host, files, established, report), Pump(to: near.value))
                }
            }
            .connect(host: host, port: port)
        connected.whenFailure { established.fail(TLSProblem(connecting: $0, to: host, port)) }
        let timer = loop.scheduleTask(in: Self.timeLimit) {
            established.fail(TLSProblem("no TLS handshake with \(host) within 4 s; does its port speak TLS?"))
        }
        established.futureResult.whenComplete { result in
            timer.cancel()
            if case .failure = result { connected.whenSuccess { $0.close(promise: nil) } }
        }
        return established.futureResult
    }

    /// An address is compared with those in the certificate, and cannot be sent as a name.
    private static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }
}

extension ClientBootstrap {
    /// Sends keepalive probes that end a dead connection within a minute: nothing else ends a watch that waits.
    fileprivate func detectingDeadPeers() -> ClientBootstrap {
        #if canImport(Darwin)
            let idle = TCP_KEEPALIVE
        #else
            let idle = TCP_KEEPIDLE
        #endif
        return channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.init(rawValue: idle)), value: 30)
            .channelOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: 10)
            .channelOption(.tcpOption(.init(rawValue: TCP_KEEPCNT)), value: 3)
    }
}

/// The files that a connection needs.
struct TLSFiles: Sendable {
    let authorities: String?
    let certificate: String?
    let key: String?

    /// Reads the files.
    func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let authorities { configuration.trustRoots = .certificates(try Self.certificates(in: authorities)) }
        if let certificate, let key {
            configuration.certificateChain = try Self.certificates(in: certificate).map { .certificate($0) }
            do {
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            } catch {
                throw TLSProblem("\(key) is not there, or is not a private key in PEM without a passphrase")
            }
        } else if certificate != nil || key != nil {
            throw TLSProblem("a client certificate and its key go together; name both or neither")
        } else {
            // Under TLS 1.3 a member that misses a certificate would only end the connection, after the handshake.
            configuration.sslContextCallback = { _, promise in promise.fail(ClientCertificateMissing()) }
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw TLSProblem("TLS with these files is not possible: \(error); does the key belong to the certificate?")
        }
    }

    private static func certificates(in path: String) throws -> [NIOSSLCertificate] {
        guard let certificates = try? NIOSSLCertificate.fromPEMFile(path), !certificates.isEmpty else {
            throw TLSProblem("\(path) is not there, or has no certificate in PEM; name a file that has")
        }
        return certificates
    }
}

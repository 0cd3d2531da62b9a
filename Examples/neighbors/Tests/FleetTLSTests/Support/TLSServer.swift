// Serves TLS with what a test does to each connection.

import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A server on this machine that ends with this object.
final class TLSServer: Sendable {
    /// What the server does with a connection.
    enum Manner: Hashable, Sendable {
        /// Sends back what it gets, and “bye” at the end of that.
        case echoes
        /// Reads nothing once the handshake is done.
        case isDeaf
        /// Sends this many bytes, and closes the connection, after a farewell of TLS or without one.
        case floods(Int, isPolite: Bool)
        /// Speaks no TLS, and says nothing.
        case isSilent
        /// Closes each connection at once.
        case closes
    }

    private let channel: any Channel
    var port: Int { channel.localAddress?.port ?? 0 }
    /// Emits once for each connection that has ended.
    let ends: AsyncStream<Void>

    init(_ own: Authority.Signed, _ manner: Manner) throws {
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(own.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: own.key, format: .pem)))
        let context = try NIOSSLContext(configuration: configuration)
        let (ends, ending) = AsyncStream.makeStream(of: Void.self)
        self.ends = ends
        channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // Else a channel closes at the end of its input.
            .childChannelOption(.allowRemoteHalfClosure, value: manner == .echoes)
            .childChannelInitializer { child in
                child.closeFuture.whenComplete { _ in ending.yield() }
                switch manner {
                case .closes: return child.close()
                case .isSilent: return child.eventLoop.makeSucceededVoidFuture()
                case .echoes, .isDeaf, .floods:
                    return child.eventLoop.makeCompletedFuture {
                        try child.pipeline.syncOperations.addHandlers(
                            NIOSSLServerHandler(context: context), Peer(manner))
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    deinit { channel.close(promise: nil) }
}

/// One connection of the server.
private final class Peer: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let manner: TLSServer.Manner
    private var isReading = true

    init(_ manner: TLSServer.Manner) { self.manner = manner }

    func read(context: ChannelHandlerContext) { if isReading { context.read() } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(unwrapInboundIn(data)), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            if case .isDeaf = manner { isReading = false }
            if case .floods(let count, let isPolite) = manner {
                end(context, ByteBuffer(repeating: 0x61, count: count), isPolite: isPolite)
            }
        } else if event as? ChannelEvent == .inputClosed {
            end(context, ByteBuffer(string: "bye"))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func end(_ context: ChannelHandlerContext, _ last: ByteBuffer, isPolite: Bool = true) {
        context.writeAndFlush(wrapOutboundOut(last)).assumeIsolated().whenComplete { _ in
            // From the handler of TLS on, the way out is that of bytes without it.
            let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
            (isPolite ? context : tls ?? context).close(promise: nil)
        }
    }
}

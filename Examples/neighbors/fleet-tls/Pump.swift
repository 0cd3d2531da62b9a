// Copies bytes between two channels in both directions, at the speed of the slower one.

import NIOCore
import NIOTLS

/// The end of one of two channels with the same event loop: what it receives is written to the other one.
///
/// A channel is read only while the other one can be written. The end of the input, and the end of the channel, are passed
/// on after what was received before.
final class Pump: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The other end. That of the program has none before a connection is established: of several attempts to connect, each
    /// has its own end.
    private var partner: Pump?
    private var context: ChannelHandlerContext?
    private var isReadDelayed = false
    /// Whether what was written is sent before the channel closes: that to the program, which reads or closes its end. A
    /// server that does neither would keep the connection forever.
    private let isDrained: Bool

    /// The end of the program's channel.
    init() { isDrained = true }

    /// The end of an attempt to connect, which a completed handshake connects to that of the program.
    init(to near: Pump) {
        partner = near
        isDrained = false
    }

    /// The other end, once the two are connected.
    private var peer: Pump? { partner.flatMap { $0.partner === self ? $0 : nil } }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        peer?.partner = nil
        (self.context, partner) = (nil, nil)
    }

    private func establish() {
        partner?.partner = self
        partner?.resumeReading()
    }

    // MARK: What this channel receives

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { peer?.write(unwrapInboundIn(data)) }

    func channelReadComplete(context: ChannelHandlerContext) { peer?.context?.flush() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { establish() }
        if event as? ChannelEvent == .inputClosed { peer?.closeOutput() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) { peer?.close() }

    // MARK: When it may be read

    func read(context: ChannelHandlerContext) {
        if partner?.context?.channel.isWritable ?? false {
            context.read()
        } else {
            isReadDelayed = true
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { peer?.resumeReading() }
    }

    private func resumeReading() {
        guard isReadDelayed else { return }
        isReadDelayed = false
        context?.read()
    }

    // MARK: What the partner does to this channel

    private func write(_ bytes: ByteBuffer) { context?.write(wrapOutboundOut(bytes), promise: nil) }

    private func closeOutput() {
        context?.flush()
        context?.close(mode: .output, promise: nil)
    }

    private func close() {
        guard let context else { return }
        guard isDrained else {
            context.close(promise: nil)
            return
        }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }
}

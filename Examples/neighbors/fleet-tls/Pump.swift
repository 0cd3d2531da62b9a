// Copies bytes between two channels in both directions, at the speed of the slower one.

import NIOCore

/// The end of one of two channels with the same event loop: what it receives is written to the other one.
///
/// A channel is read only while the other one can be written. The end of the input, and the end of the channel, are passed
/// on after what was received before.
final class Pump: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var partner: Pump?
    private var context: ChannelHandlerContext?
    private var isReadDelayed = false
    /// Whether what was written is sent before the channel closes: that to the program, which reads or closes its end. A
    /// server that does neither would keep the connection forever.
    private let isDrained: Bool

    private init(isDrained: Bool) { self.isDrained = isDrained }

    /// Returns the handlers of the program's channel and of the server's.
    static func pair() -> (near: Pump, far: Pump) {
        let (near, far) = (Pump(isDrained: true), Pump(isDrained: false))
        (near.partner, far.partner) = (far, near)
        return (near, far)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        partner?.resumeReading()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        partner = nil
    }

    // MARK: What this channel receives

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { partner?.write(unwrapInboundIn(data)) }

    func channelReadComplete(context: ChannelHandlerContext) { partner?.context?.flush() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { partner?.closeOutput() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) { partner?.close() }

    // MARK: When it may be read

    func read(context: ChannelHandlerContext) {
        if partner?.context?.channel.isWritable ?? true {
            context.read()
        } else {
            isReadDelayed = true
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { partner?.resumeReading() }
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

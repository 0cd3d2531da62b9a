// Polls the figures that sessions watch, ten times a second.

import Tweaks

/// The watched figures, with the values last sent. Used on the I/O thread only.
struct WatchedFigures {
    private var figures: [(node: TweakNode, sent: TweakValue)] = []
    private var known: Set<ObjectIdentifier> = []
    /// The next figure of a poll in progress.
    private var position = 0
    private(set) var isPolling = false
    /// When they are polled next.
    private(set) var nextPoll: Moment
    private static let interval: Duration = .milliseconds(100)

    init(_ now: Moment) { nextPoll = now + Self.interval }

    var isEmpty: Bool { figures.isEmpty }

    mutating func forget() { (figures, known, isPolling) = ([], [], false) }

    /// Adds the figures of an audience. Known ones keep the value last sent: their change may still be due.
    /// - Parameter sent: The value of a figure that its sessions know.
    mutating func find(in registry: TweakRegistry, for audience: Audience, sent: (TweakNode) -> TweakValue?) {
        for node in registry.listing().nodes where node.definition.flags.contains(.readOnly) {
            guard !known.contains(ObjectIdentifier(node)), audience.matches(node), let value = sent(node) else {
                continue
            }
            known.insert(ObjectIdentifier(node))
            figures.append((node, value))
        }
    }

    /// Finds the figures again after tweaks were registered or removed.
    mutating func renew(in registry: TweakRegistry, for audiences: [Audience]) {
        let sent = Dictionary(figures.map { (ObjectIdentifier($0.node), $0.sent) }) { first, _ in first }
        forget()
        for node in registry.listing().nodes where node.definition.flags.contains(.readOnly) {
            guard audiences.contains(where: { $0.matches(node) }),
                let value = sent[ObjectIdentifier(node)] ?? node.defaultValue
            else { continue }
            known.insert(ObjectIdentifier(node))
            figures.append((node, value))
        }
    }

    /// Reports the figures that changed, or continues to.
    mutating func poll(
        _ registry: TweakRegistry, _ now: Moment, until isOver: () -> Bool, _ report: (WatchedChange) -> Void
    ) {
        if !isPolling { (isPolling, position, nextPoll) = (true, 0, now + Self.interval) }
        let revision = registry.revision
        while position < figures.count {
            let (node, sent) = figures[position]
            if let value = registry.current(node), value != sent {
                figures[position].sent = value
                // The highest sequence: no reply to `watch` shows later values.
                report(
                    WatchedChange(
                        node: node, old: sent, new: value, origin: .code, revision: revision, sequence: .max))
            }
            position += 1
            if position.isMultiple(of: 64), isOver() { return }
        }
        isPolling = false
    }
}

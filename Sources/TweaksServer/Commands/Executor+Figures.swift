// Handles samples, which shows the last values of a figure.

import Tweaks
import TweaksWire

extension Executor {
    private static let standardTime: UInt64 = 300

    /// The samples of a figure of the last seconds, oldest first. They are taken only while a session watches anything.
    func samples(_ request: Request, _ session: Session) throws(TweakError) -> Reply {
        let node = try lookUp(request.word, session).node
        guard node.isNumericFigure else {
            throw TweakError(
                .unknownTweak,
                "\(node.path.token) is not a figure with samples; name a number or a duration that the program publishes",
                path: node.path)
        }
        guard let seconds = Int64(exactly: request.number ?? Self.standardTime),
            (1...FigureRecorder.reach).contains(seconds)
        else {
            throw TweakError(
                .usage, "samples reach back 1 to \(FigureRecorder.reach) seconds, as in: \(Command.samples.example)")
        }
        let rate = FigureRecorder.Rate(reaching: seconds)
        // Both clocks are read once, so that the times of a reply are consistent.
        let (now, wallClock) = (hooks.now, hooks.wallClock())
        let samples = hub.recorder.samples(of: node, at: rate, since: now - .seconds(seconds))
        return reply(samples, of: node, at: rate, now: wallClock) {
            wallClock - Int64((now - $0) / .milliseconds(1))
        }
    }

    private func reply(
        _ samples: [FigureRecorder.Sample], of node: TweakNode, at rate: FigureRecorder.Rate, now: Int64,
        _ time: @escaping @Sendable (Moment) -> Int64
    ) -> Reply {
        let definition = node.definition
        var fields: [(String, JSON)] = [
            ("path", .string(node.path.joined)), ("kind", .string(definition.kind.rawValue)),
            ("period", .int(rate.rawValue)), ("now", .string(TimeText.print(now))),
        ]
        if let lower = definition.bounds?.lower { fields.append(("min", lower.json)) }
        if let upper = definition.bounds?.upper { fields.append(("max", upper.json)) }
        if let unit = definition.unit { fields.append(("unit", .string(unit))) }
        var reply = Reply(
            .ok(words: "", fields: fields), listName: "samples",
            body: .stream { position in
                guard position < samples.count else { return nil }
                let sample = samples[position]
                return sample.item(of: node, TimeText.print(time(sample.time)), isSpan: rate == .span)
            })
        reply.streamBytes = samples.count * MemoryLayout<FigureRecorder.Sample>.stride
        return reply
    }
}

extension FigureRecorder.Sample {
    /// `TIME VALUE`, and for a span also its lowest and highest value.
    fileprivate func item(of node: TweakNode, _ time: String, isSpan: Bool) -> Reply.Item {
        let names = isSpan ? ["value", "min", "max"] : ["value"]
        let values = (isSpan ? [value, low, high] : [value]).map { node.value(ofSample: $0) }
        let line = ([time] + values.map(\.text)).joined(separator: " ")
        let json = [("time", JSON.string(time))] + zip(names, values.map(\.json))
        return .row(lines: [line], json: .object(json))
    }
}

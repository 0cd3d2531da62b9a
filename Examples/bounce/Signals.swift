// Delivers Unix signals as an asynchronous sequence.

import Dispatch
import Foundation

/// Unix signals.
@MainActor
enum Signals {
    private static var sources: [any DispatchSourceSignal] = []

    /// The signals with these numbers, from now on; their default action is disabled.
    static func stream(_ numbers: [Int32]) -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        for number in numbers {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { @Sendable in continuation.yield(number) }
            source.resume()
            sources.append(source)
        }
        return stream
    }
}

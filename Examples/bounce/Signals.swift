// Signals as an asynchronous sequence, so that ordinary code can wait for them.

import Dispatch
import Foundation

/// The signals that people and systems send to a program.
@MainActor
enum Signals {
    private static var sources: [any DispatchSourceSignal] = []

    /// The signals of these numbers, as they arrive from now on; what they usually do does not happen.
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

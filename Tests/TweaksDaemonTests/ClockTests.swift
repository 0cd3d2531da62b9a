// The end of what is set for a while: on a clock that setting the time of day does not move.

import Foundation
import Testing
import TweaksTestSupport

#if os(Linux)
    @Suite(.blocking, .tags(.process), .enabled(if: Child.exists)) struct ClockTests {
        /// The clocks of a process's timers, by the numbers of clock_gettime(2).
        private func clocks(of process: Int32) throws -> [Int] {
            let place = "/proc/\(process)/fdinfo"
            return try FileManager.default.contentsOfDirectory(atPath: place).compactMap { name in
                let text = try? String(contentsOfFile: "\(place)/\(name)", encoding: .utf8)
                let line = text?.splitLines().first { $0.hasPrefix("clockid: ") }
                return line.flatMap { Int($0.dropFirst("clockid: ".count)) }
            }
        }

        /// A time of day that goes an hour forward and a year back neither hastens nor delays it: the kernel counts the
        /// seconds since the start of the machine. (libfaketime shifts every absolute timer, whatever its clock, so that
        /// it cannot show this.)
        @Test func temporaryOverridesEndByTheTimeSinceBoot() throws {
            let (realTime, bootTime) = (0, 7)
            let directory = try TemporaryDirectory()
            let child = try Child(in: directory.path)
            try #require(try child.waitUntilReady(), "\(child.log.all)")
            let client = try child.connect()
            #expect(try !clocks(of: child.processID).contains(bootTime))
            #expect(try client.ask("set Probe/Int/T0 1 for 1h").last == "ok rev 1")
            // The timer is set by a task that the set starts.
            try eventually { try clocks(of: child.processID).contains(bootTime) }
            #expect(try !clocks(of: child.processID).contains(realTime))
            try child.stop()
        }
    }
#endif

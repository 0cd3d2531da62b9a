// Tests notifications for systemd, with a real socket of each kind.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct ServiceManagerTests {
    private let directory: TemporaryDirectory
    private let addresses: [String]

    init() throws {
        directory = try TemporaryDirectory()
        #if os(Linux)
            addresses = [directory.file("notify"), "@tweaks-test/\(UInt64.random(in: 0 ... .max))"]
        #else
            addresses = [directory.file("notify")]
        #endif
    }

    private func manager(_ address: String) throws -> ServiceManager {
        try #require(try ServiceManager(environment: ["NOTIFY_SOCKET": address]))
    }

    /// Calls `body` with a receiver at each kind of address.
    private func withEachReceiver(_ body: (BoundSocket, ServiceManager) throws -> Void) throws {
        for address in addresses {
            let receiver = try BoundSocket(address, for: .datagrams)
            try body(receiver, try manager(address))
            #expect(receiver.isEmpty)
        }
    }

    private func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    @Test func readyStatusAndStoppingAreSent() throws {
        try withEachReceiver { receiver, manager throws in
            #expect(manager.ready(status: "3 tweaks") == nil)
            #expect(manager.ready() == nil && manager.stopping() == nil)
            for message in ["READY=1\nSTATUS=3 tweaks", "READY=1", "STOPPING=1"] {
                #expect(try receiver.next() == message)
            }
        }
    }

    @Test func reloadingHasTheKernelsTimeInTheSameDatagram() throws {
        try withEachReceiver { receiver, manager throws in
            let before = now()
            #expect(manager.reloading() == nil)
            let after = now()
            let lines = try receiver.next().split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 2 && lines[0] == "RELOADING=1")
            let time = try #require(lines.last?.hasPrefix("MONOTONIC_USEC=") == true ? lines.last : nil)
            let microseconds = try #require(Int64(time.dropFirst("MONOTONIC_USEC=".count)))
            #expect((before...after).contains(microseconds))
        }
    }

    @Test func aStatusIsOneShortLine() throws {
        try withEachReceiver { receiver, manager throws in
            manager.ready(status: "a\nREADY=1\r\nSTOPPING=1\0b\u{2028}c")
            #expect(try receiver.next() == "READY=1\nSTATUS=a READY=1  STOPPING=1 b c")
            manager.ready(status: "é" + String(repeating: "x", count: 10_000))
            #expect(try receiver.next() == "READY=1\nSTATUS=é" + String(repeating: "x", count: 998) + "…")
        }
    }

    @Test func withoutAnAddressThereIsNoManager() throws {
        for environment in [[:], ["NOTIFY_SOCKET": ""]] { #expect(try ServiceManager(environment: environment) == nil) }
    }

    @Test(arguments: [
        ("run/notify", "only absolute paths and abstract names (@name) are supported; use one of them"),
        ("vsock:2:1234", "only absolute paths and abstract names (@name) are supported; use one of them"),
        ("@", "it names nothing; unset it"), ("/", "it names nothing; unset it"),
        ("/a\0b", "there is a zero byte in it; use another one"),
        ("@a\0b", "there is a zero byte in it; use another one"),
    ]) func invalidAddressesAreRefused(_ address: String, _ problem: String) {
        #expect(throws: ServerError("NOTIFY_SOCKET=\(address): \(problem)")) {
            try ServiceManager(environment: ["NOTIFY_SOCKET": address])
        }
    }

    #if os(Linux)
        /// An abstract name has no zero at its end, so that one more byte fits.
        @Test func addressesHaveAMaximumLength() throws {
            let random = "\(UInt64.random(in: 0 ... .max))"
            let name = "@" + random + String(repeating: "x", count: 107 - random.count)
            let path = directory.path + "/" + String(repeating: "x", count: 106 - directory.path.count)
            for address in [name, path] {
                let receiver = try BoundSocket(address, for: .datagrams)
                #expect(try manager(address).ready() == nil)
                #expect(try receiver.next() == "READY=1")
                let error = #expect(throws: ServerError.self) {
                    try ServiceManager(environment: ["NOTIFY_SOCKET": address + "x"])
                }
                #expect(error?.description.contains("holds at most") == true)
            }
        }
    #endif

    @Test func aMissingReceiverIsReported() throws {
        for address in addresses {
            let text = try #require(try manager(address).ready())
            #expect(text.hasPrefix("NOTIFY_SOCKET=\(address): ") && text.hasSuffix("; it was not notified"))
        }
    }

    @Test func aReceiverThatDoesNotReadDoesNotBlock() throws {
        for address in addresses {
            let receiver = try BoundSocket(address, for: .datagrams)
            let manager = try manager(address)
            var problem: String?
            for _ in 1...100_000 where problem == nil { problem = manager.ready(status: "x") }
            #expect(problem?.hasPrefix("NOTIFY_SOCKET=\(address): ") == true)
            #expect(try receiver.next() == "READY=1\nSTATUS=x")
        }
    }
}

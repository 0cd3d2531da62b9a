// Config files that others could have written, and config files that are nothing but errors, seen through a daemon.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite(.blocking) struct ConfigTrustTests {
    private let station: Station

    init() throws { station = try Station() }

    private func saveForAll() throws {
        try station.save("Content/Text/Size = 64\n")
        chmod(station.config, 0o666)
    }

    @Test func itIsTakenAndSaidOnce() throws {
        try saveForAll()
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        for _ in 1...3 { #expect(try client.ask("reload").last == "ok rev 1 unchanged") }
        let warnings = station.events.all.compactMap(\.warning).filter { $0.contains(station.config) }
        #expect(
            warnings == [
                "the config file \(station.config) may be another user's: others can write \(station.config) (mode 666); "
                    + "chmod go-w it"
            ])
        station.stop(daemon)
    }

    /// Where durability is required, the program runs without it; where the file is required, it does not start.
    @Test func itIsRefused() throws {
        try saveForAll()
        let daemon = try station.start(.init(station.config), durability: .required)
        let client = try station.connect(daemon)
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 60 "))
        let failure = try station.events.next { $0.reloadFailed }.value
        #expect(failure.description.hasSuffix("io others can write \(station.config) (mode 666); chmod go-w it"))
        #expect(try client.ask("reload").last?.hasPrefix("error io ") == true)
        chmod(station.config, 0o644)
        _ = try client.ask("reload")
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        station.stop(daemon)
        chmod(station.config, 0o646)
        let error = #expect(throws: ServerError.self) {
            try station.start(.init(station.config, atStart: .required), registry: ExampleTweaks().registry)
        }
        #expect(error?.description.hasSuffix("(mode 646); chmod go-w it") == true)
    }

    /// The reply, the event and the error of the call list a hundred lines, and say how many there are more.
    @Test func aHundredErrorsAndACount() throws {
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        try station.save(String(repeating: "nonsense\n", count: 250) + "Content/Text/Size = 640")
        let reply = try client.ask("reload")
        #expect(reply.count == 102 && reply[100] == "  … and 151 more")
        #expect(reply[101].hasSuffix("example.conf: 251 errors; nothing has changed"))
        let json = try { () throws in
            try client.send("json\nreload\njson off\n")
            return try client.lines(3)[1]
        }()
        #expect(json.contains(#"{"more":151}]"#))
        let error = #expect(throws: TweakReloadError.self) { try daemon.reload() }
        #expect(error?.problems.count == 100 && error?.count == 251)
        #expect(error?.description.hasSuffix("\n… and 151 more") == true)
        let event = try #require(station.events.all.compactMap(\.reloadFailed).last)
        #expect(TweakDaemonEvent.reloadFailed(event).lines.count == 102)
        station.stop(daemon)
    }

    /// So are lines that name tweaks which are not there.
    @Test func aHundredHeldAndACount() throws {
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        try station.save((0..<250).map { "No/Such/Tweak\($0) = 1\n" }.joined() + "Content/Text/Size = 64")
        let reply = try client.ask("reload")
        #expect(reply.count == 103 && reply[101] == "  … and 150 more" && reply[102] == "ok rev 1")
        station.stop(daemon)
    }

    /// Ending a daemon does not wait for a file to be read: that reload, and each later one, comes to nothing.
    @Test func theEndOfTheDaemonEndsReloads() throws {
        let daemon = try station.start(.init(station.config))
        station.stop(daemon)
        try station.save("Content/Text/Size = 64\n")
        let error = #expect(throws: TweakReloadError.self) { try daemon.reload() }
        #expect(error?.description.hasSuffix("io the process ends; nothing is reloaded any more") == true)
        #expect(station.registry["Content/Text/Size"]?.isModified == false)
    }
}

// Tests the command line and throttled.conf.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import throttled

@Suite struct OptionsTests {
    @Test func optionsSetPortConfigAndHelp() throws {
        #expect(try Options([]).port == 7000)
        let options = try Options(["--port", "0", "--config", "/etc/throttled.conf"])
        #expect((options.port, options.config, options.wantsHelp) == (0, "/etc/throttled.conf", false))
        #expect(try Options(["-h"]).wantsHelp)
    }

    @Test(
        arguments: [
            (["--port"], "--port needs a value"), (["--port", "65536"], "--port 65536: a port is 0…65535"),
            (["--port", "x"], "--port x"), (["--config", ""], "--config needs a value"),
            (["7000"], "7000 is not an option"), (["--Port", "1"], "--Port is not an option"),
        ])
    func invalidOptionsAreNamed(arguments: [String], text: String) throws {
        let error = #expect(throws: Options.UsageError.self) { try Options(arguments) }
        #expect(error?.description.hasPrefix(text) == true)
    }
}

extension WithSettings {
    @Suite struct ConfigFileTests {
        private let lines: [Substring]

        init() throws {
            try WithSettings.reset()
            lines = try Document("Examples/throttled/throttled.conf").text.split(separator: "\n")
        }

        @Test func theFileHasTheDefaultOfEachSetting() throws {
            let assignments = lines.filter { !$0.hasPrefix("#") }
            for line in assignments {
                guard case .request(let request) = Self.parse(line), case .assign(let value) = request.change else {
                    Issue.record("no assignment: \(line)")
                    continue
                }
                let tweak = try #require(TweakRegistry.shared[request.word], "\(line)")
                #expect(TweakValue(parsing: value, as: tweak.kind) == tweak.defaultValue, "\(line)")
            }
            // Maintenance/On does not belong in a file, and metrics cannot be set.
            #expect(assignments.count == Settings.all.count - 1 - Metrics.all.count)
        }

        private static func parse(_ line: Substring) -> ParsedLine {
            Array(line.utf8).withUnsafeBufferPointer { ParsedLine($0) }
        }
    }
}

// Tests that closed standard streams receive no files: a log line would be written into one.

import Foundation
import Testing
import TweaksTestSupport

@Suite(.blocking, .tags(.process)) struct StandardStreamTests {
    @Test(
        .enabled(if: BuiltProgram.exists("hello"), "build hello"),
        arguments: ["2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"])
    func nothingIsLoggedIntoAFile(_ closed: String) throws {
        let directory = try TemporaryDirectory()
        let receiver = try BoundSocket(directory.file("notify"), for: .datagrams)
        let program = try RunningProgram(
            Tool.sh.path, ["-c", "exec \"$0\" \(closed)", BuiltProgram.path("hello")],
            environment: BuiltProgram.environment.merging([
                "NOTIFY_SOCKET": receiver.address, "HOME": directory.path, "TWEAKS_PORT": "off",
                "TWEAKS_SOCKET": directory.file("hello.sock"), "TWEAKS_STATE_DIR": directory.file("state"),
            ]) { $1 }, output: .dropped)
        #expect(try receiver.next().hasPrefix("READY=1"))
        #expect(try TestClient(unix: directory.file("hello.sock")).ask("ping") == ["ok pong"])
        try program.kill()
        let paths = try #require(FileManager.default.subpaths(atPath: directory.path))
        #expect(paths.contains("hello.sock.lock"))
        for path in paths where path.hasSuffix(".lock") {
            #expect(FileManager.default.contents(atPath: directory.file(path)) == Data(), "\(path)")
        }
    }
}

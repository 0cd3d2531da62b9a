// Parses the command line.

import TweaksDaemon

/// The command-line options. Settings that can change at run time are tweaks instead.
struct Options: Equatable {
    /// The TCP port; 0 picks a free one.
    var port: UInt16 = 7000
    var config: String?
    var wantsHelp = false

    static let usage = """
        Usage: throttled [--port N] [--config PATH]

        A line service on 127.0.0.1 with tweaks: connect to it with nc and type help.

        --port N        the TCP port, 7000 by default; 0 picks a free port
        --config PATH   the config file, such as throttled.conf; SIGHUP reloads it

        To change its tweaks, see the line on standard error that begins with “throttled: tweaks at”.
        """

    /// An error in the command line.
    struct UsageError: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": wantsHelp = true
            case "--port": port = try Self.port(Self.value(of: argument, &rest))
            case "--config": config = try Self.value(of: argument, &rest)
            default: throw UsageError(description: "\(argument) is not an option; see --help")
            }
        }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else {
            throw UsageError(description: "\(option) needs a value; see --help")
        }
        return value
    }

    private static func port(_ text: String) throws(UsageError) -> UInt16 {
        guard let port = UInt16(text) else {
            throw UsageError(description: "--port \(text): a port is 0…65535, 0 for a free one")
        }
        return port
    }
}

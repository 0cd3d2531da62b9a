// What stands on the command line.

import TweaksDaemon

/// How the service was started. What can be changed later is no option but a tweak.
struct Options: Equatable {
    /// 0 picks a free one.
    var port: UInt16 = 7000
    var config: String?
    var wantsHelp = false

    static let usage = """
        Usage: throttled [--port N] [--config PATH]

        A line service on 127.0.0.1 that is tuned while it runs: connect to it with nc and type help.

        --port N        where to listen; 7000 unless said otherwise, 0 picks a free port
        --config PATH   the operator's settings, such as throttled.conf; read again on SIGHUP

        The line on standard error that begins with “throttled: tweaks at” says how to tune it.
        """

    /// What is wrong with the command line.
    struct Mistake: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: some Sequence<String>) throws(Mistake) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": wantsHelp = true
            case "--port": port = try Self.port(Self.value(of: argument, &rest))
            case "--config": config = try Self.value(of: argument, &rest)
            default: throw Mistake(description: "\(argument) is no option; see --help")
            }
        }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Mistake) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else {
            throw Mistake(description: "\(option) needs a value; see --help")
        }
        return value
    }

    private static func port(_ text: String) throws(Mistake) -> UInt16 {
        guard let port = UInt16(text) else {
            throw Mistake(description: "--port \(text): a port is 0…65535, 0 for a free one")
        }
        return port
    }
}

// Conversations of tests: several in one text, each below a heading, and their replay against servers.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

/// A conversation; its heading says what it shows.
struct Conversation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    private var text = ""

    private init(_ heading: String) { testDescription = heading }

    /// Reads conversations, each below a heading such as `## ls lists the categories`.
    static func all(_ text: String) -> [Conversation] {
        text.splitLines().reduce(into: []) { all, line in
            if line.hasPrefix("## ") { return all.append(Conversation(String(line.dropFirst(3)))) }
            all[all.count - 1].text += all[all.count - 1].text.isEmpty ? line : "\n" + line
        }
    }

    /// Replays it in every manner, over every transport, each time against a server of its own.
    func replay() throws { try replay(text) }

    private func replay(_ text: String) throws {
        let transcript = Transcript(text)
        for manner in Transcript.Pacing.allCases {
            for transport in Transport.available {
                // telnet ends its lines by CR LF, and replies must do so, too.
                let lineEnd = transport == .unix ? "\n" : "\r\n"
                try transcript.replay(manner, with: TestServer().connect(transport), lineEnd: lineEnd)
            }
        }
    }

    /// Replays it in JSON mode, and has Foundation parse every reply.
    func replayJSON() throws {
        let text = "> json\n{\"ok\":true}\n" + text
        try replay(text)
        let lines = try TestServer().connect().exchange(Transcript(text).steps.map { $0.typed + "\n" }.joined())
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?["ok"] is Bool, "\(line)")
        }
    }

    /// Replays it line by line, against a server with a registry.
    func replay(in registry: TweakRegistry, over transport: Transport = .unix) throws {
        try Transcript(text).replay(.lineByLine, with: TestServer(registry: registry).connect(transport))
    }
}

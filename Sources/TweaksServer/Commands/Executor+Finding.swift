// Handles commands that find and describe tweaks: find, complete, describe, conflicts.

import Tweaks
import TweaksWire

extension Executor {
    /// Finds tweaks that contain every word, best first, off the I/O thread.
    func find(_ words: [String], _ session: Session) throws(TweakError) -> Outcome {
        guard words.count <= limits.findWords else {
            throw TweakError(
                .tooMany, "find takes at most \(limits.findWords) words; leave some out", limit: .findWords)
        }
        try refuseIfBusy(session)
        let (id, mailbox) = (session.id, mailbox)
        finder.find(words, view(session)) { mailbox.post(.found(id, $0)) }
        return .running()
    }

    /// The matching tweaks, with their current values.
    func reply(_ found: Finder.Found, _ session: Session) -> Reply {
        let nodes = found.nodes.filter { session.sees($0) }
        var reply = lines(nodes, .explained, for: session)
        if found.more > 0 {
            reply.status = .ok(
                words: "best \(nodes.count), \(found.more) more; add a word to see fewer",
                fields: [("rev", .count(registry.revision)), ("more", .count(found.more))])
        }
        return reply
    }

    func describe(_ path: String, _ session: Session) throws(TweakError) -> Reply {
        let tweak = try lookUp(path, session)
        let node = tweak.node
        var fields: [(String, JSON)] = [
            ("path", .string(node.path.joined)), ("kind", .string(node.definition.kind.rawValue)),
        ]
        if let value = tweak.value { fields += node.shown(value).fields }
        fields += node.info(isModified: registry.snapshot().isModified(node))
        fields.append(("source", .string(node.source.description)))
        let parameters = node.signature?.parameters.map(\.summary) ?? []
        return .info(fields, texts: parameters.isEmpty ? [:] : ["arguments": parameters])
    }

    func conflicts() -> Reply {
        .rows(
            "conflicts",
            registry.conflicts.map { conflict in
                let json: [(String, JSON)] = [
                    ("path", .string(conflict.path.joined)), ("first", .string(conflict.first.description)),
                    ("second", .string(conflict.second.description)), ("differences", .string(conflict.differences)),
                ]
                return ([conflict.description], .object(json))
            })
    }

    /// Returns the completions for a partial line, computed off the I/O thread.
    func complete(_ text: String, _ session: Session) throws(TweakError) -> Outcome {
        try refuseIfBusy(session)
        let (id, mailbox) = (session.id, mailbox)
        let completion = Completion(
            view: view(session), commands: commands(for: session).map(\.name), presetNames: hooks.presetNames)
        finder.work {
            let candidates = completion.candidates(for: text)
            mailbox.post(.answered(id, .rows("candidates", candidates.map { ([$0], .string($0)) })))
        }
        return .running(.init(.request, CancellationFlag()))
    }
}

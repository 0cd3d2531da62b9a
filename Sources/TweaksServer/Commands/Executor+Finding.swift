// Commands that find and explain tweaks: find, complete, describe, explain, conflicts.

import Tweaks
import TweaksWire

extension Executor {
    /// Tweaks that hold every word, best first; looked for beside the I/O thread.
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

    /// What was found, with the values of now.
    func reply(_ found: Finder.Found, _ session: Session) -> Reply {
        let nodes = found.nodes.filter { session.sees($0) }
        var reply = lines(nodes, .explained, for: session)
        if found.more > 0 {
            reply.status = .ok(
                words: "best \(nodes.count), \(found.more) more; another word leaves fewer",
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
        if let value = tweak.value {
            let isSecret = node.definition.flags.contains(.secret)
            fields.append(("value", isSecret ? .null : value.json))
            if isSecret { fields.append(("set", .bool(node.isSet(value)))) }
        }
        fields += node.facts(isModified: registry.snapshot().isModified(node))
        fields.append(("source", .string(node.source.description)))
        let parameters = node.signature?.parameters.map(\.summary) ?? []
        return .facts(fields, texts: parameters.isEmpty ? [:] : ["arguments": parameters])
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

    /// How a line could go on; found out beside the I/O thread.
    func complete(_ text: String, _ session: Session) throws(TweakError) -> Outcome {
        try refuseIfBusy(session)
        let (id, mailbox) = (session.id, mailbox)
        let completion = Completion(
            view: view(session), commands: commands(for: session).map(\.name), presetNames: hooks.presetNames)
        finder.work {
            let candidates = completion.candidates(for: text)
            mailbox.post(.answered(id, .rows("candidates", candidates.map { ([$0], .string($0)) })))
        }
        return .running(.init(.request, WorkPermit()))
    }
}

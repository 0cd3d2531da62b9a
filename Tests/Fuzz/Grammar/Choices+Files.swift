// Produces the files of a process, the answers of etcd and the records of a fleet, with extreme counters and times.

import Tweaks

extension Choices {
    // MARK: State

    private mutating func kind() -> String {
        pick([
            "number", "int", "duration", "color", "point", "curve", "list", "choice", "string", "bool", "optional",
            "odd",
        ])
    }

    mutating func counterOfJSON() -> String { below(4) == 3 ? numberOfJSON() : pick(["", "", "-"]) + digits() }

    private mutating func layer() -> String {
        "{\"time\":\"\(date())\",\"expires\":\"\(date())\",\"value\":\(json()),\"origin\":\"uid 1\"}"
    }

    package mutating func overrides() -> String {
        let entries = several(4, separator: ",") { choices in
            "{\"path\":\"\(choices.path())\",\"kind\":\"\(choices.kind())\",\"value\":\(choices.json()),"
                + "\"of\":\"\(choices.kind())\",\"origin\":\"uid 1\",\"time\":\"\(choices.date())\","
                + "\"covered\":\(choices.json())"
                + (choices.below(2) == 0 ? "}" : ",\"expires\":\"\(choices.date())\"}")
        }
        return "{\"format\":\"tweaks-overrides\",\"version\":1,\"program\":\"p\",\"revision\":\(counterOfJSON()),"
            + "\"overrides\":[\(entries)]}"
    }

    package mutating func history() -> String {
        "{\"format\":\"tweaks-history\",\"version\":1,\"program\":\"p\"}\n"
            + several(4) { choices in
                let changes = choices.several(3, separator: ",") { choices in
                    "{\"path\":\"\(choices.path())\",\"kind\":\"\(choices.kind())\",\"old\":\(choices.json()),"
                        + "\"new\":\(choices.json()),\"after\":\(choices.json()),"
                        + "\"temporaryAfter\":\(choices.layer())}"
                }
                return "{\"n\":\(choices.counterOfJSON()),\"revision\":\(choices.counterOfJSON()),"
                    + "\"time\":\"\(choices.date())\",\"by\":\"x\",\"kind\":\"\(choices.pick(["change", "undo", "redo"]))\","
                    + "\"of\":\(choices.counterOfJSON()),\"changes\":[\(changes)]}\n"
            }
    }

    package mutating func tokens() -> String {
        several(4) { choices in
            let name = String(choices.below(10))
            return "t\(name) sha256:" + String(repeating: name, count: 64) + " admin expires \(choices.date()) "
                + "rate \(choices.counter())\n"
        }
    }

    // MARK: etcd

    private mutating func pair() -> String {
        "{\"key\":\"YQ==\",\"value\":\"Yg==\",\"create_revision\":\(etcdCounter()),\"mod_revision\":\(etcdCounter()),"
            + "\"version\":\(etcdCounter()),\"lease\":\(etcdCounter())}"
    }

    /// etcd writes counters of 64 bits as strings.
    private mutating func etcdCounter() -> String {
        let counter = counterOfJSON()
        return below(3) == 0 ? counter : "\"\(counter)\""
    }

    package mutating func etcdAnswer() -> String {
        let header = "\"header\":{\"cluster_id\":\(etcdCounter()),\"revision\":\(etcdCounter()),\"raft_term\":\"2\"}"
        switch below(8) {
        case 0: return "{\(header),\"kvs\":[\(several(3, separator: ",") { $0.pair() })],\"count\":\(etcdCounter())}"
        case 1: return "{\(header),\"ID\":\(etcdCounter()),\"TTL\":\(etcdCounter())}"
        case 2: return "{\"result\":{\(header),\"ID\":\(etcdCounter()),\"TTL\":\(etcdCounter())}}"
        case 3:
            let events = several(3, separator: ",") { "{\"type\":\"PUT\",\"kv\":\($0.pair())}" }
            return "{\"result\":{\(header),\"watch_id\":\(etcdCounter()),\"compact_revision\":\(etcdCounter()),"
                + "\"events\":[\(events)]}}"
        case 4:
            return "{\(header),\"succeeded\":true,\"responses\":[{\"response_range\":{\(header),\"kvs\":[\(pair())]}}]}"
        case 5: return "{\(header),\"dbSize\":\(etcdCounter()),\"dbSizeInUse\":\(etcdCounter()),\"leader\":\"1\"}"
        case 6:
            return "{\"error\":{\"grpc_code\":\(counterOfJSON()),\"message\":\(json())},\"code\":\(counterOfJSON())}"
        default: return json()
        }
    }

    /// An HTTP response with an answer, whose length or chunk sizes may be wrong.
    package mutating func etcdResponse() -> String {
        let body = etcdAnswer()
        let head = "HTTP/1.1 \(pick(["200 OK", "404 Not Found", "\(counter()) x"]))\r\n"
        if below(2) == 0 {
            let length = below(3) == 0 ? "\(body.utf8.count)" : counter()
            return head + "Content-Length: \(length)\r\n\r\n" + body
        }
        let size = below(3) == 0 ? String(body.utf8.count, radix: 16) : pick(["", "0x", "-"]) + chunkSize()
        return head + "Transfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n0\r\n\r\n"
    }

    private mutating func chunkSize() -> String {
        pick([
            "7FFFFFFFFFFFFFFF", "8000000000000000", "FFFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFFF", "0", "fffffff0", digits(),
        ])
    }

    // MARK: Fleet

    private static let fleetPaths = ["Sample/Bound/int", "Sample/Bound/number", "Sample/Free/time", "Sample/Free/int"]

    private mutating func stamp() -> String { "\"by\":\"ana\",\"at\":\"\(date())\"" }

    private mutating func fleetChange() -> String {
        "{\"path\":\"\(pick(Self.fleetPaths))\",\"kind\":\"\(kind())\",\"value\":\(json()),\"found\":\(json())}"
    }

    private mutating func limits() -> String {
        "{\"path\":\"\(pick(Self.fleetPaths))\",\"kind\":\"\(pick(["int", "number", "duration"]))\","
            + "\"default\":\(counterOfJSON()),\"min\":\(counterOfJSON()),\"max\":\(counterOfJSON()),"
            + "\"step\":\(counterOfJSON()),\"minLength\":\(counterOfJSON()),\"maxLength\":\(counterOfJSON())}"
    }

    /// A key below `desired/` and its value, each followed by a zero byte.
    package mutating func fleetKey() -> String {
        switch below(6) {
        case 0: return "head\0{\"counter\":\(counterOfJSON()),\"by\":\"a\",\"what\":\"set\",\"at\":\"\(date())\"}\0"
        case 1:
            return "values/\(pick(Self.fleetPaths))\0{\"kind\":\"\(kind())\",\"value\":\(json()),\(stamp())}\0"
        case 2:
            let steps = several(4, separator: ",") { $0.numberOfJSON() }
            return "rollouts/r1\0{\"id\":\"r1\",\"changes\":[\(fleetChange())],\"percent\":\(numberOfJSON()),"
                + "\"state\":\"\(pick(["open", "paused", "done"]))\",\"steps\":[\(steps)],"
                + "\"everySeconds\":\(counterOfJSON()),\"next\":\"\(date())\",\"lifetimeSeconds\":\(counterOfJSON()),"
                + "\"confirmSeconds\":\(counterOfJSON()),\"confirmBy\":\"\(date())\",\"members\":\(counterOfJSON()),"
                + "\"abortIf\":[\(Quoting.json(condition()))],\(stamp())}\0"
        case 3: return "x\0{\"tweaks\":[\(several(3, separator: ",") { $0.limits() })]}\0"
        case 4:
            return "x\0{\"build\":\"00000000000000aa\",\"labels\":{},\"revision\":\(counterOfJSON()),"
                + "\"head\":\(counterOfJSON()),\"figures\":{\"A/B/C\":\(numberOfJSON())},"
                + "\"started\":\"\(date())\",\"at\":\"\(date())\"}\0"
        default:
            return "x\0{\"sequence\":\(counterOfJSON()),\"verb\":\"set\",\"changes\":[{\"path\":\"A/B/C\","
                + "\"old\":{\"kind\":\"\(kind())\",\"value\":\(json())}}],\(stamp())}\0\(condition())\0"
        }
    }

    private mutating func condition() -> String { "A/B/C \(pick([">", "<", ">=", "<=", "="])) \(number())" }
}

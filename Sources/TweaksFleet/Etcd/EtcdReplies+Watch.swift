// Parses the messages of a watch stream.

import Tweaks

extension EtcdReplies {
    /// Parses one message of a watch. Fragments are not requested, so all events of a revision are in one message.
    /// - Throws: The reason why etcd ended the watch; `.compacted` carries the oldest available revision.
    package static func watchMessage(_ bytes: [UInt8]) throws(EtcdError) -> EtcdWatchMessage {
        let result = try result(of: try object(bytes))
        let header = try header(result)
        // etcd reports a rejected watch as created and canceled in one message.
        if try result.etcdFlag("canceled") { throw try cancellation(result) }
        if try result.etcdFlag("fragment") { throw garbled("a part of a message, which was not asked for") }
        var events: [EtcdEvent] = []
        for element in try result.etcdElements("events") { events.append(try event(element)) }
        guard try result.etcdFlag("created") else { return .events(header, events) }
        guard events.isEmpty else { throw garbled("a watch is created with events") }
        return .created(header)
    }

    private static func cancellation(_ result: JSON) throws(EtcdError) -> EtcdError {
        let left = try result.etcdInt64("compact_revision")
        if left > 0 { return .compacted(left) }
        return failure(reason: result["cancel_reason"]?.string ?? "the watch was canceled")
    }

    private static func event(_ json: JSON) throws(EtcdError) -> EtcdEvent {
        guard let pair = json["kv"] else { throw garbled("an event has no key") }
        switch json["type"] {
        case nil, .string("PUT")?, .literal("0")?: return EtcdEvent(.put, try self.pair(pair))
        case .string("DELETE")?, .literal("1")?: return EtcdEvent(.delete, try self.pair(pair))
        default: throw garbled("an event of an unknown kind")
        }
    }
}

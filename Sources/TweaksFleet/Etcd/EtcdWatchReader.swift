// Reads the messages of a watch from bytes that come as they come.

import Tweaks

/// Cuts a stream of JSON objects, with or without lines between them, into the objects.
package struct JSONSplitter {
    /// A larger object is none of a watch.
    private static let mostBytes = 16 << 20
    private var object: [UInt8] = []
    private var depth = 0
    private var isInText = false
    private var isEscaped = false

    package init() {}

    /// Takes the next bytes.
    /// - Returns: The objects that end in them.
    package mutating func take(_ bytes: [UInt8]) throws(EtcdError) -> [[UInt8]] {
        var ended: [[UInt8]] = []
        for byte in bytes {
            if depth == 0, byte != UInt8(ascii: "{") {
                guard [0x20, 0x0A, 0x0D, 0x09].contains(byte) else { throw .garbled("a watch says what is not JSON") }
                continue
            }
            object.append(byte)
            if isEndOfObject(byte) {
                ended.append(object)
                object = []
            }
        }
        if object.count > Self.mostBytes {
            throw .tooLarge("a message of a watch has more than \(Self.mostBytes) bytes")
        }
        return ended
    }

    private mutating func isEndOfObject(_ byte: UInt8) -> Bool {
        if isInText {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInText = false
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): isInText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
        return depth == 0
    }
}

extension EtcdAnswer {
    /// What a message of a watch says; nil where that is nothing.
    package static func watch(_ bytes: [UInt8]) throws(EtcdError) -> EtcdWatchMessage? {
        let json = try json(bytes)
        if json["error"] != nil { throw json.etcdError }
        guard let result = json["result"] else { throw .garbled("a watch says neither a result nor an error") }
        let header = header(result)
        if result["canceled"]?.isTrue ?? false {
            let compacted = result.signed("compact_revision")
            if compacted > 0 { throw .compacted(compacted) }
            throw EtcdError(code: 14, result["cancel_reason"]?.string ?? "the watch was canceled")
        }
        if result["created"]?.isTrue ?? false { return .created(header) }
        var events: [EtcdEvent] = []
        for event in result["events"]?.elements ?? [] {
            let isDeletion = event["type"]?.string == "DELETE" || event["type"]?.wholeNumber == 1
            events.append(EtcdEvent(isDeletion ? .delete : .put, try pair(event["kv"])))
        }
        return .events(header, events)
    }
}

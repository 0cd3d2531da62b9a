// Splits a stream of bytes into JSON objects.

import Tweaks

/// Finds where objects end by counting braces outside of strings. It does not validate their content.
package struct JSONSplitter {
    private let limit: Int
    private var object: [UInt8] = []
    private var depth = 0
    private var isInText = false
    private var isEscaped = false

    /// - Parameter limit: The size limit of one object.
    package init(limit: Int) { self.limit = limit }

    /// Whether the input so far ends inside an object.
    package var isInside: Bool { depth > 0 }

    /// Appends received bytes.
    /// - Returns: The objects that they complete.
    /// - Throws: `.garbled` if something other than an object begins, `.tooLarge` for an object over the limit.
    package mutating func append(_ bytes: some Sequence<UInt8>) throws(EtcdError) -> [[UInt8]] {
        var objects: [[UInt8]] = []
        for byte in bytes {
            if depth == 0, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { continue }
            guard depth > 0 || byte == UInt8(ascii: "{") else {
                throw .garbled("something else than an object begins in a stream of them")
            }
            guard object.count < limit else { throw .tooLarge("a message of more than \(limit) bytes; read anew") }
            object.append(byte)
            advance(byte)
            if depth == 0 {
                objects.append(object)
                object = []
            }
        }
        return objects
    }

    private mutating func advance(_ byte: UInt8) {
        switch byte {
        case _ where isEscaped: isEscaped = false
        case UInt8(ascii: "\\") where isInText: isEscaped = true
        case UInt8(ascii: "\""): isInText.toggle()
        case UInt8(ascii: "{") where !isInText: depth += 1
        case UInt8(ascii: "}") where !isInText: depth -= 1
        default: break
        }
    }
}

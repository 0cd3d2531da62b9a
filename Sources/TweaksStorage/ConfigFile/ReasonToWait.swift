// Finds out whether a changed config file is still being written.

import Tweaks
import TweaksSystem

/// Why changed content is not applied yet.
struct ReasonToWait {
    let text: String
    /// Whether the content is applied when it does not change any more.
    var canSettle = false
}

extension FileContent {
    /// Nil if it looks complete.
    func reasonToWait(after lastContent: FileContent?) -> ReasonToWait? {
        switch self {
        case .missing where lastContent == nil: return nil
        case .missing: return ReasonToWait(text: "is gone; its last values stay in effect until it is back")
        case .unreadable: return nil
        case .bytes(let bytes):
            if bytes.isEmpty {
                return ReasonToWait(
                    text: "is empty; its last values stay in effect (the command reload empties them)")
            }
            if bytes.last == UInt8(ascii: "\n") || TextEncoding.objection(to: bytes) != nil { return nil }
            let time = TweakValue.duration(ConfigReloader.settlingTime).text
            return ReasonToWait(
                text: "does not end with a line break, as if it were still being written; its last values stay in "
                    + "effect until it has not changed for \(time) (the command reload takes it as it is)",
                canSettle: true)
        }
    }
}

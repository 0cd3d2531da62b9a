// A watch failure says why the kernel does not watch directories, and what can be done.

import TweaksSystem

/// Why the kernel does not tell.
struct WatchFailure: Error {
    let code: Int32

    /// The process has as many descriptors as it may.
    static var noDescriptors: WatchFailure { WatchFailure(code: EMFILE) }

    var text: String { errorText(code) }

    /// What an operator can do about it.
    var remedy: String {
        switch code {
        case EMFILE: "; raise fs.inotify.max_user_instances or the limit of open files"
        case ENFILE: "; raise fs.file-max"
        case ENOSPC: "; raise fs.inotify.max_user_watches"
        default: ""
        }
    }
}

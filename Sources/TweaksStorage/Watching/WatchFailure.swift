// Describes why the kernel does not watch directories, with a remedy.

import TweaksSystem

/// The error number of a failed inotify call.
struct WatchFailure: Error {
    let code: Int32

    /// The process has reached its descriptor limit.
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

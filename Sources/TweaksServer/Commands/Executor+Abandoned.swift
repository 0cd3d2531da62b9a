// Work of sessions that have ended: nobody waits for it any more, so that nothing else bounds it.

import Tweaks

extension Executor {
    /// Refuses work that others do, such as a disk or a handler of the program, while too much of it is of sessions that
    /// have ended. Who asks and leaves, again and again, would fill the memory behind a disk that does not answer.
    func refuseIfAbandoned() throws(TweakError) {
        if abandoned.count < limits.abandonedRequests { return }
        throw TweakError(
            .busy,
            "\(abandoned.count) requests of sessions that have ended wait for a disk or a handler; try again when it "
                + "has answered", limit: .abandonedRequests)
    }
}

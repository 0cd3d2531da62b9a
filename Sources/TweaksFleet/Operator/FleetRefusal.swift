// Says why an operator's request was not done.

import Tweaks

/// Why nothing was done, or what is not known: names the subject, what is wrong, and the remedy.
package struct FleetRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The fleet's state, or etcd, says no.
        case refused
        /// What was asked makes no sense.
        case usage
        /// etcd does not answer.
        case unreachable
    }

    package let kind: Kind
    package let description: String
    /// What etcd said, where it was etcd.
    package let etcd: EtcdError?

    package init(_ kind: Kind = .refused, _ description: String, etcd: EtcdError? = nil) {
        (self.kind, self.description, self.etcd) = (kind, description, etcd)
    }
}

extension FleetRefusal {
    /// What an error of etcd means to an operator.
    /// - Parameter wasWriting: The answer to a write is missing: it may have happened.
    package init(_ error: EtcdError, wasWriting: Bool = false) {
        let (kind, text) = Self.meaning(of: error)
        let doubt = wasWriting && kind == .unreachable ? "; whether it was written is not known, look at history" : ""
        self.init(kind, "etcd: \(Quoting.sanitized(text))\(doubt)", etcd: error)
    }

    private static func meaning(of error: EtcdError) -> (Kind, String) {
        switch error {
        case .unreachable(let text): (.unreachable, "\(text); start it, or name another with --etcd URL")
        case .unavailable(let text): (.unreachable, "\(text); try again when it has a leader")
        case .unauthenticated(let text): (.refused, "\(text); name a user with --user and --password-file")
        case .forbidden(let text): (.refused, "\(text); ask for the operator's role on this prefix")
        case .noSpace(let text):
            (.refused, "\(text); compact and defragment it, then disarm its alarm. abort works meanwhile")
        case .compacted(let revision): (.refused, "what came before revision \(revision) is compacted; try again")
        case .futureRevision(let text): (.refused, "\(text); this is another etcd than before")
        case .leaseNotFound: (.refused, "the lease is gone; try again")
        case .tooLarge(let text): (.refused, "\(text); do it in several parts")
        case .refused(let text): (.refused, "it refused the request: \(text)")
        case .garbled(let text): (.refused, "\(text); is this etcd, and its JSON gateway on?")
        case .cancelled: (.unreachable, "interrupted")
        }
    }
}

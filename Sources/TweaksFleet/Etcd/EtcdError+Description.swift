// Describes etcd's errors for users, with a remedy.

extension EtcdError: CustomStringConvertible {
    /// The problem and its remedy.
    package var description: String {
        switch self {
        case .unreachable(let text):
            "etcd cannot be reached: \(text); check etcd and the network, or use other endpoints"
        case .unavailable(let text): "etcd cannot answer now: \(text); try again"
        case .unauthenticated(let text): "etcd requires authentication: \(text); name a user and a password file"
        case .forbidden(let text): "etcd forbids it: \(text); grant the user a role for these keys"
        case .noSpace(let text): "etcd has no space: \(text); compact and defragment it, then disarm its alarm"
        case .compacted(0): "etcd has compacted the revision away; read anew"
        case .compacted(let revision): "etcd has compacted the revision away; read anew, from \(revision) on"
        case .futureRevision(let text): "etcd has not come to the revision: \(text); was an older state restored?"
        case .leaseNotFound: "etcd has no such lease: it has expired or was revoked; ask for a new one"
        case .tooLarge(let text): "it is too large: \(text)"
        case .refused(let text): "etcd refuses it: \(text)"
        case .garbled(let text): "the answer is not one of etcd's: \(text); does the URL name its client port?"
        case .cancelled: "it was canceled"
        }
    }
}

// Checks that a store is the one followed so far, not an emptied, restored or different one.

/// How far a process has followed its fleet.
package struct FleetPosition: Hashable, Sendable {
    package var clusterID: UInt64
    package var revision: Int64
    package var head: FleetHead?

    package init(clusterID: UInt64, revision: Int64, head: FleetHead?) {
        (self.clusterID, self.revision, self.head) = (clusterID, revision, head)
    }

    /// Returns why a store cannot be followed; nil if it can.
    package func problem(with header: EtcdHeader, _ head: FleetHead?) -> String? {
        if let head, head.adopted > (self.head?.counter ?? 0) { return nil }
        if header.clusterID != clusterID {
            let (old, new) = (String(clusterID, radix: 16), String(header.clusterID, radix: 16))
            return "etcd is another cluster, \(new) and not \(old)"
        }
        guard let known = self.head else { return nil }
        guard let head else { return "etcd has no head of the fleet anymore: it was emptied" }
        if head.counter < known.counter || header.revision < revision || head.counter == known.counter && head != known
        {
            return "etcd was restored: it is at write \(head.counter), and \(known.counter) was applied"
        }
        return nil
    }
}

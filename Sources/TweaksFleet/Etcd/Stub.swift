struct EtcdConfigurationProblem: Error {}
package struct EtcdConfiguration: Sendable {
    init(endpoints: String, user: String?, passwordFile: String?) throws(EtcdConfigurationProblem) {}
}
extension EtcdError { var description: String { "" } }
package final class EtcdClient: Etcd {
    init(_ c: EtcdConfiguration) {}
    package func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult { fatalError() }
    package func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        fatalError()
    }
    package func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease { fatalError() }
    package func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? { fatalError() }
    package func revokeLease(_ lease: Int64) async throws(EtcdError) { fatalError() }
    package func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error> {
        fatalError()
    }
    package func status() async throws(EtcdError) -> EtcdStatus { fatalError() }
}

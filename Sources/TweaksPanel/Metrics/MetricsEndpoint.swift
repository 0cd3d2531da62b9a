// Serves the exported figures to Prometheus at a port of their own, without tokens.

import Synchronization
package import Tweaks
package import TweaksServer
import TweaksWire

/// The port of the metrics: every client may read the figures that the program has declared `exported`, and the
/// probes, and nothing else.
///
/// Its clients never sign in. So they have the places, the memory and the time of those who have not yet.
package final class MetricsEndpoint: Endpoint {
    package let address: String?
    package let ports: [Int]
    package let name = "metrics"
    package let needsTokens = false
    private let registry: TweakRegistry
    private let cache = Mutex<(generation: UInt64, nodes: [TweakNode])?>(nil)

    /// - Parameters:
    ///   - port: 0 means a free one.
    ///   - address: A numeric address; nil for the loopback addresses.
    package init(_ registry: TweakRegistry, port: Int, address: String? = nil) {
        self.registry = registry
        self.address = address
        ports = [port]
    }

    package func makeDialect(_ place: EndpointAddress) -> any SessionDialect { MetricsDialect(place, self) }

    package func refusal(_ error: TweakError) -> [UInt8] {
        var bytes: [UInt8] = []
        var framing = ResponseFraming()
        framing.closes = true
        Self.writer.append(HTTPFailure(error).response, to: framing, into: &bytes)
        return bytes
    }

    static let writer = HTTPWriter(contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'")

    /// The exported figures, found again only after tweaks were registered or removed.
    private var figures: [TweakNode] {
        let listing = registry.listing()
        return cache.withLock { cache in
            if let cache, cache.generation == listing.generation { return cache.nodes }
            let nodes = listing.nodes.filter { $0.definition.flags.isSuperset(of: [.readOnly, .exported]) }
            cache = (listing.generation, nodes)
            return nodes
        }
    }

    /// The parts of a response, in order; nil after the last one.
    func parts(_ format: MetricsFormat, _ readiness: Readiness) -> (Int) -> [UInt8]? {
        let (nodes, snapshot) = (figures, registry.snapshot())
        return { position in
            var text = MetricsText(format)
            switch position {
            case 0: text.begin(readiness)
            case ...nodes.count: text.add(nodes[position - 1], snapshot.value(of: nodes[position - 1]))
            case nodes.count + 1: text.end()
            default: return nil
            }
            return text.bytes
        }
    }
}

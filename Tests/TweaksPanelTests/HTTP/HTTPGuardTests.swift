// Tests who may send requests: tables of Host, Origin, Sec-Fetch-Site and content types.

import Testing

@testable import TweaksPanel

@Suite struct HTTPGuardTests {
    private static let id = "abcdefghijklmnopqrstuvwx27"
    private static let page = "\(id).localhost:7780"
    private static let own = HTTPGuard(
        port: 7780, names: ["Panel.Example"], addresses: ["192.168.1.5", "FE80::1", "0.0.0.0", "127.0.0.1"]
    ) { id }

    /// A request with these headers; nil omits a header.
    private static func request(
        _ method: String = "GET", _ path: String = "/api/tweaks", host: String? = page,
        origin: String? = nil, site: String? = nil, more: [HTTPField] = []
    ) -> HTTPRequest {
        var request = HTTPRequest("\(method) \(path)")
        for (name, value) in [("host", host), ("origin", origin), ("sec-fetch-site", site)] {
            if let value { request.headers.append(HTTPField(name, value)) }
        }
        request.headers += more
        if ["POST", "PUT", "PATCH"].contains(method) {
            request.headers += [HTTPField("content-type", "application/json"), HTTPField("content-length", "2")]
        }
        return request
    }

    @Test(
        arguments: [
            "127.0.0.1:7780", "localhost:7780", "LOCALHOST:7780", "LocalHost:7780", "[::1]:7780", "192.168.1.5:7780",
            "[fe80::1]:7780", "[FE80::1]:7780", "panel.example:7780", "PANEL.EXAMPLE:7780", page, page.uppercased(),
            "zzzzzzzzzzzzzzzzzzzzzzzzzz.localhost:7780",
        ])
    func ownHostsAreAllowed(_ host: String) {
        #expect(Self.own.failure(of: Self.request(host: host)) == nil)
        #expect(Self.own.failure(of: Self.request("POST", host: host)) == nil)
    }

    private static let foreignHosts: [String?] = [
        nil, "", ":7780", "127.0.0.1", "localhost", "[::1]", "127.0.0.1:", "127.0.0.1:80", "127.0.0.1:7781",
        "127.0.0.1:07780", "127.0.0.1:+7780", "127.0.0.1:7780:7780", "127.0.0.1:77800", "127.0.0.1 :7780",
        "evil.example:7780", "evil.example", "localhost.evil.example:7780", "127.0.0.1.nip.io:7780",
        "127.0.0.1.evil.example:7780", "evil.example#localhost:7780", "localhost.:7780", "127.0.0.1.:7780",
        "panel.example.:7780", "xpanel.example:7780", "a.localhost:7780", "\(id)a.localhost:7780", "\(id).localhost",
        "a.\(page)", "\(id).localhost.:7780", "\(id)localhost:7780", "-\(id.dropFirst()).localhost:7780",
        "localhost.localdomain:7780",
        "user@localhost:7780", "user:pass@127.0.0.1:7780", "localhost:7780@evil.example", "localhost:7780/",
        "localhost:7780, evil.example", "localhost:7780 evil.example", "http://localhost:7780", "//localhost:7780",
        "2130706433:7780", "0x7f000001:7780", "0177.0.0.1:7780", "127.1:7780", "127.0.0.2:7780", "0:7780",
        "0.0.0.0:7780", "[::]:7780", "::1:7780", "[::1:7780", "[0:0:0:0:0:0:0:1]:7780", "[::ffff:127.0.0.1]:7780",
        "[::1%25lo]:7780", "[::1]7780", "[::1].evil.example:7780", "fe80::1:7780", "192.168.1.50:7780",
        "loc\u{0430}lhost:7780", "\u{FF4C}ocalhost:7780", "localhost\u{0}:7780", "localhost:7780\u{FFFD}", "*:7780",
    ]

    @Test(arguments: foreignHosts) func otherHostsAreRefused(_ host: String?) {
        for method in ["GET", "HEAD", "POST", "DELETE", "OPTIONS"] {
            let failure = Self.own.failure(of: Self.request(method, host: host))
            #expect(failure?.status == .misdirectedRequest && failure?.code == "denied")
        }
        #expect(Self.own.failure(of: Self.request("GET", "/", host: host))?.status == .misdirectedRequest)
    }

    @Test(
        arguments: [
            ("panel.test", true), ("panel.test:80", true), ("\(id).localhost", true), ("evil.example", false),
            ("panel.test:8080", false), ("panel.test:", false),
        ])
    func port80MayBeOmitted(_ host: String, _ isOurs: Bool) {
        let guardian = HTTPGuard(port: 80, names: ["panel.test"]) { Self.id }
        #expect((guardian.failure(of: Self.request(host: host)) == nil) == isOurs)
        let post = Self.request("POST", host: host, origin: "http://\(host)")
        #expect((guardian.failure(of: post) == nil) == isOurs)
    }

    @Test(arguments: [
        page, "192.168.1.5:7780", "[fe80::1]:7780", "panel.example:7780", "zzzzzzzzzzzzzzzzzzzzzzzzzz.localhost:7780",
    ])
    func theOwnOriginIsAllowed(_ host: String) {
        let origin = "http://\(host)"
        for method in ["GET", "POST", "DELETE"] {
            #expect(Self.own.failure(of: Self.request(method, host: host, origin: origin)) == nil)
            let request = Self.request(method, host: host, origin: origin, site: "same-origin")
            #expect(Self.own.failure(of: request) == nil)
            // Another address of the same server is another origin.
            let other = Self.request(method, host: "panel.example:7780", origin: "http://192.168.1.5:7780")
            #expect(Self.own.failure(of: other)?.status == .forbidden)
        }
    }

    @Test func eachHostHasItsPlace() {
        let places: [(String, PanelPlace)] = [
            ("127.0.0.1:7780", .programs), ("LOCALHOST:7780", .programs), ("[::1]:7780", .programs),
            (Self.page, .page(id: Self.id)), ("panel.example:7780", .name("panel.example")),
            ("[FE80::1]:7780", .name("[fe80::1]")),
            ("zzzzzzzzzzzzzzzzzzzzzzzzzz.localhost:7780", .earlier(id: "zzzzzzzzzzzzzzzzzzzzzzzzzz")),
        ]
        for (host, place) in places { #expect(Self.own.place(of: Self.request(host: host)) == place) }
        let named = HTTPGuard(port: 7780, names: ["localhost"]) { "" }
        #expect(named.place(of: Self.request(host: "localhost:7780")) == .name("localhost"))
        #expect(named.place(of: Self.request(host: "127.0.0.1:7780")) == .programs)
    }

    /// Method, path, Origin, Sec-Fetch-Site, whether the request is allowed at the address for programs.
    @Test(
        arguments: [
            ("GET", "/api/tweaks", nil, nil, true), ("PATCH", "/api/tweaks", nil, nil, true),
            ("POST", "/login", nil, nil, true), ("GET", "/api/events", nil, nil, true),
            ("GET", "/api/tweaks", nil, "none", true), ("GET", "/", nil, "none", true),
            ("GET", "/api/events", nil, "none", false), ("POST", "/login", nil, "none", false),
            ("GET", "/api/tweaks", nil, "same-origin", false), ("GET", "/", nil, "same-origin", false),
            ("POST", "/login", nil, "same-origin", false), ("POST", "/login", "http://127.0.0.1:7780", nil, false),
            ("POST", "/login", "http://127.0.0.1:7780", "same-origin", false),
            ("PATCH", "/api/tweaks", "http://127.0.0.1:7780", nil, false),
            ("GET", "/api/tweaks", "http://127.0.0.1:7780", nil, false), ("GET", "/api/tweaks", "null", nil, false),
        ] as [(String, String, String?, String?, Bool)])
    func noPageMayUseTheAddressForPrograms(
        _ method: String, _ path: String, _ origin: String?, _ site: String?, _ isAllowed: Bool
    ) {
        for host in ["127.0.0.1:7780", "localhost:7780", "[::1]:7780"] {
            let origin = origin?.replacing("127.0.0.1:7780", with: host)
            let failure = Self.own.originFailure(
                of: Self.request(method, path, host: host, origin: origin, site: site))
            #expect(failure?.status == (isAllowed ? nil : .forbidden))
            #expect(failure?.message.contains(Self.id) != true)
        }
    }

    /// The ID of the page's address is for those who may sign in.
    @Test(arguments: foreignHosts) func noErrorHasTheID(_ host: String?) {
        guard let host, !host.contains(Self.id) else { return }
        #expect(Self.own.failure(of: Self.request("POST", host: host))?.message.contains(Self.id) == false)
    }

    private static let foreignOrigins = [
        "", "null", "NULL", "*", "http://", "http://127.0.0.1", "http://localhost", "https://localhost:7780",
        "ws://localhost:7780", "file://", "http://localhost:3000", "http://localhost:7781", "http://localhost:77800",
        "http://evil.example", "http://evil.example:7780", "http://localhost.evil.example:7780",
        "http://127.0.0.1.nip.io:7780", "http://localhost:7780.evil.example", "http://localhost:7780/",
        "http://localhost:7780 ", "http://user@localhost:7780", "http://localhost:7780@evil.example",
        "http://localhost.:7780", "HTTP://localhost:7780", "http://LOCALHOST:7780", "localhost:7780",
        "//localhost:7780", "http:localhost:7780", "http://localhost:7780 http://evil.example",
        "http://localhost:7780, http://evil.example", "http://0.0.0.0:7780", "http://2130706433:7780",
        "http://[0:0:0:0:0:0:0:1]:7780", "http://127.1:7780", "chrome-extension://abc", "moz-extension://abc",
        "http://xn--localhost:7780", "http://loc\u{0430}lhost:7780",
    ]

    /// For reading, too.
    @Test(arguments: foreignOrigins) func otherOriginsAreRefused(_ origin: String) {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            for site in [nil, "same-origin", "none", "cross-site"] {
                let failure = Self.own.failure(of: Self.request(method, origin: origin, site: site))
                #expect(failure?.status == .forbidden && failure?.code == "denied")
            }
        }
        #expect(Self.own.failure(of: Self.request("GET", "/", origin: origin))?.status == .forbidden)
    }

    /// Method and path, whether the Origin is the panel's, Sec-Fetch-Site, and whether the request is allowed.
    private static let sites: [(String, String, Bool, String?, Bool)] = [
        ("GET", "/api/tweaks", false, nil, true), ("GET", "/api/tweaks", false, "same-origin", true),
        ("GET", "/api/tweaks", false, "none", true), ("GET", "/api/tweaks", false, "same-site", false),
        ("GET", "/api/tweaks", false, "cross-site", false), ("GET", "/api/tweaks", true, "cross-site", false),
        ("HEAD", "/", false, "cross-site", false), ("GET", "/", false, "cross-site", false),
        ("GET", "/", false, "none", true), ("GET", "/", false, nil, true), ("GET", "/", false, "same-origin", true),
        ("GET", "/", false, "", false), ("GET", "/", false, "Same-Origin", false),
        ("GET", "/", false, "same-origin, none", false), ("GET", "/api/events", false, nil, true),
        ("GET", "/api/events", false, "same-origin", true), ("GET", "/api/events", false, "none", false),
        ("GET", "/api/events", false, "cross-site", false), ("GET", "/api/events", true, nil, true),
        ("GET", "/api/events", true, "same-origin", true), ("HEAD", "/api/events", false, "none", false),
        ("POST", "/login", false, nil, true), ("POST", "/login", false, "same-origin", true),
        ("POST", "/login", false, "none", false), ("POST", "/login", false, "same-site", false),
        ("POST", "/login", false, "cross-site", false), ("POST", "/login", true, nil, true),
        ("POST", "/login", true, "same-origin", true), ("POST", "/login", true, "cross-site", false),
        ("POST", "/login", true, "same-site", false), ("DELETE", "/api/presets/a", false, nil, true),
        ("DELETE", "/api/presets/a", false, "none", false), ("DELETE", "/api/presets/a", true, "same-origin", true),
        ("PATCH", "/api/tweaks", false, "none", false), ("PUT", "/api/presets/a", false, "cross-site", false),
        ("OPTIONS", "/api/tweaks", false, "cross-site", false), ("OPTIONS", "/api/tweaks", false, nil, true),
    ]

    @Test(arguments: sites) func theSiteDecides(
        _ method: String, _ path: String, _ hasOrigin: Bool, _ site: String?, _ isAllowed: Bool
    ) {
        let origin = hasOrigin ? "http://\(Self.page)" : nil
        let failure = Self.own.failure(of: Self.request(method, path, origin: origin, site: site))
        #expect(failure?.status == (isAllowed ? nil : .forbidden))
    }

    @Test(
        arguments: [
            ("GET", "/", "navigate", "document", true), ("GET", "/", "navigate", "iframe", false),
            ("GET", "/", "navigate", "frame", false), ("GET", "/", "navigate", "embed", false),
            ("GET", "/", "no-cors", "image", false), ("GET", "/", "no-cors", "document", false),
            ("GET", "/", "cors", "empty", false), ("GET", "/", "websocket", "websocket", false),
            ("GET", "/api/tweaks", "navigate", "document", false), ("HEAD", "/", "navigate", "document", false),
            ("GET", "/api/events", "navigate", "document", false), ("POST", "/", "navigate", "document", false),
            ("POST", "/login", "navigate", "document", false),
        ])
    func aLinkElsewhereOpensOnlyThePage(
        _ method: String, _ path: String, _ mode: String, _ use: String, _ isAllowed: Bool
    ) {
        let more = [HTTPField("sec-fetch-mode", mode), HTTPField("sec-fetch-dest", use)]
        for site in ["cross-site", "same-site"] {
            let failure = Self.own.failure(of: Self.request(method, path, site: site, more: more))
            #expect(failure?.status == (isAllowed ? nil : .forbidden))
        }
    }

    @Test(
        arguments: [
            ("host", page, .misdirectedRequest), ("origin", "http://evil.example", .forbidden),
            ("origin", "http://\(page)", .forbidden), ("sec-fetch-site", "same-origin", .forbidden),
            ("content-type", "application/json", .unsupportedMediaType),
        ] as [(String, String, HTTPStatus)])
    func aRepeatedHeaderIsRefused(_ name: String, _ second: String, _ status: HTTPStatus) {
        let more = [HTTPField(name, second)]
        let request = Self.request("POST", origin: "http://\(Self.page)", site: "same-origin", more: more)
        #expect(Self.own.failure(of: request)?.status == status)
    }

    @Test(arguments: ["websocket", "h2c", "", "TLS/1.0"]) func anUpgradeIsRefused(_ protocolName: String) {
        let more = [HTTPField("upgrade", protocolName), HTTPField("connection", "Upgrade")]
        for request in [Self.request(more: more), Self.request(origin: "http://\(Self.page)", more: more)] {
            let failure = Self.own.failure(of: request)
            #expect(failure?.status == .badRequest && failure?.endsConnection == true)
        }
        #expect(Self.own.failure(of: Self.request(more: more + more))?.status == .badRequest)
    }

    @Test(
        arguments: [
            ("application/json", true), ("Application/JSON", true), ("application/json; charset=utf-8", true),
            ("application/json;charset=UTF-8", true), ("application/json ; charset=\"utf-8\"", true), (nil, false),
            ("", false), ("text/plain", false), ("application/x-www-form-urlencoded", false),
            ("multipart/form-data", false), ("application/json, text/plain", false),
            ("text/plain; application/json", false), (";application/json", false), ("application/json;", false),
            ("application/json; charset=latin1", false), ("application/jsonx", false),
            ("application/json; charset=utf-8; x=y", false), ("application/ld+json", false), ("text/json", false),
            ("application/json text/plain", false), ("application /json", false),
        ] as [(String?, Bool)])
    func onlyJSONIsAccepted(_ type: String?, _ isAccepted: Bool) {
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            var request = Self.request(method)
            request.headers.removeAll { ["content-type", "content-length"].contains($0.name) }
            request.headers.append(HTTPField("content-length", "2"))
            if let type { request.headers.append(HTTPField("content-type", type)) }
            #expect(Self.own.failure(of: request)?.status == (isAccepted ? nil : .unsupportedMediaType))
            #expect(Self.own.originFailure(of: request) == nil)
        }
    }

    @Test(
        arguments: [
            ("GET", nil, true), ("HEAD", nil, true), ("DELETE", nil, true), ("DELETE", "0", true),
            ("DELETE", "1", false), ("OPTIONS", nil, true), ("POST", "0", false), ("PUT", "0", false),
            ("PATCH", "0", false), ("POST", nil, false), ("GET", "3", true),
        ] as [(String, String?, Bool)])
    func aBodyNeedsAType(_ method: String, _ length: String?, _ isAccepted: Bool) {
        var request = HTTPRequest(method: method, path: ["api", "tweaks"])
        request.headers = [HTTPField("host", "127.0.0.1:7780")]
        if let length { request.headers.append(HTTPField("content-length", length)) }
        #expect(Self.own.contentFailure(of: request)?.status == (isAccepted ? nil : .unsupportedMediaType))
    }
}

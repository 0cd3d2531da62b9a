// Tests QR codes against those of other implementations.

import Testing
import Tweaks
import TweaksTestSupport

/// The codes are of Python's qrcode 8.2, the penalties of segno 1.6.6.
@Suite(.browsing, .tags(.browser), .needsBrowser) struct QRCodeTests {
    /// A text with its version, its mask, and its rows in hexadecimal digits.
    private static let codes: [(text: String, version: Int, mask: Int, rows: String)] = [
        (
            "", 1, 6,
            """
            1fdb7f 105c41 175d5d 174d5d 175d5d 104341 1fd57f b00 13f597 131555 944d6 5320d 1c7444 1b2b \
            1fd5f2 1057b9 175f6d 175f1c 174847 1040d7 1fda0c
            """
        ),
        (
            "Tweaks", 1, 0,
            """
            1fc97f 105641 17475d 174a5d 175b5d 104241 1fd57f 400 154d12 1f1ea1 16caeb f93b2 117ee3 1860 \
            1fc11f 104853 175d53 17469a 1752fd 104792 1fd6c3
            """
        ),
        (
            "http://localhost/#look=eJw", 2, 4,
            """
            1fd4e7f 1042541 174945d 175fd5d 175065d 1051841 1fd557f 10200 11731f9 15a371a 155debc 787576 \
            d531ef 1899712 2cfe8c 40143e 1bcc3fc 1a514 1fd2958 104851f 175b5f4 17480ef 174f6e2 104767e \
            1fdd247
            """
        ),
        (
            "grün 漢字 🎛", 2, 2,
            """
            1fcca7f 1045f41 175c85d 175755d 175d25d 1050041 1fd557f 11500 17c207c 338e39 356dd6 1ca59cc \
            1acf515 12b0216 10eb08b 14166f2 13723ff 11d14 1fccd5f 105991b 17555fd 175c23b 17532d9 104e7d5 \
            1fd62af
            """
        ),
    ]

    /// The bytes that a version holds at a level, and the beginning of a digest: of the rows of eight masked codes of
    /// the shortest text, and of as many of the longest one.
    private static let versions: [(level: String, version: Int, most: Int, digest: String)] = [
        ("M", 1, 14, "bc9b51aea09f4e10"), ("M", 2, 26, "bda07793ab9a05e3"), ("M", 3, 42, "f040c0e761ae2b98"),
        ("M", 4, 62, "af1f3c81eee67c5d"), ("M", 5, 84, "735c77016e06e982"), ("M", 6, 106, "66fd7a2c25ae7d88"),
        ("M", 7, 122, "72e0c6603ec00234"), ("M", 8, 152, "e9ef46f6d61d6cd5"), ("M", 9, 180, "39edc11b66e13358"),
        ("M", 10, 213, "1addece28d7265ac"), ("M", 11, 251, "241c7cbc492a7774"), ("M", 12, 287, "7f410a40a037221f"),
        ("M", 13, 331, "6725b781292d63cd"), ("M", 14, 362, "1189a5c8e49b9550"), ("M", 15, 412, "769fc154bb49a487"),
        ("M", 16, 450, "bcf01a5dacac23ba"), ("M", 17, 504, "b64e7593ae45184a"), ("M", 18, 560, "76173c975fc6117e"),
        ("M", 19, 624, "bcd363a6b1555f9c"), ("M", 20, 666, "03e56e9ad21c27c9"), ("M", 21, 711, "50839ae322e73f0d"),
        ("M", 22, 779, "09ba9bafc1c35a1c"), ("M", 23, 857, "ca2c5073665b7bdd"), ("M", 24, 911, "17290c9f1af407ba"),
        ("M", 25, 997, "dd08f764ef8a4b28"), ("M", 26, 1059, "5de3b3056500f81b"), ("M", 27, 1125, "b67b245ee5ee341c"),
        ("M", 28, 1190, "316f0fffa02b3477"), ("M", 29, 1264, "273ad0fd8687f55e"), ("M", 30, 1370, "60bbe00f45f3c55d"),
        ("M", 31, 1452, "97c482c8a2437a15"), ("M", 32, 1538, "4daf07f196181ec6"), ("M", 33, 1628, "fd6729905131568c"),
        ("M", 34, 1722, "49a4a0bb8db92593"), ("M", 35, 1809, "83b8c08b0dd7b1d1"), ("M", 36, 1911, "6059f2a0afb5affc"),
        ("M", 37, 1989, "9329a36678041f89"), ("M", 38, 2099, "abfb0860b05d8477"), ("M", 39, 2213, "b2787e17881bfd64"),
        ("M", 40, 2331, "77003592a1e44ecc"), ("L", 36, 2431, "21830ded9aa7dc96"), ("L", 37, 2563, "43dcbcc8a18fff96"),
        ("L", 38, 2699, "caf67e626079645d"), ("L", 39, 2809, "998f870863d76b66"), ("L", 40, 2953, "f1bb4ff195a2b030"),
    ]

    /// The penalty of each mask for a text of some length.
    private static let penalties: [(length: Int, masks: [Int])] = [
        (10, [1087, 1107, 1017, 1037, 1056, 1073, 1072, 1063]),
        (100, [2185, 1992, 2020, 1983, 1890, 1782, 1918, 2052]),
        (600, [7356, 7285, 6853, 6632, 6852, 6612, 7214, 6822]),
    ]

    /// Evaluates an expression with `qrCode`, `qrCodes`, `mostBytes` and `text`, which makes a text of some length.
    private func ask(_ expression: String, _ given: PageValue..., of page: PanelView) throws -> PageValue {
        try page.browser.run(
            """
            const { href } = document.querySelector(`link[href$="/share/qr.js"]`);
            const { qrCode, qrCodes, mostBytes } = await import(href);
            const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
            const text = (length) => {
                let seed = length;
                return Array.from({ length }, () => {
                    seed = Math.imul(seed, 1103515245) + 12345 & 0x7fffffff;
                    return letters[seed >> 16 & 63];
                }).join('');
            };
            const given = arguments[0];
            return (\(expression));
            """, .array(given))
    }

    @Test func codesAreThoseOfOtherImplementations() throws {
        try PanelHost.visit { _, page in
            for code in Self.codes {
                let found = try ask(
                    """
                    (({ version, mask, rows }) =>
                        [version, mask, rows.map((row) => parseInt(row, 2).toString(16)).join(' ')])(qrCode(given[0]))
                    """, .string(code.text), of: page)
                #expect(found == [PageValue(code.version), PageValue(code.mask), .string(code.rows)], "\(code.text)")
            }
        }
    }

    @Test func everyVersionWithEachMaskIsThatOfAnother() throws {
        try PanelHost.visit { _, page in
            var shortest = 0
            for (level, version, most, digest) in Self.versions {
                let found = try ask(
                    """
                    await (async () => {
                        const codes = [given[0], given[1]].flatMap((length) => qrCodes(text(length)));
                        const rows = new TextEncoder().encode(codes.map(({ rows }) => rows.join('')).join(''));
                        const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', rows));
                        const names = new Set(codes.map(({ level, version }) => level + version));
                        return [[...names].join(), Array.from(digest.slice(0, 8), (byte) =>
                            byte.toString(16).padStart(2, '0')).join('')];
                    })()
                    """, PageValue(shortest), PageValue(most), of: page)
                #expect(found == [.string("\(level)\(version)"), .string(digest)])
                shortest = most + 1
            }
            #expect(try ask("[mostBytes, qrCode(text(given[0]))]", PageValue(shortest), of: page) == [2_953, nil])
        }
    }

    @Test func theMaskWithTheLeastPenaltyIsChosen() throws {
        try PanelHost.visit { _, page in
            for (length, masks) in Self.penalties {
                let found = try ask(
                    """
                    [...qrCodes(text(given[0])).map(({ penalty }) => penalty), qrCode(text(given[0])).mask]
                    """, PageValue(length), of: page)
                let best = masks.firstIndex(of: masks.min() ?? 0) ?? 0
                #expect(found == .array((masks + [best]).map { PageValue($0) }))
            }
        }
    }
}

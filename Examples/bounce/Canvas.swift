// Holds a picture in memory and blends colors onto its pixels.

/// An opaque color.
struct Pixel: Equatable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    static let black = Pixel(red: 0, green: 0, blue: 0)
    static let white = Pixel(red: 255, green: 255, blue: 255)

    /// Black or white, the one that is readable on this color.
    var contrast: Pixel { Int(red) * 3 + Int(green) * 6 + Int(blue) > 1280 ? .black : .white }

    /// This color blended with `share` (0…256) of another.
    func mixed(with other: Pixel, _ share: Int) -> Pixel {
        let kept = 256 - share
        return Pixel(
            red: UInt8(truncatingIfNeeded: (Int(red) * kept + Int(other.red) * share) >> 8),
            green: UInt8(truncatingIfNeeded: (Int(green) * kept + Int(other.green) * share) >> 8),
            blue: UInt8(truncatingIfNeeded: (Int(blue) * kept + Int(other.blue) * share) >> 8))
    }
}

/// A rectangle of pixels, row by row.
struct Canvas: Equatable {
    let width: Int
    let height: Int
    private(set) var pixels: [Pixel]

    init(width: Int, height: Int, color: Pixel) {
        self.width = width
        self.height = height
        pixels = Array(repeating: color, count: width * height)
    }

    /// Whether both have the same width and height.
    func hasSize(of other: Canvas) -> Bool { width == other.width && height == other.height }

    /// Blends a color onto the pixels of the dots; `alpha` is the opacity of a dot with full coverage.
    mutating func draw(_ dots: [Dot], movedBy step: Step = Step(), color: Pixel, alpha: Double) {
        let strength = Int(alpha * 256)
        for dot in dots {
            let x = dot.x + step.x
            let y = dot.y + step.y
            guard x >= 0, x < width, y >= 0, y < height else { continue }
            let index = y * width + x
            pixels[index] = pixels[index].mixed(with: color, (dot.share * strength) >> 8)
        }
    }
}

/// A pixel of a shape, and the share of the pixel that the shape covers, 0…256.
struct Dot: Equatable {
    var x: Int
    var y: Int
    var share: Int
}

/// A distance in whole pixels.
struct Step: Equatable {
    var x = 0
    var y = 0
}

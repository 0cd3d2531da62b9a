// Orders names by bytes, with the numbers in them by their value: Screen 2 comes before Screen 10.

extension String {
    /// Whether it comes before another name. Runs of digits are compared as numbers of any length.
    func naturallyPrecedes(_ other: String) -> Bool {
        withBytes { left in other.withBytes { right in NaturalOrder.precedes(left, right) } }
    }
}

private enum NaturalOrder {
    static func precedes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        var (leftAt, rightAt) = (0, 0)
        while leftAt < left.count, rightAt < right.count {
            if left[leftAt].isDigit, right[rightAt].isDigit {
                let (first, second) = (number(left, &leftAt), number(right, &rightAt))
                if first.count != second.count { return first.count < second.count }
                if !first.elementsEqual(second) { return first.lexicographicallyPrecedes(second) }
            } else if left[leftAt] != right[rightAt] {
                return left[leftAt] < right[rightAt]
            } else {
                leftAt += 1
                rightAt += 1
            }
        }
        let isLeftDone = leftAt == left.count
        if isLeftDone != (rightAt == right.count) { return isLeftDone }
        // Equal, but for zeros before a number.
        return left.lexicographicallyPrecedes(right)
    }

    /// The digits from a position on, without leading zeros; moves the position behind them.
    private static func number(
        _ text: UnsafeBufferPointer<UInt8>, _ position: inout Int
    ) -> Slice<UnsafeBufferPointer<UInt8>> {
        let digits = text[position...].prefix(while: \.isDigit)
        position = digits.endIndex
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}

// libFuzzer's entry points, where the program was built with it.

#if FUZZING
    /// The words of a command line, as C has them.
    public typealias FuzzerWords = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    // No header of Swift's has it. It takes and gives plain words, for which both calling conventions are the same.
    /// Looks for inputs until it has found one, or its time is over.
    @_silgen_name("LLVMFuzzerRunDriver")
    func runFuzzer(
        _ count: UnsafeMutablePointer<Int32>, _ words: UnsafeMutablePointer<FuzzerWords>,
        _ entry: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
    ) -> Int32

    nonisolated(unsafe) private var fuzzed = FuzzTarget.codec  // Set once, before the first input.

    /// Takes the target's name off the words: `tweaks-fuzz TARGET -max_total_time=60 CORPUS`.
    @_cdecl("LLVMFuzzerInitialize")
    public func initializeFuzzer(
        _ count: UnsafeMutablePointer<Int32>, _ words: UnsafeMutablePointer<FuzzerWords>
    ) -> Int32 {
        let name = count.pointee > 1 ? words.pointee[1].map { String(cString: $0) } : nil
        guard let target = name.flatMap({ FuzzTarget(rawValue: $0) }) else {
            fatalError("name a target: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
        }
        fuzzed = target
        words.pointee[1] = words.pointee[0]
        words.pointee += 1
        count.pointee -= 1
        return 0
    }

    /// Runs one input.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
        do throws(Finding) {
            try fuzzed.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
        } catch {
            // A trap is what makes libFuzzer keep the input.
            fatalError(error.description)
        }
        return 0
    }
#endif

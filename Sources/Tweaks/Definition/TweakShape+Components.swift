// Creates the shapes of declarations with points, lists and optionals.

extension TweakShape where Value: TweakContainer {
    /// A list or an optional of any values, or of choices.
    static func holding(
        choices: [Value.TweakComponent]?, minLength: Int?, maxLength: Int?, _ texts: DeclarationInfo
    ) -> Self {
        var component = DeclarationInfo.Component(Value.TweakComponent.self)
        if let choices {
            component.isClosed = true
            component.choices = choices.map { TweakChoice($0.erased.choiceName, name: $0.erased.choiceName) }
            // Values of other kinds could not be found by their names.
            if component.kind == nil || component.kind == .string { component.kind = .choice }
        }
        return Self(info: texts.holding([component], minLength, maxLength))
    }
}

extension TweakShape where Value: TweakContainer, Value.TweakComponent: TweakBounded {
    /// A list or an optional of values within a range.
    static func holding(
        _ range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent?, minLength: Int?, maxLength: Int?,
        _ texts: DeclarationInfo
    ) -> Self {
        var component = DeclarationInfo.Component(Value.TweakComponent.self)
        component.lower = range.tweakLowerBound?.erased
        component.upper = range.tweakUpperBound?.erased
        component.step = step?.erased
        return Self(info: texts.holding([component], minLength, maxLength))
    }
}

extension TweakShape where Value == TweakPoint {
    /// A point with a range for each number, and an optional step.
    static func point(_ range: TweakPointRange, step: Double?, _ texts: DeclarationInfo) -> Self {
        let components = [range.x, range.y].map { range in
            var component = DeclarationInfo.Component(Double.self)
            component.lower = range.lowerBound?.erased
            component.upper = range.upperBound?.erased
            component.step = step?.erased
            return component
        }
        return Self(info: texts.holding(components, nil, nil))
    }
}

extension DeclarationInfo {
    fileprivate func holding(_ components: [Component], _ minLength: Int?, _ maxLength: Int?) -> Self {
        var info = self
        (info.components, info.minLength, info.maxLength) = (components, minLength, maxLength)
        return info
    }
}

#if Frozen
    extension FrozenShape where Value: TweakContainer {
        static func holding(
            choices: [Value.TweakComponent]?, minLength: Int?, maxLength: Int?, _ texts: DeclarationInfo
        ) -> Self {
            .described(.holding(choices: choices, minLength: minLength, maxLength: maxLength, texts))
        }
    }

    extension FrozenShape where Value: TweakContainer, Value.TweakComponent: TweakBounded {
        static func holding(
            _ range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent?, minLength: Int?,
            maxLength: Int?, _ texts: DeclarationInfo
        ) -> Self {
            .described(.holding(range, step: step, minLength: minLength, maxLength: maxLength, texts))
        }
    }

    extension FrozenShape where Value == TweakPoint {
        static func point(_ range: TweakPointRange, step: Double?, _ texts: DeclarationInfo) -> Self {
            .described(.point(range, step: step, texts))
        }
    }
#endif

// Turns declarations of points, lists and optionals into shapes.

extension TweakShape where Value: TweakContainer {
    /// A list or an optional of any values, or of some.
    static func holding(
        choices: [Value.TweakComponent]?, minLength: Int?, maxLength: Int?, _ texts: DeclaredFacts
    ) -> Self {
        var component = DeclaredFacts.Component(Value.TweakComponent.self)
        if let choices {
            component.choices = choices.map { TweakChoice($0.erased.choiceName, name: $0.erased.choiceName) }
            // Other values would not be found by their names.
            if component.kind == nil || component.kind == .string { component.kind = .choice }
        }
        return Self(facts: texts.holding([component], minLength, maxLength))
    }
}

extension TweakShape where Value: TweakContainer, Value.TweakComponent: TweakBounded {
    /// A list or an optional of values within a range.
    static func holding(
        _ range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent?, minLength: Int?, maxLength: Int?,
        _ texts: DeclaredFacts
    ) -> Self {
        var component = DeclaredFacts.Component(Value.TweakComponent.self)
        component.lower = range.tweakLowerBound?.erased
        component.upper = range.tweakUpperBound?.erased
        component.step = step?.erased
        return Self(facts: texts.holding([component], minLength, maxLength))
    }
}

extension TweakShape where Value == TweakPoint {
    /// A point whose numbers have a range each, and maybe a step.
    static func point(_ range: TweakPointRange, step: Double?, _ texts: DeclaredFacts) -> Self {
        let components = [range.x, range.y].map { range in
            var component = DeclaredFacts.Component(Double.self)
            component.lower = range.lowerBound?.erased
            component.upper = range.upperBound?.erased
            component.step = step?.erased
            return component
        }
        return Self(facts: texts.holding(components, nil, nil))
    }
}

extension DeclaredFacts {
    fileprivate func holding(_ components: [Component], _ minLength: Int?, _ maxLength: Int?) -> Self {
        var facts = self
        (facts.components, facts.minLength, facts.maxLength) = (components, minLength, maxLength)
        return facts
    }
}

#if Frozen
    extension FrozenShape where Value: TweakContainer {
        static func holding(
            choices: [Value.TweakComponent]?, minLength: Int?, maxLength: Int?, _ texts: DeclaredFacts
        ) -> Self {
            .described(.holding(choices: choices, minLength: minLength, maxLength: maxLength, texts))
        }
    }

    extension FrozenShape where Value: TweakContainer, Value.TweakComponent: TweakBounded {
        static func holding(
            _ range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent?, minLength: Int?,
            maxLength: Int?, _ texts: DeclaredFacts
        ) -> Self {
            .described(.holding(range, step: step, minLength: minLength, maxLength: maxLength, texts))
        }
    }

    extension FrozenShape where Value == TweakPoint {
        static func point(_ range: TweakPointRange, step: Double?, _ texts: DeclaredFacts) -> Self {
            .described(.point(range, step: step, texts))
        }
    }
#endif

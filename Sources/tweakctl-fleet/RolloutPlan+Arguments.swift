// Parses the options of a rollout: selector, steps, conditions, times.

import Tweaks
import TweaksFleet
import TweaksSystem

extension RolloutPlan {
    /// Creates a plan from the options.
    init(
        _ arguments: FleetArguments, _ assignments: [FleetAssignment], id: String, leastEvery: Int64
    ) throws(Failure) {
        self.init(id: id, assignments: assignments)
        selector = try Self.selector(arguments.values(.where))
        steps = try Self.steps(arguments.value(.steps) ?? "1,10,50,100")
        every = try arguments.seconds(.every, atLeast: leastEvery) ?? 300
        confirmWithin = try arguments.seconds(.confirmWithin, atLeast: 60)
        for text in arguments.values(.abortIf) {
            guard let condition = MetricCondition(parsing: text) else {
                throw Failure(
                    .usage, "--abort-if: \(Quoting.excerpt(text)) is not a condition; write 'Service/Errors/Rate > 5'")
            }
            abortIf.append(condition)
        }
        if arguments.has(.detach), arguments.has(.revertIfDriverDies) {
            throw Failure(.usage, "--detach leaves no driver, and --revert-if-driver-dies needs one; leave one out")
        }
    }

    private static func selector(_ texts: [String]) throws(Failure) -> Labels {
        var selector: Labels = [:]
        for text in texts {
            for (label, value) in try labels(text) {
                guard selector[label] == nil || selector[label] == value else {
                    throw Failure(.usage, "--where: no process has two values of \(label); leave one out")
                }
                selector[label] = value
            }
        }
        return selector
    }

    private static func labels(_ text: String) throws(Failure) -> Labels {
        do throws(FleetProblem) {
            return try Labels(parsing: text)
        } catch {
            throw Failure(.usage, "--where: \(error.description)")
        }
    }

    static func steps(_ text: String) throws(Failure) -> [Share] {
        var steps: [Share] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let share = Share(percent: String(part)), share > .none else {
                throw Failure(
                    .usage, "--steps: \(Quoting.excerpt(String(part))) is not a percentage; write 1,10,50,100")
            }
            if let last = steps.last, share <= last {
                throw Failure(.usage, "--steps: \(text) does not grow; write 1,10,50,100")
            }
            steps.append(share)
        }
        guard steps.count <= Rollout.maxSteps else {
            throw Failure(.usage, "--steps: \(steps.count) are too many; at most \(Rollout.maxSteps)")
        }
        return steps
    }
}

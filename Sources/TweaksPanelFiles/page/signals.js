// Carries signals from a module to those that are built on it, which it does not import.

const actions = new Map();

/** Calls `action` at each signal of that name. */
export function listen(name, action) {
  actions.set(name, [...actions.get(name) ?? [], action]);
}

/** Tells everybody who listens, before it returns. */
export function emit(name, ...details) {
  for (const action of actions.get(name) ?? []) action(...details);
}

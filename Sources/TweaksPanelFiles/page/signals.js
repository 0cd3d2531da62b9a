// Delivers signals from a module to modules that import it, which it cannot import itself.

const actions = new Map();

/** Calls `action` at each signal of that name. */
export function listen(name, action) {
  actions.set(name, [...actions.get(name) ?? [], action]);
}

/** Calls all listeners of a signal before it returns. */
export function emit(name, ...details) {
  for (const action of actions.get(name) ?? []) action(...details);
}

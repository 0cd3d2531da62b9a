// Stores the process, the identity of this page, and its scopes.

import { root } from './dom.js';

/** Whether the process is connected, even if it is slow to answer. */
export const isConnected = () => ['connected', 'silent'].includes(root.dataset.state);

export const session = { process: 'the process', instance: '', identity: '', scopes: [] };
/** Parses a scope by the rules of the server. */
export function scopeOf(text) {
  const [kind, pattern = '*'] = [
    text.split(':', 1)[0],
    text.includes(':') ? text.slice(text.indexOf(':') + 1) : undefined,
  ];
  const parts = pattern.split('/');
  if (!parts.includes('**') && parts.length < 3) parts.push('**');
  const source = parts.map((part) =>
    part === '**'
      ? '(?:[^/]+/)*'
      : part.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*').replaceAll('?', '[^/]') + '/'
  ).join('');
  return { kind, pattern: new RegExp(`^${source}$`, 'u'), isWhole: pattern === '*' };
}

export const may = (kind, path) =>
  session.scopes.some((scope) =>
    (scope.kind === kind || scope.kind === 'admin') && (path == null || scope.pattern.test(path + '/'))
  );
export const mayAll = (kind) =>
  session.scopes.some((scope) => (scope.kind === kind || scope.kind === 'admin') && scope.isWhole);

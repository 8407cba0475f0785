import type { AnyInput } from '../api/operations.ts';

/*
 * A form that starts with what is set keeps what a person changed in it, and nothing else: what is set may be read anew
 * beneath it, after signing in again, and is neither shown as it was nor sent back.
 */

/** What the fields show. */
export function shownOf(edits: AnyInput, start: AnyInput = {}): AnyInput {
  return { ...start, ...edits };
}

/** What is otherwise than what is set. */
export function changesOf(edits: AnyInput, start: AnyInput = {}): AnyInput {
  return Object.fromEntries(Object.entries(edits).filter(([name, value]) => value !== start[name]));
}

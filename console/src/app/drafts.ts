import { useEffect, useRef, useState, type Dispatch, type SetStateAction } from 'react';

/*
 * What was typed into forms when a session ended by itself, for the person to go on with after signing in again. It stays in
 * the memory of this page, never has a secret in it, and is dropped when somebody else signs in or the person signs out.
 */

const kept = new Map<string, unknown>();
const open = new Map<string, () => unknown>();
let owner: string | undefined;

/** Called before the pages of the person are taken away. */
export function keepDrafts(username: string): void {
  owner = username;
  for (const [key, read] of open) {
    const value = read();
    if (value !== undefined) kept.set(key, value);
  }
}

export function dropDrafts(): void {
  kept.clear();
  owner = undefined;
}

export function dropDraftsOfOthers(username: string): void {
  if (owner !== username) dropDrafts();
}

function place(key: string): string {
  return `${location.pathname} ${key}`;
}

export function hasDraft(key: string): boolean {
  return kept.has(place(key));
}

/**
 * As `useState`, but what a session that ended left behind comes first. `keep` says what of it may be kept; undefined
 * where there is nothing to keep.
 */
export function useDraft<T>(
  key: string,
  start: () => T,
  keep: (value: T) => T | undefined = (value) => value,
): [T, Dispatch<SetStateAction<T>>] {
  const at = useRef(place(key)).current;
  const [value, set] = useState<T>(() => (kept.has(at) ? (kept.get(at) as T) : start()));
  const read = useRef(() => keep(value));
  read.current = () => keep(value);
  useEffect(() => {
    // It was taken over: what is opened next begins anew.
    kept.delete(at);
    open.set(at, () => read.current());
    return () => void open.delete(at);
  }, [at]);
  return [value, set];
}

import { service } from './service.ts';

/*
 * Whether a person uses the page. What a page reads by itself must not prolong a session, and typing must, though it sends
 * nothing. All tabs of a browser share the session, so each passes the time of the last input on to the others.
 */

const ACTS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;
/** For this long after the last input, reading counts as use. */
const ATTENDED_MS = 60_000;
const SHARE_EVERY_MS = 5_000;
const UNATTENDED = { 'x-unattended': '1' } as const;

const channel = new BroadcastChannel(`granary-presence-${service.kind}`);
const listeners = new Set<() => void>();
let actedAt = Date.now();
let sharedAt = 0;

for (const type of ACTS) addEventListener(type, act, { capture: true, passive: true });
channel.onmessage = ({ data }) => {
  if (typeof data !== 'number') return;
  actedAt = Math.max(actedAt, Math.min(data, Date.now()));
  publish();
};

function act(): void {
  actedAt = Date.now();
  if (actedAt - sharedAt < SHARE_EVERY_MS) return;
  sharedAt = actedAt;
  channel.postMessage(actedAt);
  publish();
}

function publish(): void {
  for (const listener of listeners) listener();
}

/** Called every few seconds while there is input. */
export function whenActing(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function lastActAt(): number {
  return actedAt;
}

/** Marks a request that a page makes by itself, without recent input. */
export function attendance(): Readonly<Record<string, string>> {
  return Date.now() - actedAt < ATTENDED_MS ? {} : UNATTENDED;
}

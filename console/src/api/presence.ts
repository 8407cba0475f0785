import { service } from './service.ts';

/*
 * Whether somebody is at the page. What a page reads by itself must not keep a session going in an empty room, and typing
 * must, though it sends nothing. All tabs of a browser share the session, and so tell each other.
 */

const ACTS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;
/** So long after the last act, reading is still of somebody's doing. */
const ATTENDED_MS = 60_000;
const TELL_EVERY_MS = 5_000;
const UNATTENDED = { 'x-unattended': '1' } as const;

const channel = new BroadcastChannel(`granary-presence-${service.kind}`);
const listeners = new Set<() => void>();
let actedAt = Date.now();
let toldAt = 0;

for (const type of ACTS) addEventListener(type, act, { capture: true, passive: true });
channel.onmessage = ({ data }) => {
  if (typeof data !== 'number') return;
  actedAt = Math.max(actedAt, Math.min(data, Date.now()));
  publish();
};

function act(): void {
  actedAt = Date.now();
  if (actedAt - toldAt < TELL_EVERY_MS) return;
  toldAt = actedAt;
  channel.postMessage(actedAt);
  publish();
}

function publish(): void {
  for (const listener of listeners) listener();
}

/** Called every few seconds while somebody is there. */
export function whenActing(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function lastActAt(): number {
  return actedAt;
}

/** Says of a request that a page makes by itself that nobody asked for it. */
export function attendance(): Readonly<Record<string, string>> {
  return Date.now() - actedAt < ATTENDED_MS ? {} : UNATTENDED;
}

/** Members of a time line that stand together. `at`: 0 is the oldest, 1 is now. */
export interface Cluster<T> {
  readonly at: number;
  readonly members: readonly T[];
}

/** Marks closer than this share of the line could not be told apart, or hit with a finger. */
const APART = 0.025;

/** Puts what was taken at moments on a line from the oldest to `now`; what is too close becomes one mark. */
export function clusters<T>(all: readonly T[], takenAt: (one: T) => Date, now: number): Cluster<T>[] {
  const sorted = [...all].sort((a, b) => takenAt(a).getTime() - takenAt(b).getTime());
  const oldest = sorted[0] === undefined ? now : takenAt(sorted[0]).getTime();
  const span = Math.max(1, now - oldest);
  const found: { at: number; members: T[] }[] = [];
  for (const one of sorted) {
    const at = Math.min(1, (takenAt(one).getTime() - oldest) / span);
    const last = found.at(-1);
    if (last && at - last.at < APART) last.members.push(one);
    else found.push({ at, members: [one] });
  }
  return found;
}

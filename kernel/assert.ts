/** Checked in production as well: a broken invariant fails the request instead of the data. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${message}`);
}

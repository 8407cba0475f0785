/** Holds in production too: a broken assumption stops the one request, not the data. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${message}`);
}

/**
 * A copy in memory of its own. Small buffers that Node makes otherwise share pieces of 8 KiB: one that is kept for long
 * keeps the whole piece.
 */
export function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

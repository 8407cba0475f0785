/** What crosses to another thread takes all the memory it is a view of along: views of parts are copied out first. */
export function compact(value: unknown): unknown {
  return value instanceof Uint8Array && value.length < value.buffer.byteLength ? Uint8Array.from(value) : value;
}

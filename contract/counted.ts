/** `1 volume`, `2 volumes`, `1 directory`: `things` is the plural of a regular noun, or ends in one. */
export function counted(count: number, things: string): string {
  return `${count} ${count === 1 ? things.replace(/ies$/, 'ys').replace(/s$/, '') : things}`;
}

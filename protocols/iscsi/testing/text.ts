/** Keys and values as iSCSI writes them: `Key=value` and a zero byte. */
export function encodeText(pairs: Iterable<readonly [string, string]>): Buffer {
  return Buffer.from([...pairs].map(([key, value]) => `${key}=${value}\0`).join(''), 'utf8');
}

/** In order, for a key such as TargetAddress may come many times. */
export function decodeText(bytes: Buffer): (readonly [string, string])[] {
  return bytes
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const cut = line.indexOf('=');
      return cut < 0 ? ([line, ''] as const) : ([line.slice(0, cut), line.slice(cut + 1)] as const);
    });
}

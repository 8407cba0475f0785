let used = 0;

/** A loopback network no other test has: tests of one process count, tests of others differ by process id. */
export function testNetwork(): string {
  used += 1;
  return `127.${100 + (process.pid % 100)}.${(Math.floor(process.pid / 100) * 8 + used) % 256}`;
}

import { spawn } from 'node:child_process';

/**
 * Gives a range of a file back to its disk; the range reads as zeros afterwards. Node has no call for it, so the command
 * `fallocate` of the system does it. False when there is no such command, or the file system cannot.
 */
export function punchHole(fd: number, offset: number, length: number): Promise<boolean> {
  const range = ['--punch-hole', '--offset', String(offset), '--length', String(length)];
  return new Promise((resolve) => {
    // The open file and not its path, which may lead elsewhere by now.
    const child = spawn('fallocate', [...range, '/proc/self/fd/3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

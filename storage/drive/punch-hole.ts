import { spawn } from 'node:child_process';

/**
 * Deallocates a range of a file; the range reads as zeros afterwards. Node has no call for it, so the system's
 * `fallocate` command is used. False when there is no such command, or the file system does not support it.
 */
export function punchHole(fd: number, offset: number, length: number): Promise<boolean> {
  const range = ['--punch-hole', '--offset', String(offset), '--length', String(length)];
  return new Promise((resolve) => {
    // The open file, not its path, which may refer to another file by now.
    const child = spawn('fallocate', [...range, '/proc/self/fd/3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

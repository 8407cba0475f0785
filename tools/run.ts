import { spawn, type ChildProcess } from 'node:child_process';

/** Runs a command with the output of this process; resolves with its exit code. */
export function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  return ended(spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } }));
}

/** Runs a command beside others: its output is printed in one piece when it has ended. */
export async function runQuietly(
  command: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { code: await ended(child), output: Buffer.concat(chunks).toString() };
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(signal === null ? (code ?? 1) : 1));
  });
}

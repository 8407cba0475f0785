import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostedConfiguration } from '../configuration.ts';
import type { FromProgram } from '../messages.ts';
import { PREPARE } from '../program.ts';
import type { ProcessLimits } from '../limits.ts';
import { programEnvironment, programOptions } from '../resources.ts';

const prepared = new Map<string, Promise<void>>();

/** The program of an array in a process of its own, as its cloud would run it; resolves when it serves. */
export async function forkProgram(program: URL, configuration: HostedConfiguration): Promise<ChildProcess> {
  let preparing = prepared.get(program.href);
  if (!preparing) prepared.set(program.href, (preparing = prepare(program)));
  await preparing;
  const child = forkOnce(program, configuration.limits);
  child.send({ kind: 'start', configuration });
  let message: FromProgram;
  do [message] = (await once(child, 'message')) as [FromProgram];
  while (message.kind === 'progress');
  if (message.kind !== 'ready') throw new Error(`The array did not start: ${JSON.stringify(message)}`);
  return child;
}

/** Does nothing when it is gone already. */
export async function endProgram(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** Kept small, and compiled beforehand. */
function forkOnce(program: URL, limits: ProcessLimits, ...args: string[]): ChildProcess {
  return fork(program, args, {
    execArgv: programOptions(program.pathname, limits),
    env: { ...process.env, ...programEnvironment(limits), NODE_COMPILE_CACHE: join(tmpdir(), 'granary-compile-cache') },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function prepare(program: URL): Promise<void> {
  await once(forkOnce(program, {}, PREPARE), 'exit');
}

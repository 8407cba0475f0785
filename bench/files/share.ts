import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { programEnvironment } from '@granary/kernel';
import { CONTROLLER_YOUNG_MB } from '../../array/engine/controllers/controller-thread.ts';

/** A young generation is two halves and what survived once, of the same size. */
const SEMI_SPACE_MB = CONTROLLER_YOUNG_MB / 3;

export interface Share {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** The share in a folder, served by a process with the memory of an array's controller. */
export async function startShare(folder: string): Promise<Share> {
  const program = new URL('share-server.ts', import.meta.url);
  const child: ChildProcess = fork(program, [folder], {
    execArgv: [`--max-semi-space-size=${SEMI_SPACE_MB}`],
    env: { ...process.env, ...programEnvironment() },
  });
  const [message] = (await once(child, 'message')) as [{ port: number }];
  const stop = async (): Promise<void> => {
    const gone = once(child, 'exit');
    child.disconnect();
    await gone;
  };
  return { port: message.port, pid: child.pid ?? 0, stop };
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { PROGRAM_ENVIRONMENT, programOptions } from '@granary/kernel';

export interface Share {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** The share in a folder, served by a process with the memory options of an array. */
export async function startShare(folder: string): Promise<Share> {
  const program = new URL('share-server.ts', import.meta.url);
  const child: ChildProcess = fork(program, [folder], {
    execArgv: programOptions(program.pathname),
    env: { ...process.env, ...PROGRAM_ENVIRONMENT },
  });
  const [message] = (await once(child, 'message')) as [{ port: number }];
  const stop = async (): Promise<void> => {
    const gone = once(child, 'exit');
    child.disconnect();
    await gone;
  };
  return { port: message.port, pid: child.pid ?? 0, stop };
}

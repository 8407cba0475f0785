import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { arrayClient, type ArrayClient } from '@granary/client';
import type { HostedConfiguration } from '@granary/kernel';
import { testConfiguration } from '../../kernel/process/testing/configuration.ts';
import { endProgram, forkProgram } from '../../kernel/process/testing/fork-program.ts';
import { placeDrives } from './drives.ts';

const ANSWER_MS_MAX = 120_000;
/** Of the kernel's clock that `/proc` counts in. */
const MS_PER_TICK = 10;

/** An array as its cloud would run it, in a process of its own. */
export class TestArrayProcess {
  readonly url: string;
  readonly accessKey: string;
  readonly client: ArrayClient;
  readonly #child: ChildProcess;

  static async start(configuration: HostedConfiguration): Promise<TestArrayProcess> {
    const child = await forkProgram(new URL('../main.ts', import.meta.url), configuration);
    const { managementUrl: url, owner: user, initialPasscode: password } = configuration;
    const signedIn = await arrayClient({ url }).users.login({ user, password });
    return new TestArrayProcess(child, url, signedIn.user.access_key);
  }

  private constructor(child: ChildProcess, url: string, accessKey: string) {
    this.#child = child;
    this.url = url;
    this.accessKey = accessKey;
    this.client = arrayClient({ url, accessKey, timeoutMs: ANSWER_MS_MAX });
  }

  residentMb(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
  }

  /** What all its threads have computed so far. */
  cpuMs(): number {
    const [, fields = ''] = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ');
    const [user = '0', system = '0'] = fields.split(' ').slice(11, 13);
    return (Number(user) + Number(system)) * MS_PER_TICK;
  }

  async stop(): Promise<void> {
    await endProgram(this.#child, 'SIGTERM');
  }

  async kill(): Promise<void> {
    await endProgram(this.#child, 'SIGKILL');
  }
}

/** The configuration that a cloud would send to an array with this number of drives, all below the folder. */
export function arrayConfiguration(folder: string, driveCount: number, driveGb: number): HostedConfiguration {
  const numbers = Array.from({ length: driveCount }, (_, index) => index + 1);
  const drives = placeDrives(join(folder, 'drives'), numbers, driveGb);
  return testConfiguration(join(folder, 'array'), { drives });
}

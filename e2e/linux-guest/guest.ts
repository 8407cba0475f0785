import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ended } from '../programs.ts';
import { initialFile } from './archive.ts';

/** The folder with the guest: its kernel and what it unpacks at its start. */
const FOLDER = process.env['GRANARY_LINUX_CLIENT'];
const KERNEL = 'vmlinuz';
const ROOT = 'initrd.gz';
const MEMORY_MB = 2048;
const ENDED = /^GUEST EXIT (\d+)$/;

const MACHINES: Readonly<Record<string, readonly string[]>> = {
  arm64: ['qemu-system-aarch64', '-M', 'virt', '-cpu', 'cortex-a72', '-append', 'console=ttyAMA0 quiet panic=-1'],
  x64: ['qemu-system-x86_64', '-M', 'q35', '-cpu', 'max', '-append', 'console=ttyS0 quiet panic=-1'],
};

/** A server of ours, and where the guest finds it: an address of 10.0.2.100 to 10.0.2.200. */
export interface Forward {
  readonly from: string;
  readonly host: string;
  readonly port: number;
}

export interface GuestOptions {
  /** Runs as root in `sh`. */
  readonly job: string;
  /** For what the emulator needs. */
  readonly folder: string;
  readonly forwards: readonly Forward[];
  /** Each line that the job prints. */
  readonly onLine: (line: string) => void;
}

export interface Guest {
  /** Of the job; undefined if the guest ended before it. */
  readonly status: Promise<number | undefined>;
  kill(): void;
}

/** The reason to skip what needs the guest, or `false`. */
export async function skipWithoutGuest(): Promise<string | false> {
  if (FOLDER === undefined) return 'GRANARY_LINUX_CLIENT names no folder with a Linux to boot';
  const missing = [KERNEL, ROOT].find((file) => !existsSync(join(FOLDER, file)));
  if (missing !== undefined) return `there is no ${missing} in ${FOLDER}`;
  for (const program of [machine()[0] ?? '', 'socat']) {
    const { code } = await ended('sh', ['-c', `command -v ${program}`], { cwd: '/', env: {} });
    if (code !== 0) return `${program} is not installed`;
  }
  return false;
}

function machine(): readonly string[] {
  return MACHINES[process.arch] ?? [`an emulator for ${process.arch}`];
}

/** Boots a Linux of its own in an emulator, which reaches nothing but what is forwarded, and runs the job in it. */
export function bootGuest({ job, folder, forwards, onLine }: GuestOptions): Guest {
  const given = FOLDER ?? '';
  const root = join(folder, ROOT);
  writeFileSync(root, Buffer.concat([readFileSync(join(given, ROOT)), initialFile('job', job)]));
  const [program = '', ...kind] = machine();
  const network = forwards.map(({ from, host, port }) => `,guestfwd=tcp:${from}-cmd:socat - TCP:${host}:${port}`);
  const args = [
    ...kind,
    ...(existsSync('/dev/kvm') ? ['-enable-kvm'] : []),
    ...['-smp', '1', '-m', String(MEMORY_MB)],
    ...['-kernel', join(given, KERNEL), '-initrd', root],
    ...['-nographic', '-no-reboot', '-nodefaults', '-serial', 'stdio'],
    ...['-netdev', `user,id=n0,restrict=on${network.join('')}`],
    ...['-device', 'virtio-net-pci,netdev=n0,romfile='],
  ];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let status: number | undefined;
  createInterface({ input: child.stdout }).on('line', (raw) => {
    const line = raw.trimEnd();
    const exit = ENDED.exec(line);
    if (exit) status = Number(exit[1]);
    else onLine(line);
  });
  return {
    status: once(child, 'close').then(() => status),
    kill: () => void child.kill('SIGKILL'),
  };
}

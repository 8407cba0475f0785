import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { HostedDrive } from '@granary/kernel';
import { testDrive } from '../../kernel/process/testing/configuration.ts';

const GIGABYTE = 2 ** 30;

/** Drives as a cloud would place them: sparse files below the folder. */
export function placeDrives(folder: string, numbers: readonly number[], driveGb: number): HostedDrive[] {
  mkdirSync(folder, { recursive: true });
  return numbers.map((number) => {
    const file = join(folder, `${number}.drive`);
    if (!existsSync(file)) makeFile(file, driveGb * GIGABYTE);
    return { ...testDrive(number), capacityGb: driveGb, file };
  });
}

function makeFile(file: string, bytes: number): void {
  const handle = openSync(file, 'w', 0o600);
  ftruncateSync(handle, bytes);
  closeSync(handle);
}

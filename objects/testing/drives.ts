import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { HostedDrive, HostedPolicy } from '@granary/kernel';
import { testDrive } from '../../kernel/process/testing/configuration.ts';

export const twoCopies: HostedPolicy = {
  name: 'two-copies',
  typeId: 1,
  typeName: '2-way',
  replicas: 2,
  dataFragments: 0,
  parityFragments: 0,
};

export function driveFolder(root: string, number: number): string {
  return join(root, 'drives', String(number));
}

/** A folder that stands for a drive, as a cloud would place it. */
export function placeDrive(root: string, number: number): HostedDrive {
  const file = driveFolder(root, number);
  mkdirSync(file, { recursive: true });
  const site = number % 2;
  return {
    ...testDrive(number),
    file,
    node: `node-${2 - site}`,
    zone: `zone_${1 - site}`,
    zoneDisplayName: `Zone ${1 - site}`,
  };
}

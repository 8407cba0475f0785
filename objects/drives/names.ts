import type { HostedDrive } from '@granary/kernel';

/** Drives are numbered in the order in which the array got them. */
export function driveName({ number }: Pick<HostedDrive, 'number'>): string {
  return `volume-${number.toString(16).padStart(8, '0')}`;
}

import type { HostedConfiguration } from '@granary/kernel';

const TARGET_PREFIX = 'iqn.2025-11.io.granary';

type Named = Pick<HostedConfiguration, 'internalName' | 'dualTarget'>;

/** The IQN servers log in to: an array has one, whichever controller serves it. */
export function targetOf(internalName: string): string {
  return `${TARGET_PREFIX}:${internalName}`;
}

/**
 * The target of each controller, by its index. They differ where the array was ordered with two; the active controller
 * serves both then, so that a server keeps two paths whichever it is.
 */
export function targetOfController({ internalName, dualTarget }: Named, index: number): string {
  return dualTarget && index > 0 ? `${targetOf(internalName)}-vc-${index}` : targetOf(internalName);
}

/** All that the array serves, without repeats. */
export function targetsOf(array: Named): string[] {
  return [...new Set([0, 1].map((index) => targetOfController(array, index)))];
}

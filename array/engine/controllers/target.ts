const TARGET_PREFIX = 'iqn.2025-11.io.granary';

/** The IQN servers log in to: an array has one, whichever controller serves it. */
export function targetOf(internalName: string): string {
  return `${TARGET_PREFIX}:${internalName}`;
}

const NAMES_SHOWN_MAX = 5;

/** `network storage is`, `networks storage, backup are`; a long list is cut short. */
export function namely(kind: string, names: readonly string[]): string {
  if (names.length === 1) return `${kind} ${names[0]} is`;
  const more = names.length - NAMES_SHOWN_MAX;
  return `${kind}s ${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''} are`;
}

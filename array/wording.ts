/** A thing as messages name it: by what people call it, and by its identifier. */
export function called(
  thing: { readonly name: string } & ({ readonly displayName: string } | { readonly display_name: string }),
): string {
  const { name } = thing;
  const displayName = 'displayName' in thing ? thing.displayName : thing.display_name;
  return displayName === name ? name : `${displayName} (${name})`;
}

/** `a, b and c` */
export function listed(words: readonly (string | number)[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? String(last) : `${words.slice(0, -1).join(', ')} and ${last}`;
}

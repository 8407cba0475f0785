/** A thing as messages name it: by what people call it, and by its identifier. */
export function called({ name, displayName }: { readonly name: string; readonly displayName: string }): string {
  return displayName === name ? name : `${displayName} (${name})`;
}

/** `a, b and c` */
export function listed(words: readonly (string | number)[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? String(last) : `${words.slice(0, -1).join(', ')} and ${last}`;
}

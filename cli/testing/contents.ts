/** What a portal says that an array holds. */
export function contents(held: Readonly<Record<string, number>>, known = true): object {
  const nothing = { volumes: null, attached_volumes: null, accounts: null, containers: null, objects: null };
  return { status: 'success', data: { known, ...nothing, ...held } };
}

const WORDS: Readonly<Record<string, string>> = {
  admin: 'administrator',
  objs_admin: 'array administrator',
  account_admin: 'account administrator',
};

/** A role of any service, as all pages call it. */
export function roleWords(role: string): string {
  return WORDS[role] ?? role;
}

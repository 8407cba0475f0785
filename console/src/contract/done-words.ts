interface Action {
  readonly label: string;
  /** The name of what is gone then. */
  readonly destroys?: string | undefined;
}

/** The portal says in words what became of a call. */
export function messageIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('message' in value)) return undefined;
  return typeof value.message === 'string' && value.message !== '' ? value.message : undefined;
}

const PAST: Readonly<Record<string, string>> = {
  Delete: 'was deleted',
  Remove: 'was removed',
  Shred: 'is being shredded',
};

/** `New user` → `The user was made.`; `Delete` of what is called tank → `tank was deleted.` */
export function doneWords({ label, destroys }: Action): string {
  const [, made] = /^New (.+)$/.exec(label) ?? [];
  if (made !== undefined) return `The ${made} was made.`;
  const past = PAST[label];
  return past !== undefined && destroys !== undefined ? `${destroys} ${past}.` : `${label}: done.`;
}

interface Named {
  readonly name: string;
  readonly display_name: string;
}

const LENGTH_MAX = 6;

/** What stands in the small box of a drive: `ssd-12` is `12`. One that is called by its identifier has its last digits. */
export function shortDriveName({ name, display_name: displayName }: Named): string {
  if (displayName === name) return name.replace(/^.*-0*(?=..)/, '');
  return /^[a-z]+-(\d{1,4})$/.exec(displayName)?.[1] ?? displayName.slice(0, LENGTH_MAX);
}

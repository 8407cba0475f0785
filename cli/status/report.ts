/** What needs a person, and what is only under way. */
export interface Finding {
  /** `failing` and `full` need attention; `waiting` and `underway` do not by themselves. */
  readonly kind: 'failing' | 'full' | 'waiting' | 'underway';
  /** The array it is about; none for the portal. */
  readonly array?: string;
  readonly what: string;
}

export interface ArrayReport {
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  /** GiB; absent where the array could not be asked. */
  readonly capacity?: number;
  readonly used?: number;
  readonly drives?: number;
  /** Why no more is known. */
  readonly note?: string;
}

export interface StatusReport {
  readonly portal: string;
  readonly arraysByState: Readonly<Record<string, number>>;
  readonly requestsPending: number;
  readonly arrays: readonly ArrayReport[];
  readonly findings: readonly Finding[];
}

export function needsAttention({ findings }: Pick<StatusReport, 'findings'>): readonly Finding[] {
  return findings.filter(({ kind }) => kind === 'failing' || kind === 'full');
}

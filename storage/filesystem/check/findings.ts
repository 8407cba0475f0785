const FINDINGS_MAX = 1000;

/** The findings of a check, in words; at most a thousand. */
export class Findings {
  readonly list: string[] = [];

  add(finding: string): void {
    if (this.list.length < FINDINGS_MAX) this.list.push(finding);
  }
}

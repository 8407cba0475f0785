const FINDINGS_MAX = 1000;

/** What a check found, in words; the first thousand. */
export class Findings {
  readonly list: string[] = [];

  add(finding: string): void {
    if (this.list.length < FINDINGS_MAX) this.list.push(finding);
  }
}

import type { TestOutcome } from './parse-output.ts';

/** Tests that no right target can pass, and why. */
const EXCUSED: ReadonlyMap<string, string> = new Map([
  [
    'GetLBAStatus.UnmapSingle',
    'asks for block i + 1 and wants the answer to begin at i + 8 where a physical block has 8 logical ones',
  ],
]);

export function excuseOf({ name }: TestOutcome): string | undefined {
  return EXCUSED.get(name);
}

/** What failed and has no excuse. */
export function unexcusedFailures(outcomes: readonly TestOutcome[]): TestOutcome[] {
  return outcomes.filter((outcome) => outcome.result === 'failed' && excuseOf(outcome) === undefined);
}

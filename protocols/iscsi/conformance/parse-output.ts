export interface TestOutcome {
  /** Suite and test, as `iscsi-test-cu --list` names them: `Inquiry.Standard`. */
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly reason: string;
}

const SUITE = /^Suite: (\S+)/;
const TEST = /^\s+Test: (\S+) \.\.\.(.*)$/;
const REASON_CHARACTERS_MAX = 200;

/** Reads what `iscsi-test-cu --verbose` prints. A test without an end is left out: the caller knows which tests it asked for. */
export function parseOutput(output: string): TestOutcome[] {
  const outcomes: TestOutcome[] = [];
  let suite = '';
  let current: { name: string; lines: string[] } | undefined;
  const end = () => {
    const outcome = current === undefined ? undefined : outcomeOf(current.name, current.lines);
    if (outcome !== undefined) outcomes.push(outcome);
    current = undefined;
  };
  for (const line of output.split('\n')) {
    const test = TEST.exec(line);
    const next = SUITE.exec(line);
    if (test !== null || next !== null || line.startsWith('Run Summary')) end();
    if (next !== null) suite = next[1] ?? '';
    if (test !== null) current = { name: `${suite}.${test[1] ?? ''}`, lines: [test[2] ?? ''] };
    else current?.lines.push(line);
  }
  end();
  return outcomes;
}

/** The verdict stands at the start of a line or at its end; `[FAILED]` is only what a step said on the way. */
function outcomeOf(name: string, lines: readonly string[]): TestOutcome | undefined {
  const said = lines.map((line) => line.trim()).filter((line) => line !== '');
  if (said.some((line) => line.startsWith('FAILED') || /^\d+\. .*CU_/.test(line))) {
    const reason = said.find((line) => /^\d+\. |^\[FAILED\]/.test(line)) ?? said.join(' ');
    return { name, result: 'failed', reason: shorten(reason.replace('[FAILED]', '').trim()) };
  }
  if (!said.some((line) => /^passed\b|\bpassed$/.test(line))) return undefined;
  const skipped = said.find((line) => line.includes('[SKIPPED]'));
  if (skipped === undefined) return { name, result: 'passed', reason: '' };
  return { name, result: 'skipped', reason: shorten(skipped.replace(/.*\[SKIPPED\]/, '').trim()) };
}

function shorten(text: string): string {
  return text.length <= REASON_CHARACTERS_MAX ? text : `${text.slice(0, REASON_CHARACTERS_MAX)}…`;
}

import { excuseOf } from './excused.ts';
import type { TestOutcome } from './parse-output.ts';

export interface Candidate {
  readonly name: string;
  readonly outcomes: readonly TestOutcome[];
}

const RESULTS = ['passed', 'failed', 'skipped'] as const;

/** The outcomes of all candidates side by side, in Markdown. */
export function conformanceReport(candidates: readonly Candidate[]): string {
  const names = [...new Set(candidates.flatMap(({ outcomes }) => outcomes.map(({ name }) => name)))].sort();
  const heads = candidates.map(({ name }) => name);
  const totals = RESULTS.map((result) => [
    result,
    ...candidates.map(({ outcomes }) => String(outcomes.filter((outcome) => outcome.result === result).length)),
  ]);
  const rows = names.map((name) => [name, ...candidates.map((candidate) => cell(candidate, name))]);
  const reasons = candidates.flatMap(({ name, outcomes }) => [
    `## Why: ${name}`,
    '',
    ...outcomes.filter(({ result }) => result !== 'passed').map(reasonLine),
    '',
  ]);
  return [
    '# iSCSI conformance',
    '',
    'The `ALL` family of `iscsi-test-cu` (libiscsi) with `--dataloss --allow-sanitize`, each target on the same machine.',
    'Written by `protocols/iscsi/conformance/main.ts`; do not edit.',
    '',
    ...table(['', ...heads], [...totals, ['all', ...candidates.map(({ outcomes }) => String(outcomes.length))]]),
    '',
    '## Every test',
    '',
    ...table(['Test', ...heads], rows),
    '',
    ...reasons,
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

function reasonLine(outcome: TestOutcome): string {
  const excuse = outcome.result === 'failed' ? excuseOf(outcome) : undefined;
  const reason = `\`${outcome.reason.replaceAll('`', "'")}\``;
  return `- ${outcome.name} ${outcome.result}: ${reason}${excuse === undefined ? '' : `. A fault of the test: it ${excuse}`}`;
}

function cell({ outcomes }: Candidate, name: string): string {
  const result = outcomes.find((outcome) => outcome.name === name)?.result;
  if (result === undefined) return '–';
  return result === 'failed' ? '**failed**' : result;
}

/** In columns of even width, as prettier writes them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)];
}

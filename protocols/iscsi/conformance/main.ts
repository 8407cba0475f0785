import { writeFileSync } from 'node:fs';
import { ensurePackages } from '../testing/packages.ts';
import { unexcusedFailures } from './excused.ts';
import { conformanceReport, type Candidate } from './report.ts';
import { runSuite } from './run-suite.ts';
import { startTheirs, startVolume, type RunningTarget } from './targets.ts';

/** Runs the whole conformance suite against ours and against tgtd, and writes `docs/iscsi-conformance.md`. */
const REPORT = new URL('../../../docs/iscsi-conformance.md', import.meta.url);

async function candidate(name: string, start: () => Promise<RunningTarget>): Promise<Candidate> {
  const target = await start();
  try {
    process.stdout.write(`${name}: `);
    const outcomes = await runSuite({ url: target.url, onSuite: (suite) => process.stdout.write(`${suite} `) });
    process.stdout.write('\n');
    return { name, outcomes };
  } finally {
    await target.stop();
  }
}

const missing = await ensurePackages(['libiscsi-bin', 'tgt']);
if (missing.length > 0) {
  process.stderr.write(`Install these first: apt-get install ${missing.join(' ')}\n`);
  process.exit(2);
}
const ours = await candidate('Granary', () => startVolume());
const theirs = await candidate('tgtd', startTheirs);
writeFileSync(REPORT, conformanceReport([ours, theirs]));
const failed = unexcusedFailures(ours.outcomes);
for (const { name, reason } of failed) process.stdout.write(`FAILED ${name}: ${reason}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

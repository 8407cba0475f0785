import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOutput } from './parse-output.ts';
import { conformanceReport } from './report.ts';

const OUTPUT = `
Suite: Inquiry
  Test: Standard ...passed
  Test: BlockLimits ...    [SKIPPED] Logical unit is fully provisioned. Skipping test
passed
  Test: UnmapVPD ...    [FAILED] WRITESAME10 command failed with status 2
passed
Suite: Reserve6
  Test: LUNReset ...passed    [FAILED] PRIN command: failed with sense.
    [FAILED] PRIN command: failed with sense.

  Test: 2Initiators ...    [FAILED] MODESENSE6 successful but should have failed
FAILED
    1. test_reserve6_2initiators.c:48  - CU_ASSERT_EQUAL(ret,0)
  Test: Hangs ...
`;

test('what the program prints is read as it is meant', () => {
  assert.deepEqual(parseOutput(OUTPUT), [
    { name: 'Inquiry.Standard', result: 'passed', reason: '' },
    {
      name: 'Inquiry.BlockLimits',
      result: 'skipped',
      reason: 'Logical unit is fully provisioned. Skipping test',
    },
    { name: 'Inquiry.UnmapVPD', result: 'passed', reason: '' },
    { name: 'Reserve6.LUNReset', result: 'passed', reason: '' },
    { name: 'Reserve6.2Initiators', result: 'failed', reason: 'MODESENSE6 successful but should have failed' },
  ]);
});

test('the report sets the targets side by side and adds them up', () => {
  const ours = [{ name: 'Inquiry.Standard', result: 'passed', reason: '' }] as const;
  const report = conformanceReport([
    { name: 'Granary', outcomes: ours },
    { name: 'tgtd', outcomes: parseOutput(OUTPUT) },
  ]);
  assert.match(report, /^\| passed +\| 1 +\| 3 +\|$/m);
  assert.match(report, /^\| Reserve6.2Initiators +\| – +\| \*\*failed\*\* +\|$/m);
  assert.match(report, /^- Reserve6.2Initiators failed: `MODESENSE6 successful/m);
});

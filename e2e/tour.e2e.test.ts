import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { masked, readTour, runTour } from '../tools/tour.ts';

const missing = ['bash', 'curl', 'unzip'].filter((tool) => {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`]);
    return false;
  } catch {
    return true;
  }
});

test(
  "the README's tour prints what the README says",
  { skip: missing.length > 0 ? `this machine lacks ${missing.join(', ')}` : false },
  async () => {
    const written = readTour();
    assert.ok(written.length >= 8, 'the README has a tour');
    const seen = await runTour(written);
    for (const [index, { command, output }] of written.entries()) {
      assert.equal(masked(seen[index]?.output ?? ''), masked(output), command);
    }
  },
);

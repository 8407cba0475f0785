import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { masked, readTour, runTour, touredPages } from '../tools/tour.ts';

const missing = ['bash', 'curl', 'unzip'].filter((tool) => {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`]);
    return false;
  } catch {
    return true;
  }
});

for (const page of touredPages) {
  test(
    `the tour in ${page} prints what ${page} says`,
    { skip: missing.length > 0 ? `this machine lacks ${missing.join(', ')}` : false },
    async () => {
      const written = readTour(page);
      assert.ok(written.length >= 8, `${page} has a tour`);
      const seen = await runTour(written);
      for (const [index, { command, output }] of written.entries()) {
        assert.equal(masked(seen[index]?.output ?? ''), masked(output), command);
      }
    },
  );
}

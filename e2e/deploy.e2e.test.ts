import assert from 'node:assert/strict';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { ended, skipWithoutProgram } from './programs.ts';

const UNITS = join(import.meta.dirname, '../deploy/systemd');
const skip = await skipWithoutProgram('systemd-analyze', 'systemd');

test('systemd finds nothing wrong with the units of deploy/', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const units = globSync('*.service', { cwd: UNITS });
  assert.ok(units.length >= 2);
  for (const unit of units) {
    const copy = join(folder, basename(unit));
    writeFileSync(copy, readFileSync(join(UNITS, unit)));
    chmodSync(copy, 0o644);
    const { code, stdout, stderr } = await ended('systemd-analyze', ['verify', '--man=no', copy], {
      cwd: folder,
      env: {},
    });
    const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(unit));
    assert.deepEqual(said, [], unit);
    assert.equal(code, 0, unit);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineProcess } from '../../../testing/line-process.ts';
import { seededRandom } from '../../../testing/random.ts';
import { until } from '../../../testing/waiting.ts';
import { checkEngine } from './check-engine.ts';
import { type EngineRig, engineRig } from './testing/rig.ts';

const KILLS = Number(process.env['GRANARY_TEST_KILLS'] ?? 4);

interface Step {
  readonly type: string;
  readonly volume: string;
  readonly pool: string;
  readonly letter: string;
  readonly snapshot: string;
  readonly group: string;
  readonly isDone: boolean;
}

interface Known {
  pools: string[];
  letters: string[];
  readonly snapshots: Map<string, string>;
  /** Being deleted, or being made. */
  mayBeGone: boolean;
}

/** What must be there after a kill, from what was said before it. */
class Expected {
  readonly volumes = new Map<string, Known>();
  last = -1;

  take(step: Step): void {
    const { volume, isDone } = step;
    const known = this.volumes.get(volume);
    if (step.type === 'volume') {
      this.last = Number(volume.slice(1));
      this.volumes.set(volume, { pools: [step.pool], letters: ['.'], snapshots: new Map(), mayBeGone: !isDone });
    }
    if (step.type === 'write' && known) known.letters = isDone ? [step.letter] : [...known.letters, step.letter];
    if (step.type === 'move' && known) known.pools = isDone ? [step.pool] : [...known.pools, step.pool];
    if (step.type === 'snapshot' && isDone) known?.snapshots.set(step.snapshot, known.letters[0] ?? '');
    if (step.type === 'no-volume' && known) known.mayBeGone = true;
    if (step.type === 'no-volume' && isDone) this.volumes.delete(volume);
  }

  async verify(rig: EngineRig): Promise<void> {
    const there = new Map((await rig.report()).volumes.map((volume) => [volume.id, volume]));
    for (const id of there.keys()) assert.ok(this.volumes.has(id), `${id} is back`);
    for (const [id, { mayBeGone, letters, pools, snapshots }] of this.volumes) {
      const volume = there.get(id);
      if (!volume && mayBeGone) {
        this.volumes.delete(id);
        continue;
      }
      assert.ok(volume && pools.includes(volume.pool), `${id} is in ${volume?.pool}, not in ${pools.join(' or ')}`);
      for (const letter of await rig.read(id, 0, 64)) assert.ok(letters.includes(letter), `${id}: ${letter}`);
      if (mayBeGone) continue;
      for (const [snapshot, letter] of snapshots) {
        assert.equal(await rig.readSnapshot(snapshot, 0, 64), letter.repeat(64), snapshot);
      }
    }
  }
}

test('whatever was answered survives kill -9, and what was under way is done or undone', async (t) => {
  const random = seededRandom(t);
  const rig = await engineRig(t, { count: 6, driveMb: 128 });
  await rig.pool('p', 0, 1);
  await rig.pool('q', 2, 3);
  const expected = new Expected();
  const writer = new URL('./testing/crash-writer.ts', import.meta.url);
  for (let kill = 0; kill < KILLS; kill++) {
    await rig.engine.close();
    const child = new LineProcess(writer, rig.folder, JSON.stringify(rig.drives), String(expected.last + 1));
    await until(() => child.lines.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 50 + random() * 500));
    await child.kill();
    for (const line of child.lines) expected.take(JSON.parse(line) as Step);
    const { findings } = await checkEngine(rig.folder, rig.drives);
    assert.deepEqual(
      findings.filter((finding) => !/half made|is recovering/.test(finding)),
      [],
    );
    await rig.start();
    await expected.verify(rig);
    // Whatever was being made beside is undone, or can be deleted.
    const { pools, groups } = await rig.report();
    for (const { id } of pools) if (id.startsWith('r')) await rig.engine.deletePool(id);
    for (const { id } of groups) if (id.startsWith('g') && !id.startsWith('group')) await rig.engine.deleteGroup(id);
  }
});

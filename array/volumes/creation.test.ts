import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultOptions } from '../shares/options.ts';
import { volumesAlone, wantedVolume } from './testing/volumes-alone.ts';

for (const [kind, share] of [
  ['block volume', {}],
  ['share', { share: { options: defaultOptions } }],
] as const) {
  test(`what is made along with a ${kind} is on record with it, or neither is`, async (t) => {
    const { engine, array } = await volumesAlone(t);
    const { volumes, store, events } = array;
    const wanted = wantedVolume('data', share);
    const refused = volumes.create(wanted, 'dana', (tx) => {
      events.record(tx, { title: 'A policy was attached.', subject: 'alongside' });
      throw new Error('no such policy');
    });
    await assert.rejects(refused, /no such policy/);
    const attached = () => store.read((db) => events.list(db, { subject: 'alongside', start: 0, limit: 0 })).count;
    assert.deepEqual([volumes.list({}, { start: 0, limit: 0 }).count, engine.volumes.size, attached()], [0, 0, 0]);
    const { name } = await volumes.create(wanted, 'dana', (tx, made) => {
      events.record(tx, { title: `A policy was attached to ${made}.`, subject: 'alongside' });
    });
    assert.equal(volumes.get(name).state, 'ready');
    assert.equal(attached(), 1);
  });
}

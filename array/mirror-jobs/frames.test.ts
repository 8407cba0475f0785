import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { newAgreement, PairKeys } from '../remote-arrays/pair-keys.ts';
import { frameLabel, FrameWriter, readFrame } from './frames.ts';

function pairOfKeys(): [PairKeys, PairKeys] {
  const [here, there] = [newAgreement(), newAgreement()];
  return [new PairKeys(here.agree(there.publicKey)!), new PairKeys(there.agree(here.publicKey)!)];
}

test('a frame carries data and zeros, and is compressed only where that pays', async () => {
  const writer = new FrameWriter();
  const noise = randomBytes(64 * 1024);
  const ranges = [
    { offset: 2 ** 40, length: noise.length, bytes: noise },
    { offset: 2 ** 41, length: 2 ** 42 },
  ];
  const frame = await writer.write(ranges);
  assert.ok(frame.length > noise.length && frame.length < noise.length + 100);
  assert.deepEqual(await readFrame(frame), ranges);
  const text = { offset: 0, length: 64 * 1024, bytes: Buffer.alloc(64 * 1024, 'abc') };
  const small = await new FrameWriter().write([text]);
  assert.ok(small.length < 1000);
  assert.deepEqual(await readFrame(small), [text]);
});

test('what is no frame is not read as one', async () => {
  const frame = await new FrameWriter().write([{ offset: 0, length: 4096, bytes: randomBytes(4096) }]);
  const spoilt = [Buffer.alloc(0), frame.subarray(0, 40), frame.subarray(0, -1), Buffer.concat([frame, frame])];
  for (const bytes of [...spoilt, Buffer.of(1, 2, 3), Buffer.of(7, ...frame)])
    assert.equal(await readFrame(Buffer.from(bytes)), undefined);
});

test('only the other side of an agreement opens what was sealed, and only as what it was sealed for', () => {
  const [here, there] = pairOfKeys();
  assert.equal(here.accessKey, there.accessKey);
  const label = frameLabel('srcjarray-00000001', 'snap-00000001', 0, 4096);
  const sealed = here.seal(Buffer.from('data'), label);
  assert.ok(!sealed.includes('data'));
  assert.equal(there.unseal(sealed, label)?.toString(), 'data');
  assert.equal(there.unseal(sealed, frameLabel('srcjarray-00000001', 'snap-00000001', 4096, 8192)), undefined);
  assert.equal(pairOfKeys()[0].unseal(sealed, label), undefined);
  sealed[30] = (sealed[30] ?? 0) ^ 1;
  assert.equal(there.unseal(sealed, label), undefined);
  assert.equal(there.unseal(Buffer.alloc(5), label), undefined);
  assert.equal(newAgreement().agree('not a key'), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Drive } from '@granary/storage';
import { SwitchableDrive } from './switchable-drive.ts';

/** A drive that never answers what it is asked to make durable. */
function hangingDrive(): Drive {
  const forever = () => new Promise<void>(() => undefined);
  return { id: 'd', sizeBytes: 4096, flush: forever, writeDurably: forever } as unknown as Drive;
}

test('who waits for a drive that hangs waits no longer once its cable is pulled', async () => {
  const drive = new SwitchableDrive('d', 4096);
  await drive.plug(hangingDrive());
  const asked = [drive.flush(), drive.writeDurably(0, Buffer.alloc(4096))];
  drive.unplug();
  for (const work of asked) await assert.rejects(work, { code: 'drive-failed' });
});

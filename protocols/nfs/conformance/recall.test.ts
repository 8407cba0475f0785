import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { FileError, type AttributeChanges, type Credentials, type FileId } from '../filesystem.ts';
import { ops, type Client40, type Client41, type Operation4, type StateId4 } from '../testing/client4.ts';
import { MemoryFilesystem } from '../testing/memory-filesystem.ts';
import { serve } from '../testing/serve.ts';
import { Status3 } from '../v3/status.ts';
import { Status4 } from '../v4/status.ts';

/** Its files can be away for a while, as those are that were archived. */
class ArchivingFilesystem extends MemoryFilesystem {
  isAway = false;

  #mustBeHere(): void {
    if (this.isAway) throw new FileError('EAGAIN', 'the file is being fetched back');
  }

  override read(as: Credentials, file: FileId, offset: number, into: Buffer): number {
    this.#mustBeHere();
    return super.read(as, file, offset, into);
  }

  override write(
    as: Credentials,
    file: FileId,
    offset: number,
    data: Buffer,
    durable: boolean,
  ): ReturnType<MemoryFilesystem['write']> {
    this.#mustBeHere();
    return super.write(as, file, offset, data, durable);
  }

  override setAttributes(
    as: Credentials,
    file: FileId,
    changes: AttributeChanges,
  ): ReturnType<MemoryFilesystem['setAttributes']> {
    if (changes.sizeBytes !== undefined) this.#mustBeHere();
    return super.setAttributes(as, file, changes);
  }
}

async function served(context: TestContext) {
  const filesystem = new ArchivingFilesystem();
  const all = await serve(context, { filesystem });
  const client = await all.client3();
  const { handle } = await client.create(client.root, 'f');
  await client.write(handle, 0, Buffer.from('contents'));
  return { ...all, filesystem, client, handle };
}

test('version 3 is asked to come again for a file that is being fetched back', async (context) => {
  const { filesystem, client, handle, events } = await served(context);
  const statuses = async () => [
    (await client.read(handle, 0, 8)).status,
    (await client.write(handle, 0, Buffer.from('C'))).status,
    (await client.setattr(handle, { size: 5 })).status,
    (await client.create(client.root, 'f', { size: 0 })).status,
  ];
  filesystem.isAway = true;
  assert.deepEqual(await statuses(), [Status3.jukebox, Status3.jukebox, Status3.jukebox, Status3.jukebox]);
  filesystem.isAway = false;
  assert.equal((await client.read(handle, 0, 8)).data.toString(), 'contents');
  assert.deepEqual(await statuses(), [0, 0, 0, 0]);
  assert.deepEqual(
    events.filter(({ type }) => type === 'internal-error'),
    [],
  );
});

interface Caller4 {
  readonly client: Client40 | Client41;
  readonly close: (handle: Buffer, state: StateId4) => Promise<{ status: number }>;
}

for (const version of ['4.0', '4.1'] as const) {
  test(`${version} is asked to come again for a file that is being fetched back, and is left with no open`, async (context) => {
    const { filesystem, handle, server, client40, client41 } = await served(context);
    const caller: Caller4 = version === '4.0' ? await old(client40) : await current(client41);
    const { client, close } = caller;
    const { state } = await client.open({ name: 'f', access: 3 });
    const status = async (operation: Operation4) => (await client.compound(ops.put(handle), operation)).status;
    const statuses = async () => [
      await status(ops.read(state, 0, 8)),
      await status(ops.write(state, 0, Buffer.from('C'))),
      await status(ops.setattr(state, { size: 5 })),
    ];
    filesystem.isAway = true;
    assert.deepEqual(await statuses(), [Status4.delay, Status4.delay, Status4.delay]);
    const cut = { name: 'f', access: 2, create: 'unchecked', set: { size: 0 } } as const;
    assert.equal((await client.open(cut)).status, Status4.delay);
    filesystem.isAway = false;
    // The open from before means what it meant.
    assert.deepEqual(await statuses(), [0, 0, 0]);
    assert.equal((await close(handle, state)).status, 0);

    filesystem.isAway = true;
    assert.equal((await client.open(cut)).status, Status4.delay);
    assert.equal(server.locks.size, 0, 'an open that failed holds nothing');
    filesystem.isAway = false;
    const again = await client.open(cut);
    assert.equal(again.status, 0);
    assert.equal((await close(handle, again.state)).status, 0);
  });
}

async function old(connect: (name: string) => Promise<Client40>): Promise<Caller4> {
  const client = await connect('old');
  const close = (handle: Buffer, state: StateId4) =>
    client.compound(ops.put(handle), ops.close(state, client.nextSequence('owner')));
  return { client, close };
}

async function current(connect: (name: string) => Promise<Client41>): Promise<Caller4> {
  const client = await connect('current');
  return { client, close: (handle, state) => client.compound(ops.put(handle), ops.close(state)) };
}

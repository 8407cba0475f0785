import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Access, type Credentials, type DirectoryPage, type FileId, type RefusedUse } from '../filesystem.ts';
import { DEFAULT_ACCESS, type ExportAccess } from './export.ts';
import { ops } from '../testing/client4.ts';
import { MemoryFilesystem } from '../testing/memory-filesystem.ts';
import { serve } from '../testing/serve.ts';

/** Writes down who asked for what. */
class RecordingFilesystem extends MemoryFilesystem {
  readonly #calls: string[] = [];

  calls(): string[] {
    return this.#calls.splice(0);
  }

  #tell(as: Credentials, what: string): void {
    this.#calls.push(`${as.uid}@${as.client} ${what}`);
  }

  override read(as: Credentials, file: FileId, offset: number, into: Buffer): number {
    this.#tell(as, `read ${into.length}`);
    return super.read(as, file, offset, into);
  }

  override readDirectory(as: Credentials, directory: FileId, after: bigint, count: number): DirectoryPage {
    this.#tell(as, 'list');
    return super.readDirectory(as, directory, after, count);
  }

  override hold(as: Credentials, file: FileId, access: number): void {
    this.#tell(as, `hold ${access}`);
    super.hold(as, file, access);
  }

  override release(as: Credentials, file: FileId): void {
    this.#tell(as, 'release');
    super.release(as, file);
  }

  refused(as: Credentials, _file: FileId, wanted: RefusedUse, code: string): void {
    this.#tell(as, `refused ${wanted} ${code}`);
  }
}

test('a filesystem gets the caller and address of reads, lists, opens and closes, and refusals of the server', async (context) => {
  const filesystem = new RecordingFilesystem();
  let access: ExportAccess | undefined = { ...DEFAULT_ACCESS, squash: 'none' };
  const { client3, client40, client41 } = await serve(context, { filesystem, export: { authorise: () => access } });
  const [owner, outsider] = [
    { uid: 7, gid: 7 },
    { uid: 8, gid: 8 },
  ] as const;
  const [mine, theirs] = [await client3(owner), await client3(outsider)];
  const { handle } = await mine.create(mine.root, 'f', { mode: 0o600 });
  await mine.write(handle, 0, Buffer.from('data'));

  await mine.read(handle, 0, 100);
  await mine.names(mine.root);
  await theirs.read(handle, 0, 100);
  await theirs.write(handle, 0, Buffer.from('no'));
  await theirs.setattr(handle, { size: 0 });
  assert.deepEqual(filesystem.calls(), [
    '7@127.0.0.1 read 4',
    '7@127.0.0.1 list',
    '8@127.0.0.1 refused read EACCES',
    '8@127.0.0.1 refused write EACCES',
    '8@127.0.0.1 refused write EACCES',
  ]);

  const old = await client40('old', owner);
  const { state } = await old.open({ name: 'f', access: 1 });
  await old.compound(ops.put(handle), ops.read(state, 0, 2));
  await old.compound(ops.put(handle), ops.close(state, old.nextSequence('owner')));
  const other = await client41('other', outsider);
  for (const wanted of [1, 2]) await other.open({ name: 'f', access: wanted });
  assert.deepEqual(filesystem.calls(), [
    `7@127.0.0.1 hold ${Access.read}`,
    '7@127.0.0.1 read 2',
    '7@127.0.0.1 release',
    '8@127.0.0.1 refused read EACCES',
    '8@127.0.0.1 refused write EACCES',
  ]);

  access = { ...access, readOnly: true };
  await mine.remove(mine.root, 'f');
  access = undefined;
  await mine.getattr(handle);
  assert.deepEqual(filesystem.calls(), ['7@127.0.0.1 refused write EROFS', '7@127.0.0.1 refused any EACCES']);
});

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import { systemError } from '../testing/system-error.ts';
import { FileDrive } from './file-drive.ts';

describe('a drive in a file on a full disk', () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'granary-full-'));
  });
  after(() => rm(folder, { recursive: true }));
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  function newDrive(): Promise<FileDrive> {
    return FileDrive.open({ id: 'drive-1', path: join(folder, 'drive'), sizeBytes: 1024 * 1024 });
  }

  for (const code of ['ENOSPC', 'EDQUOT'] as const) {
    it(`refuses writes with no-space on ${code}, reads on, and writes again with room`, async () => {
      const drive = await newDrive();
      mock.method(fs, 'writeSync', () => {
        throw systemError(code);
      });
      mock.method(fs, 'write', (...parameters: unknown[]) => {
        (parameters.at(-1) as (error: Error) => void)(systemError(code));
      });
      syncBuiltinESMExports();
      assert.throws(() => drive.write(0, Buffer.alloc(4096, 1)), {
        code: 'no-space',
        message: /make room on the disk/,
      });
      await assert.rejects(async () => drive.write(0, Buffer.alloc(65536, 1)), { code: 'no-space' });
      await assert.rejects(drive.writeDurably(0, Buffer.alloc(4096, 1)), { code: 'no-space' });
      await drive.read(0, Buffer.alloc(4096));
      await drive.flush();
      mock.restoreAll();
      syncBuiltinESMExports();
      await drive.write(0, Buffer.alloc(65536, 1));
      await drive.flush();
      await drive.close();
    });
  }

  it('has failed when a flush finds no room, because what was taken before is gone', async () => {
    const drive = await newDrive();
    mock.method(fs, 'fdatasync', (_file: number, done: (error: Error) => void) => done(systemError('ENOSPC')));
    syncBuiltinESMExports();
    await assert.rejects(drive.flush(), { code: 'drive-failed' });
    assert.throws(() => drive.write(0, Buffer.alloc(4096)), { code: 'drive-failed' });
    await drive.close();
  });

  it('leaves no file open when it cannot be opened for durable writes', async () => {
    const opened: FileHandle[] = [];
    const openBefore = fs.promises.open.bind(fs.promises);
    mock.method(fs.promises, 'open', async (path: string, flags: number, mode?: number) => {
      if ((flags & fs.constants.O_DSYNC) !== 0) throw Object.assign(new Error('EMFILE: too many'), { code: 'EMFILE' });
      const file = await openBefore(path, flags, mode);
      opened.push(file);
      return file;
    });
    syncBuiltinESMExports();
    await assert.rejects(newDrive(), { code: 'drive-failed' });
    assert.deepEqual(
      opened.map(({ fd }) => fd),
      [-1],
    );
  });
});
